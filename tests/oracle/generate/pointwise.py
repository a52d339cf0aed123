"""Random pointwise expressions of formulas over the leaves of a pool: valid, mostly of moderate numbers."""

from __future__ import annotations

from collections.abc import Sequence

from oracle.generate.pool import Node, Pool

COMPARISON, OR, AND, SUM, PRODUCT, UNARY, POWER, ATOM = 1, 2, 3, 4, 5, 6, 7, 9
KINDS = "biufc"
SAFE = "abs tanh sin cos atan sigmoid relu erf erfc softplus gelu silu asinh real".split()  # noqa: SIM905
STEPS = "sign floor ceil round trunc isnan isinf isfinite logical_not".split()  # noqa: SIM905
SMALL = "exp expm1 exp2 sinh cosh square".split()  # noqa: SIM905
GUARDED = {
    "sqrt": "abs({})", "log": "abs({}) + 1", "log1p": "abs({})", "log2": "abs({}) + .5",
    "log10": "abs({}) + 1",
    "reciprocal": "abs({}) + 1.5", "asin": "sin({})", "acos": "cos({})", "atanh": "tanh({}) / 2",
    "acosh": "abs({}) + 1", "tan": "sin({})",
}  # fmt: skip
COMPLEX = ["abs", "real", "imag", "conj", "square", "exp", "sin"]
PAIRED = "maximum minimum atan2 hypot logaddexp copysign maximum minimum".split()  # noqa: SIM905
LOGICAL = "logical_and logical_or logical_xor".split()  # noqa: SIM905


