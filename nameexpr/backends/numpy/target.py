"""NumPy as a target of the compiler: costs and thresholds from the profile of a machine."""

from nameexpr.backends.numpy.costs import GENERIC, Profile
from nameexpr.backends.numpy.costs.calls import NumpyCosts
from nameexpr.compiler.ir.target import OPTIONAL, Target


def target_of(profile: Profile) -> Target:
    """Return the target for a machine."""
    return Target(
        costs=NumpyCosts(profile),
        native=OPTIONAL - {"contraction"},
        loop_axes=52,  # letters that `numpy.einsum` accepts
        any_layout_cells=256,
        near_bytes=profile.near_cache,
        float_products=24**3,  # R21
        real_products=16**3,  # R23
        parts_products=32,
        tiny_product=8**3,
        many_products=32,
        outer_cells=profile.outer_cells,
        scaled_bytes=profile.scaled_bytes,
        scaled_runs=range(profile.least_scaled_run, profile.most_scaled_run + 1),
        pairwise_cells=256,
        least_cells=32,
        summed_bytes=profile.last_cache // 2,
        sliced_cells=16,
        block_cells=profile.second_cache // 32,  # a few of float64 fit
        block_rows=4,
        run_cells=64,
        fused_cells=profile.second_cache // 8,
        chain_length=4,
        huge_cells=profile.last_cache // 16,
        huge_chain_length=2,
        apart_reads=4,
        copied_reads=16,
        tiled_bytes=profile.second_cache,
        tile_cells=1 << 14,  # below it the Python loop is noticeable
        cached_cells=profile.second_cache // 16,
        held_cells=1 << 12,
        held_growth=2,
        held_work=16,
        held_bytes=1 << 28,
        copied_work=4,
        step_flops=20_000.0,
        placed_flops=4.0,
    )


TARGET = target_of(GENERIC)
"""The target for a machine of which nothing is known."""
