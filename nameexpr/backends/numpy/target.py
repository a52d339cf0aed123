"""NumPy as a target of the compiler: measured figures (docs/performance.md)."""

from nameexpr.backends.numpy.costs import calls
from nameexpr.compiler.ir.target import OPTIONAL, Target

TARGET = Target(
    costs=calls,
    native=OPTIONAL - {"contraction"},
    loop_axes=52,  # letters that `numpy.einsum` accepts
    any_layout_cells=256,
    near_bytes=1 << 15,
    float_products=24**3,  # R21
    real_products=16**3,  # R23
    parts_products=32,
    tiny_product=8**3,
    many_products=32,
    outer_cells=1 << 12,
    scaled_bytes=1 << 19,
    scaled_runs=range(64, 4097),
    pairwise_cells=256,
    least_cells=32,
    summed_bytes=1 << 24,
    sliced_cells=16,
    block_cells=1 << 15,  # 256 kB of float64, a few fit into a second-level cache
    block_rows=4,
    run_cells=64,
    fused_cells=1 << 17,
    chain_length=4,
    huge_cells=1 << 21,
    huge_chain_length=2,
    apart_reads=4,
    copied_reads=16,
    tiled_bytes=1 << 20,
    tile_cells=1 << 14,  # below it the Python loop is noticeable
    cached_cells=1 << 16,
    held_cells=1 << 12,
    held_growth=2,
    held_work=16,
    held_bytes=1 << 28,
    copied_work=4,
    step_flops=20_000.0,
    placed_flops=4.0,
)
