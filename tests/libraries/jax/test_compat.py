"""`nameexpr.compat` on arrays of JAX."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from nameexpr.compat.opt_einsum import contract, contract_expression


def test_contractions_have_the_type_of_their_operands() -> None:
    rng = np.random.default_rng(7)
    operands = [rng.normal(size=shape) for shape in ((2, 3), (3, 4), (4, 5))]
    arrays = [jnp.asarray(one.astype("f4")) for one in operands]
    for _ in range(2):
        result = contract("ij,jk,kl", *arrays)
        assert type(result) is type(arrays[0])
        np.testing.assert_allclose(np.asarray(result), operands[0] @ operands[1] @ operands[2], rtol=1e-4)
    result = contract_expression("ij,j1->1", (2, 3), (1, 5))(arrays[0], jnp.ones((1, 5)))
    np.testing.assert_allclose(np.asarray(result), np.full(5, operands[0].sum()), rtol=1e-4)
    assert tuple(contract("ij->ji", arrays[0]).shape) == (3, 2)
