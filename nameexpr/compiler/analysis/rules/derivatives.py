"""Formulas to write for the functions with which other libraries differentiate: of JAX, PyTorch, autograd and
TensorFlow.

>>> ": ".join(DERIVATIVES["hessian"])
'the derivative of a derivative: y = sum[c](x[c] ** 3); h[c d] = grad(grad(y, x[c]), x[d])'
"""

from __future__ import annotations

_LINEAR = "y[n] = sum[c](a[n c] * x[c] ** 2)"
_CUBIC = "y = sum[c](x[c] ** 3)"

DERIVATIVES = {
    name: row
    for names, row in {
        "derivative differentiate deriv diff_wrt ddx egrad elementwise_grad": (
            "the derivative of a value by an operand",
            f"{_CUBIC}; g[c] = grad(y, x[c])",
        ),
        "backward value_and_grad grad_and_value value_and_gradient": (
            "a derivative is a value, and outputs=('y', 'g') returns both",
            f"{_CUBIC}; g[c] = grad(y, x[c])",
        ),
        "jacobian jacfwd jacrev jac": (
            "a derivative has the dims of the value and of the operand",
            f"{_LINEAR}; j[n c] = grad(y, x[c])",
        ),
        "hessian hess": ("the derivative of a derivative", f"{_CUBIC}; h[c d] = grad(grad(y, x[c]), x[d])"),
        "vjp make_vjp vector_jacobian_product": (
            "the derivative of a product with a vector",
            f"{_LINEAR}; g[c] = grad(sum[n](u[n] * y), x[c])",
        ),
        "jvp make_jvp pushforward linearize": (
            "the product of a derivative with a vector",
            f"{_LINEAR}; t[n] = sum[c](grad(y, x[c]) * v[c])",
        ),
        "hvp hessian_vector_product": (
            "the derivative of a product of the gradient with a vector",
            f"{_CUBIC}; h[d] = grad(sum[c](grad(y, x[c]) * v[c]), x[d])",
        ),
        "laplacian laplace": (
            "the sum of a diagonal of second derivatives",
            f"{_CUBIC}; h[c d] = grad(grad(y, x[c]), x[d]); z = sum[c](h[c c])",
        ),
        "divergence": (
            "the sum of a diagonal of derivatives",
            "y[c] = x[c] ** 3; j[c d] = grad(y, x[d]); z = sum[c](j[c c])",
        ),
        "vmap pmap per_sample_grad": (
            "a derivative keeps the dims of the value, such as that of samples",
            "y[n] = sum[c](x[n c] * w[c]) ** 2; g[n c] = grad(y, w[c])",
        ),
        "custom_vjp custom_jvp custom_gradient": (
            "a value with the derivative of another one",
            "y = tanh(x); z = round(x); s = y + stop(z - y); g = grad(s, x)",
        ),
    }.items()
    for name in names.split()
}
"""Remarks with example formulas, by the names of functions."""
