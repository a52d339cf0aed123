"""Statements that read their own earlier rows: random recurrences of one statement, or of two."""

from __future__ import annotations

from oracle.generate.dims import Dim, Made, Node
from oracle.generate.forms import Form
from oracle.generate.joins import draw_value
from oracle.generate.pointwise import ATOM, wider
from oracle.generate.pool import Pool
from oracle.generate.trees import Maker


def draft_loop(pool: Pool, maker: Maker) -> str:
    """One recurrence, whose statements later ones may use."""
    rng = pool.rng
    labels = rng.sample(list(pool.sizes), min(len(pool.sizes), rng.choice([1, 2, 2, 3])))
    step, *row = labels
    pool.mentioned |= set(labels)
    start = rng.choice([1, 1, 1, 2])
    names = [pool.fresh_name()]
    pool.made.append(Made(names[0], Node("", ATOM), bare=False, shape=None))  # the name is taken
    if pool.chance(0.25):
        names.append(pool.fresh_name())
    pool.made.pop()
    terms = [rng.sample([step, *row], len(labels)) for _ in names]
    lines, kinds = [], []
    for at in range(len(names)):
        first = draw_value(pool, maker, ((),), row)
        now = own_read(pool, names[at], terms[at], step, rng.randrange(start))
        if at:
            earlier = own_read(pool, names[0], terms[0], step, rng.randrange(start + 1))
            now = Node(f"({now.text} + {earlier.text})", ATOM, set(labels), (), "f")
        other = draw_value(pool, maker, ((step,),), row)
        text, kind = put_together(pool, now, other)
        kinds.append(wider(wider(first.kind, kind), "i"))
        lines.append(f"{names[at]}{left(pool, terms[at], step, start)} = {first.text}, {text}")
    for name, term, kind in zip(names, terms, kinds, strict=True):
        shape = tuple(pool.sizes[label] + start * (label == step) for label in term)
        pool.made.append(Made(name, Node("", ATOM, set(), (), kind, bound=50.0), bare=False, shape=shape))
    return rng.choice(["\n", "; "]).join(lines)


def left(pool: Pool, term: list[str], step: str, start: int) -> str:
    """The left side of a statement."""
    form = Form(f"({start} + {step})", pool.sizes[step] + start, False, ())
    return pool.term([Dim((), form=form) if label == step else Dim((label,)) for label in term])


def own_read(pool: Pool, name: str, term: list[str], step: str, ahead: int) -> Node:
    """A use of an earlier row, now and then contracted with a matrix."""
    rng = pool.rng
    place = f"({step} + {ahead})" if ahead else rng.choice([step, f"({step})"])
    row = [label for label in term if label != step]
    words = {step: f"_@{place}"} | {label: label for label in row}
    if row and pool.chance(0.3):
        label = rng.choice(row)
        inner = f"e{len(pool.sizes)}"
        pool.sizes[inner] = pool.sizes[label]
        pool.known.add(inner)
        words[label] = inner
        matrix = pool.new_operand([inner, label])
        if not matrix.units <= {*term, inner} or matrix.dots:
            return own_read(pool, name, term, step, ahead)
        text = f"sum[{inner}]({name}[{' '.join(words[one] for one in term)}] * {matrix.text})"
        return Node(text, ATOM, set(term), (), wider("i", matrix.kind))
    if row and pool.chance(0.15):
        label = rng.choice(row)
        words[label] = f"_@(size[{label}]-1-{label})"
    return Node(f"{name}[{' '.join(words[one] for one in term)}]", ATOM, set(term), (), "i")


def put_together(pool: Pool, now: Node, other: Node) -> tuple[str, str]:
    """The step: the row before and a value of this step."""
    kind = wider(wider(now.kind, other.kind), "i")
    forms = ["{0} + {1}", "{0} * 2 + {1}", "maximum({0}, {1})", "where({1} == 0, {0}, {1})"]
    if other.kind == "c":
        forms = forms[:2]
    if kind == "f":
        forms += ["0.5 * {0} + {1}", "tanh({0}) + {1}", "{0} / 2 - {1}"]
    text = pool.rng.choice(forms).format(now.text, f"({other.text})")
    return text, kind