class Pointwise:
    """Draws what is computed cell by cell; `limit` is the magnitude that expressions should stay below."""

    def __init__(self, pool: Pool) -> None:
        self.pool, self.rng = pool, pool.rng
        self.limit = 50.0 if {"float16", "int8", "uint8"} & set(pool.dtypes) else 1000.0

    def expression(self, depth: int) -> Node:
        """Any expression of at most this depth."""
        raise NotImplementedError

    def leaf(self, wanted: Sequence[str] = ()) -> Node:
        """An operand, an earlier statement, a number, a size or an index."""
        pool, rng = self.pool, self.rng
        manner = rng.random()
        if wanted:
            return pool.new_operand(wanted)
        if manner < 0.15:
            return self.constant()
        if manner < 0.25:
            label = rng.choice(list(pool.sizes))
            pool.mentioned.add(label)
            return Node(f"index[{label}]", ATOM, {label}, (), "i", bound=float(pool.sizes[label]))
        if manner < 0.5 and pool.made and not pool.special:
            return pool.statement_again(rng.choice(pool.made))
        if pool.operands and (manner < 0.65 or len(pool.operands) > 4):
            return pool.again(rng.choice(pool.operands))
        return pool.new_operand(rng.sample(list(pool.sizes), 1) if pool.chance(0.5) else ())

    def constant(self) -> Node:
        """A number, a named constant, or a few of them put together."""
        rng, pool = self.rng, self.pool
        label = rng.choice(list(pool.sizes))
        text = rng.choice(
            ["0", "1", "2", "3", "0.5", "2.", ".1", "1e-1", "pi", "1.5", "-2", "2 ** -1", "sized"]
        )
        if text == "sized":
            pool.mentioned.add(label)
            text = rng.choice(["size[{}]", "1 / (size[{}] + 1)", "sqrt(size[{}])", "size [ {} ]"]).format(
                label
            )
        kind = "i" if text.lstrip("-").isdigit() or text.startswith("size") else "f"
        level = PRODUCT if "/" in text else UNARY if text[0] == "-" else POWER if "**" in text else ATOM
        return Node(text, level, set(), (), kind, weak=True, bound=5.0)

    def inside(self, node: Node, level: int) -> str:
        """The text of a part, in parentheses where it binds less than `level`, and sometimes anyway."""
        if node.level >= level and not self.pool.chance(0.04):
            return node.text
        return f"({self.gap()}{node.text})"

    def gap(self) -> str:
        """White space at the beginning of parentheses."""
        return self.rng.choice([""] * 20 + [" ", "\n    ", " # ) ]\n"])

    def join(self, parts: Sequence[Node], text: str, level: int, kind: str, bound: float) -> Node:
        """A node made of others."""
        units = set().union(*(part.units for part in parts))
        dots: tuple[int, ...] = ()
        for part in parts:
            dots = broadcast(dots, part.dots)
        return Node(text, level, units, dots, kind, all(part.weak for part in parts), bound)

    def binary(self, sign: str, level: int, left: Node, right: Node, kind: str, bound: float) -> Node:
        """Two nodes with an operator between them."""
        space = self.rng.choice([" ", " ", " ", ""])
        text = f"{self.inside(left, level)}{space}{sign}{space}{self.inside(right, level + 1)}"
        return self.join([left, right], text, level, kind, bound)

    def bounded(self, node: Node, limit: float) -> Node:
        """The node, or a function of it that is smaller."""
        if node.bound <= limit or node.kind == "b":
            return node
        if node.kind in "iu":
            return self.join([node], f"{self.inside(node, PRODUCT)} % 5", PRODUCT, node.kind, 5.0)
        if node.kind == "c":
            return self.call("sin", [self.call("abs", [node], "f")], "f", 1.0)
        return self.call(self.rng.choice(["tanh", "atan", "sin"]), [node], "f", 2.0)

    def call(self, name: str, args: Sequence[Node], kind: str, bound: float | None = None) -> Node:
        """A function of nodes."""
        comma = self.rng.choice([", ", ", ", ",", ",\n   "])
        text = f"{name}({self.gap()}{comma.join(arg.text for arg in args)})"
        return self.join(args, text, ATOM, kind, max(arg.bound for arg in args) if bound is None else bound)

    def arithmetic(self, depth: int) -> Node:
        """One of + - * / // % **, or a sign."""
        sign = self.rng.choice(["+", "+", "-", "-", "*", "*", "*", "/", "//", "%", "**", "u-"])
        left, kind = self.expression(depth - 1), ""
        if sign == "u-" or (sign == "-" and left.kind in "bu"):
            if left.kind in "bu":
                return self.binary("*", PRODUCT, left, Node("2", ATOM, weak=True), left.kind, left.bound * 2)
            return self.join([left], f"-{self.inside(left, UNARY)}", UNARY, left.kind, left.bound)
        if sign == "**":
            return self.power(left)
        right = self.expression(depth - 1)
        kind = wider(left.kind, right.kind)
        if sign in ("/", "//", "%"):
            if kind == "c" and sign != "/":
                sign = "*"
            else:
                return self.divided(sign, left, right, kind)
        if sign == "-" and kind in "bu":
            sign = "+"
        bound = left.bound * right.bound if sign == "*" else left.bound + right.bound
        return self.binary(sign, PRODUCT if sign == "*" else SUM, left, right, kind, bound)

    def divided(self, sign: str, left: Node, right: Node, kind: str) -> Node:
        """A quotient or remainder: the divisor is seldom zero."""
        if not (self.pool.special and self.pool.chance(0.5)):
            positive = self.call("abs", [right], "f" if right.kind == "c" else right.kind)
            right = self.binary(
                "+", SUM, positive, Node("1", ATOM, weak=True, kind="i"), positive.kind, right.bound
            )
        return self.binary(
            sign, PRODUCT, left, right, "f" if kind in "biu" and sign == "/" else kind, left.bound
        )

    def power(self, base: Node) -> Node:
        """A small power."""
        base = self.bounded(base, self.limit**0.5)
        if base.kind in "bfi" and self.pool.chance(0.3):
            positive = self.call("abs", [base], base.kind)
            exponent = self.rng.choice(["0.5", "1.5", "2.0"])
            return self.join(
                [positive], f"{self.inside(positive, POWER + 1)} ** {exponent}", POWER, "f", base.bound**2
            )
        text = f"{self.inside(base, POWER + 1)} ** {self.rng.choice(['2', '2', '2', '1', '3', '0'])}"
        if self.pool.chance(0.2):
            return self.call("pow", [base, Node("2", ATOM, weak=True, kind="i")], base.kind, base.bound**2)
        return self.join([base], text, POWER, base.kind, base.bound**3)

    def unary(self, depth: int) -> Node:
        """A function of one argument."""
        node = self.expression(depth - 1)
        if node.kind == "c":
            name = self.rng.choice(COMPLEX)
            node = self.bounded(node, 3.0) if name in ("exp", "sin") else node
            kind = "f" if name in ("abs", "real", "imag") or node.kind == "f" else "c"
            return self.call(
                name, [node], kind, {"square": node.bound**2, "exp": 20.0, "sin": 20.0}.get(name)
            )
        manner = self.rng.random()
        if manner < 0.04 and not self.pool.special:
            return Node(f"int(3 * sin({node.text}))", ATOM, node.units, node.dots, "i", bound=3.0)
        if manner < 0.2:
            kind = "b" if node.kind == "b" else node.kind
            name = self.rng.choice(STEPS)
            return self.call(name, [node], "b" if name.startswith(("is", "log")) else kind)
        if manner < 0.4:
            return self.call(self.rng.choice(SMALL), [self.bounded(node, 4.0)], "f", 60.0)
        if manner < 0.6:
            name = self.rng.choice(list(GUARDED))
            if self.pool.special and self.pool.chance(0.5):
                return self.call(name, [node], "f")
            kind = node.kind if name == "reciprocal" else "f"
            return self.join([node], f"{name}({GUARDED[name].format(node.text)})", ATOM, kind, node.bound + 2)
        name = self.rng.choice(SAFE)
        return self.call(name, [node], node.kind if name in ("abs", "real", "relu") else "f")

    def paired(self, depth: int) -> Node:
        """A function of two arguments."""
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        if "c" in (left.kind, right.kind):
            return self.binary("+", SUM, left, right, "c", left.bound + right.bound)
        if self.pool.chance(0.15):
            name, sign = self.rng.choice([("remainder", "%"), ("floor_divide", "//")])
            found = self.divided(sign, left, right, wider(left.kind, right.kind))
            inner = f"abs({right.text}) + 1"
            return Node(
                f"{name}({left.text}, {inner})", ATOM, found.units, found.dots, found.kind, bound=found.bound
            )
        if self.pool.chance(0.15):
            return self.call(self.rng.choice(LOGICAL), [left, right], "b", 1.0)
        name = self.rng.choice(PAIRED)
        bound = left.bound + right.bound
        kind = wider(left.kind, right.kind)
        return self.call(name, [left, right], kind if name.endswith("imum") else "f", bound)

    def truth(self, depth: int) -> Node:
        """A comparison, or truths put together."""
        manner = self.rng.random()
        if manner < 0.25 and depth > 1:
            sign, level = self.rng.choice([("&", AND), ("|", OR)])
            return self.binary(sign, level, self.truth(depth - 1), self.truth(depth - 1), "b", 1.0)
        if manner < 0.35 and depth > 1:
            node = self.truth(depth - 1)
            return self.join([node], f"~{self.inside(node, UNARY)}", UNARY, "b", 1.0)
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        signs = ["==", "!="] if "c" in (left.kind, right.kind) else ["<", "<=", ">", ">=", "==", "!="]
        sign = self.rng.choice(signs)
        text = f"{self.inside(left, OR)} {sign} {self.inside(right, OR)}"
        return self.join([left, right], text, COMPARISON, "b", 1.0)

    def where(self, depth: int) -> Node:
        """A choice by a condition."""
        condition = self.leaf() if self.pool.chance(0.1) else self.truth(depth - 1)
        parts = [condition, self.expression(depth - 1), self.expression(depth - 1)]
        return self.call("where", parts, wider(parts[1].kind, parts[2].kind))

    def clip(self, depth: int) -> Node:
        """A value between two others."""
        node = self.expression(depth - 1)
        if node.kind == "c":
            return node
        low, high = self.constant(), self.expression(0)
        high = self.call("abs", [high], "f") if high.kind == "c" else high
        kind = wider(wider(node.kind, low.kind), high.kind)
        return self.call("clip", [node, low, high], kind)


def wider(left: str, right: str) -> str:
    """The wider of two kinds of dtypes."""
    return max(left, right, key=KINDS.index)


def broadcast(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    """NumPy's broadcasting of shapes that are known to fit."""
    rank = max(len(left), len(right))
    padded = [(1,) * (rank - len(shape)) + shape for shape in (left, right)]
    return tuple(b if a == 1 else a for a, b in zip(*padded, strict=True))
