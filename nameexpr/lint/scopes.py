"""The bindings of every name of a file, scope by scope, and every call with its scope.

One walk over the syntax tree, without recursion: source that Python can parse may be nested deeper than
Python can recurse. The rules are Python's: a function sees the scopes around it except those of classes, a
comprehension has its own scope, `global` and `nonlocal` bind elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from nameexpr.lint.bindings import EACH, UNKNOWN, Binding, Calls, NameScope, class_of_self

Place = tuple[ast.AST, NameScope]
_METHODS = "append clear extend insert pop popitem remove reverse setdefault sort update"
_CHANGING = frozenset(_METHODS.split())
"""Methods that change a list, set or dict in place."""


def read_scopes(tree: ast.Module) -> Calls:
    """Collect every call in the order of the file, with its scope; all scopes are then complete.

    >>> ((call, scope),) = read_scopes(ast.parse("import nameexpr as ne; ne.einsum(text)")).calls
    >>> scope.find("ne")[0].path
    'nameexpr'
    """
    module = NameScope(node=tree)
    calls: list[tuple[ast.Call, NameScope]] = []
    subscripts: list[tuple[ast.Subscript, NameScope]] = []
    parents: dict[ast.AST, ast.AST] = {}
    stack: list[Place] = [(tree, module)]
    while stack:
        node, scope = stack.pop()
        if isinstance(node, ast.Call):
            calls.append((node, scope))
            scope.top.calls.append((node, scope))
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            subscripts.append((node, scope))
        elif isinstance(node, ast.AugAssign):
            parents[node.target] = node
        places = _inside(node, scope)[::-1]
        for child, _ in places:
            parents[child] = node
        stack += places
    return Calls(calls, module, parents, _changed_in(module), subscripts)


def _changed_in(module: NameScope) -> set[int | str]:
    changed: set[int | str] = {name for name in module.changed if name.startswith(".")}
    stack = [module]
    while stack:
        scope = stack.pop()
        changed |= {id(scope.find(name)) for name in scope.changed}
        stack += scope.inner.values()
    return changed


def _inside(node: ast.AST, scope: NameScope) -> list[Place]:
    """Return the nodes inside a node, each with its scope, after recording the bindings of the node."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            inner = _inner(scope, "function", node)
            outside = _parameters(node.args, scope, inner)
            if isinstance(node, ast.Lambda):
                return [*_each(outside, scope), (node.body, inner)]
            scope.bind(node.name, Binding(scope=inner, node=node))
            return _each([*outside, *node.decorator_list, node.returns], scope) + _each(node.body, inner)
        case ast.ClassDef(name=name):
            inner = _inner(scope, "class", node)
            scope.bind(name, Binding(scope=inner, node=node))
            around = _each([*node.decorator_list, *node.bases, *node.keywords], scope)
            return around + _each(node.body, inner)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            inner = _inner(scope, "comprehension", node)
            places: list[Place] = []
            for number, loop in enumerate(node.generators):
                around_loop = inner if number else scope
                binding = Binding("", loop.iter, around_loop, (EACH,), node)
                leaves = _bind_target(loop.target, binding, inner)
                places += [(loop.iter, around_loop), *_each([*leaves, *loop.ifs], inner)]
            values = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            return places + _each(values, inner)
        case _:
            _note(node, scope)
            targets, leaves = _assign(node, scope)
            rest = [child for child in ast.iter_child_nodes(node) if child not in targets]
            return _each([*leaves, *rest], scope)


def _parameters(given: ast.arguments, scope: NameScope, inner: NameScope) -> list[ast.expr | None]:
    """Bind the parameters of a function; return their defaults and annotations, which are read outside."""
    plain = [*given.posonlyargs, *given.args]
    defaults = dict(zip(reversed(plain), reversed(given.defaults), strict=False))
    defaults |= {one: value for one, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value}
    annotations = []
    for argument in (*plain, *given.kwonlyargs, given.vararg, given.kwarg):
        if argument is not None:
            bound = Binding("", defaults.get(argument), scope, (), argument)
            inner.bind(argument.arg, UNKNOWN if argument is given.kwarg else bound)
            annotations.append(argument.annotation)
    return [*given.defaults, *given.kw_defaults, *annotations]


def _each(nodes: Sequence[ast.AST | None], scope: NameScope) -> list[Place]:
    return [(node, scope) for node in nodes if node is not None]


