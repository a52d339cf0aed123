"""Random expressions of formulas: reductions and contractions, around and inside what is pointwise."""

from __future__ import annotations

import math

from oracle.generate.pointwise import ATOM, PRODUCT, SUM, UNARY, Pointwise, wider
from oracle.generate.pool import DOTS, Node

SUMMED = "sum sum sum mean prod var std norm logsumexp median".split()  # noqa: SIM905
PICKED = "max min argmax argmin any all count_nonzero".split()  # noqa: SIM905
KEPT = "softmax softmax log_softmax cumsum cumprod sort flip argsort cummax cummin".split()  # noqa: SIM905
FOR_COMPLEX = {*"sum mean norm var std any all count_nonzero cumsum flip".split()}  # noqa: SIM905
SINGLE = {"cumsum", "cumprod", "sort", "flip", "argsort", "cummax", "cummin"}


class Maker(Pointwise):
    """Draws expressions of all kinds."""

    def expression(self, depth: int) -> Node:
        """Any expression of at most this depth."""
        if depth <= 0:
            return self.leaf()
        makers = [
            (3, lambda: self.leaf()),
            (6, lambda: self.arithmetic(depth)),
            (5, lambda: self.unary(depth)),
            (3, lambda: self.paired(depth)),
            (2, lambda: self.truth(depth)),
            (2, lambda: self.where(depth)),
            (1, lambda: self.clip(depth)),
            (6, lambda: self.reduction(depth)),
            (6, lambda: self.contraction(depth)),
            (2, lambda: self.masked(depth)),
        ]
        make = self.rng.choices([maker for _, maker in makers], [weight for weight, _ in makers])[0]
        return self.bounded(make(), self.limit)

    def masked(self, depth: int) -> Node:
        """A softmax or logsumexp of what is masked by minus infinity."""
        condition = self.truth(depth - 1)
        node = self.with_unit(self.expression(depth - 1))
        node = self.call("abs", [node], "f") if node.kind == "c" else node
        masked = self.call("where", [condition, node, Node("-inf", UNARY, weak=True)], "f", node.bound)
        name = self.rng.choice(["softmax", "softmax", "logsumexp", "max"])
        if name == "softmax" or not self.full(masked):
            return self.along("softmax", masked)
        # what multiplies infinities depends on the order in which a sum of products is computed
        return self.call("maximum", [self.along(name, masked), Node("-9", UNARY, weak=True)], "f")

    def with_unit(self, node: Node) -> Node:
        """The node, or a product with an operand if it has no label and no pack."""
        if node.units:
            return node
        leaf = self.leaf(self.rng.sample(list(self.pool.sizes), 1))
        kind = wider(node.kind, leaf.kind)
        sign, level = ("*", PRODUCT) if not self.pool.special else ("+", SUM)
        return self.binary(sign, level, node, leaf, kind, node.bound * leaf.bound)

    def size_of(self, node: Node, unit: str) -> int:
        """How many elements a label or pack has in a node."""
        if unit == DOTS:
            return math.prod(node.dots)
        shape = self.pool.packs.get(unit)
        return self.pool.sizes[unit] if shape is None else math.prod(shape)

    def full(self, node: Node) -> bool:
        """Whether no dim of the node is empty."""
        return all(self.size_of(node, unit) for unit in node.units)

    def reduction(self, depth: int) -> Node:
        """A reduction of any expression, or one of the functions that keep the dim."""
        node = self.with_unit(self.expression(depth - 1))
        names = [*SUMMED, *KEPT, *(PICKED if self.full(node) else PICKED[-3:])]
        if node.kind == "c":
            names = [name for name in names if name in FOR_COMPLEX]
        if self.pool.special and any(mark in node.text for mark in ("*", "/", "square", "pow")):
            names = [name for name in names if name not in SUMMED and not name.startswith("cum")]
        labels = any(unit in self.pool.sizes for unit in node.units)
        return self.along(self.rng.choice([name for name in names if labels or name not in SINGLE]), node)

    def along(self, name: str, node: Node) -> Node:
        """A function along some of the dims of a node."""
        rng = self.rng
        units = sorted(node.units)
        count = 1 if name in SINGLE or self.pool.chance(0.6) else rng.randint(1, len(units))
        dims = rng.sample([unit for unit in units if name not in SINGLE or unit in self.pool.sizes], count)
        length = math.prod(self.size_of(node, unit) for unit in dims)
        if name in ("prod", "cumprod"):
            node = self.bounded(node, 1.5 if length > 4 else 3.0)
        words = [f"{unit}..." if unit in self.pool.packs and unit != DOTS else unit for unit in dims]
        self.pool.mentioned |= set(dims) & set(self.pool.sizes)
        text = f"{name}[{' '.join(words)}]({self.gap()}{node.text})"
        kind, bound = self.outcome(name, node, length)
        keeps = name in KEPT
        units_left = set(node.units) if keeps else node.units - set(dims)
        return Node(text, ATOM, units_left, node.dots if keeps or DOTS not in dims else (), kind, bound=bound)

    def outcome(self, name: str, node: Node, length: int) -> tuple[str, float]:
        """Kind and bound of a function along dims."""
        if name in ("any", "all"):
            return "b", 1.0
        if name in ("argmax", "argmin", "argsort", "count_nonzero"):
            return "i", float(length)
        if name in ("sum", "cumsum", "prod", "cumprod"):
            bound = node.bound ** min(length, 8) if "prod" in name else node.bound * length
            return "i" if node.kind == "b" else node.kind, max(bound, 1.0)
        if name in ("max", "min", "sort", "flip", "cummax", "cummin"):
            return node.kind, node.bound
        bound = node.bound**2 if name == "var" else node.bound * math.sqrt(length + 1)
        return "c" if node.kind == "c" and name == "mean" else "f", bound

    def contraction(self, depth: int) -> Node:
        """A sum over a product of factors, of which two at least share a label."""
        if self.pool.special:
            return self.reduction(depth)
        rng = self.rng
        label = rng.choice(list(self.pool.sizes))
        shares = [True] * rng.choice([1, 2, 2, 2])
        shares += [False] * max(0, rng.choice([2, 2, 2, 3, 4]) - len(shares))
        rng.shuffle(
            shares
        )  # before they are drawn: the first use in the text must be the first that is drawn
        factors = [self.factor(depth, label if share else None) for share in shares]
        node = factors[0]
        for factor in factors[1:]:
            if self.pool.chance(0.1):
                node = self.divided("/", node, factor, wider(node.kind, factor.kind))
            else:
                bound = node.bound * factor.bound
                node = self.binary("*", PRODUCT, node, factor, wider(node.kind, factor.kind), bound)
        if node.kind in "ifc" and self.pool.chance(0.15):
            node = self.join([node], f"-{self.inside(node, UNARY)}", UNARY, node.kind, node.bound)
        return self.along(rng.choice(["sum"] * 8 + ["mean", "max" if self.safe_max(node) else "sum"]), node)

    def factor(self, depth: int, label: str | None) -> Node:
        """A factor of a contraction."""
        if label is not None:
            return self.leaf([label])
        return self.expression(depth - 2) if self.pool.chance(0.5) else self.leaf()

    def safe_max(self, node: Node) -> bool:
        """Whether a maximum of the node is defined."""
        return self.full(node) and node.kind != "c"
