"""NumPy as the compiler is told of it."""

from nameexpr.backends.numpy.costs import calls
from nameexpr.compiler.ir.target import Target

TARGET = Target(costs=calls)