def _inner(scope: NameScope, kind: str, node: ast.AST) -> NameScope:
    """Create a nested scope with the type parameters of the node."""
    inner = scope.inner[node] = NameScope(scope, kind, node)
    for parameter in getattr(node, "type_params", ()):
        inner.bind(parameter.name)
    return inner


def _assign(node: ast.AST, scope: NameScope) -> tuple[list[ast.expr], list[ast.expr]]:
    """Bind what a node assigns to; return the targets, and what is left of them to visit."""
    match node:
        case ast.Assign(targets=targets, value=value):
            binding = Binding("", value, scope, (), node)
            return targets, [left for one in targets for left in _bind_target(one, binding, scope)]
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            return [target], _bind_target(target, Binding("", value, scope, (), node), scope)
        case ast.AugAssign(target=ast.Name() as target, op=op, value=value):
            grown = ast.copy_location(ast.BinOp(target, op, value), node)
            return [target], _bind_target(target, Binding("", grown, scope, (), node), scope)
        case ast.AnnAssign(target=ast.Name(id=name) as target):
            scope.bind(name, Binding(node=node))
            return [target], []
        case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
            return [target], _bind_target(target, Binding("", value, scope, (EACH,), node), scope)
        case ast.NamedExpr(target=target, value=value):
            outside = scope
            while outside.kind == "comprehension" and outside.parent is not None:
                outside = outside.parent
            return [target], _bind_target(target, Binding("", value, scope, (), node), outside)
    return [], []


def _note(node: ast.AST, scope: NameScope) -> None:
    """Record the bindings of a node itself; return a target that is finished, and the rest of it to visit."""
    match node:
        case ast.Import() | ast.ImportFrom():
            _imports(node, scope)
        case ast.Return(value=ast.expr() as value):
            scope.returns.append(value)
        case ast.Yield() | ast.YieldFrom():
            scope.is_generator = True
        case ast.Subscript(value=owner, ctx=ast.Store() | ast.Del()):
            _change(owner, scope)
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _CHANGING:
            _change(owner, scope)
        case ast.Global(names=names):
            scope.elsewhere |= dict.fromkeys(names, scope.module)
        case ast.Nonlocal(names=names):
            scope.elsewhere |= {name: _owner(scope, name) for name in names}
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.MatchMapping(rest=str(name)):
            scope.bind(name, Binding(node=node))
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            scope.bind(name, Binding(node=node))


def _change(owner: ast.expr, scope: NameScope) -> None:
    """Record that a list or dict is changed; an attribute may be that of any object."""
    if isinstance(owner, ast.Attribute):
        scope.module.changed.add(f".{owner.attr}")
    elif isinstance(owner, ast.Name):
        scope.changed.add(owner.id)


def _bind_target(target: ast.expr, binding: Binding, scope: NameScope) -> list[ast.expr]:
    """Bind the names of a target to a value or its parts; return the rest of the target to visit."""
    match target:
        case ast.Name(id=name):
            scope.bind(name, binding)
            return []
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            owners = scope.find(owner) or ()
            if len(owners) == 1 and (of := class_of_self(owners[0], scope)):
                of.attributes.setdefault(name, []).append(binding)
        case ast.Tuple(elts=items) | ast.List(elts=items) if not any(
            isinstance(item, ast.Starred) for item in items
        ):
            parts = [binding._replace(steps=(*binding.steps, number)) for number in range(len(items))]
            return [
                left
                for item, part in zip(items, parts, strict=True)
                for left in _bind_target(item, part, scope)
            ]
    return [target]


def _imports(node: ast.Import | ast.ImportFrom, scope: NameScope) -> None:
    for alias in node.names:
        if isinstance(node, ast.Import):
            name, path = alias.asname or alias.name.partition(".")[0], alias.name
            scope.bind(name, Binding(path if alias.asname else name))
        elif alias.name == "*":
            scope.stars.add("." * node.level + (node.module or ""))
        else:
            path = f"{'.' * node.level}{node.module or ''}.{alias.name}"
            scope.bind(alias.asname or alias.name, Binding(path))


def _owner(scope: NameScope, name: str) -> NameScope:
    """Find the scope of the enclosing function that binds a name."""
    outer = scope.parent
    while outer is not None and (outer.kind != "function" or name not in outer.bindings):
        outer = outer.parent
    return outer or scope
