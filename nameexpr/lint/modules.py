"""The modules of a checked program: the file itself, and those that its imports lead to.

An import is resolved to a file in the folder of the importing one, or below a folder above it: those of the
packages that the file is in, and the first one that is not a package. Installed packages are not searched.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Mapping
from functools import cached_property

from nameexpr.lint.bindings import Calls, NameScope
from nameexpr.lint.reader import Reader
from nameexpr.lint.scopes import read_scopes
from nameexpr.lint.source import Source, SourceError, parse_python
from nameexpr.lint.values import Definition, Imported, Passing, Value, Values

_DEEPEST = 16
"""The number of modules that may lead to each other."""
_LARGEST = 1 << 20
"""The largest size in bytes of an imported file that is read."""


class Modules:
    """The modules that were read, by path: shared by the files of one run.

    `unsaved` maps real paths to the sources that an editor shows in place of those in the files.
    """

    def __init__(self, unsaved: Mapping[str, str] | None = None) -> None:
        self._unsaved = unsaved or {}
        self._modules: dict[str, Module | None] = {}
        self._mentions: dict[str, bool] = {key: "nameexpr" in text for key, text in self._unsaved.items()}
        self.is_of_callee = False
        self.depth = 0  # of the values that are read for each other
        self.asked: set[tuple[str, str]] = set()

    def parsed(self, path: str, source: Source) -> Module:
        """Return the module of a source (SourceError if it cannot be parsed); it is kept for its imports."""
        key = os.path.realpath(path)
        known = self._modules.get(key)
        if known is None or known.source.text != source.text:
            known = self._modules[key] = Module(path, source, parse_python(source), self)
        known.path = path
        return known

    def read(self, path: str) -> Module | None:
        """Return the module of a file, None if it cannot be read or parsed."""
        key = os.path.realpath(path)
        if key not in self._modules:
            self._modules[key] = self._parsed(path)
        return self._modules[key]

    def mentions_us(self, path: str) -> bool:
        """Return whether the word nameexpr is in a file."""
        key = os.path.realpath(path)
        if key not in self._mentions:
            try:
                with open(path, "rb") as file:
                    self._mentions[key] = b"nameexpr" in file.read(_LARGEST)
            except OSError:
                self._mentions[key] = False
        return self._mentions[key]

    def _parsed(self, path: str) -> Module | None:
        try:
            text = self._unsaved.get(os.path.realpath(path))
            if text is None:
                if os.path.getsize(path) > _LARGEST:
                    return None
                with open(path, encoding="utf-8-sig") as file:
                    text = file.read()
            source = Source(text)
            return Module(path, source, parse_python(source), self)
        except (OSError, ValueError, SourceError):
            return None


class Module:
    """One source: its syntax tree, scopes and calls, and the values of its imports."""

    def __init__(self, path: str, source: Source, tree: ast.Module, modules: Modules | None = None) -> None:
        self.path, self.source, self.tree = path, source, tree
        self.modules = modules or Modules()
        self.reader = Reader(self)
        self.passing: dict[NameScope, list[Passing]] = {}
        self._files: dict[str, str | None] = {}
        self._key = os.path.realpath(path)

    @cached_property
    def scopes(self) -> Calls:
        """The calls of the module with their scopes, and its own scope."""
        return read_scopes(self.tree)

    def values(self, node: ast.expr | None, scope: NameScope | None) -> Values:
        """Return the possible values of an expression of the module, () if unknown."""
        return self.reader.values(node, scope)

    def called(self, node: ast.expr, scope: NameScope) -> Values:
        """Return the called function or object, from modules that mention nameexpr."""
        before, self.modules.is_of_callee = self.modules.is_of_callee, True
        try:
            return self.values(node, scope)
        finally:
            self.modules.is_of_callee = before

    def attribute(self, owner: Value, name: str) -> Iterable[Value]:
        """Return the possible values of an attribute of something."""
        return self.reader.attribute(owner, name)

    def attribute_of(self, of: Definition, name: str) -> Values:
        """Return the possible values of an attribute of a class of the module."""
        return self.reader.attribute_of(of, name)

    def returned(self, of: Definition) -> Values:
        """Return the possible results of a function of the module."""
        return self.reader.returned(of)

    @property
    def is_of_callee(self) -> bool:
        """Whether called functions are followed: only in modules that mention nameexpr."""
        return self.modules.is_of_callee

    def imported(self, path: str) -> Values:
        """Return the value of a dotted path: something in another module of the program, or a target."""
        file, names = self._resolved(path)
        if file is None or not names or (self.is_of_callee and not self.modules.mentions_us(file)):
            return (Imported(path),)
        module = self.modules.read(file)
        return module.member(names) if module is not None else (Imported(path),)

    def _resolved(self, path: str) -> tuple[str | None, list[str]]:
        """Return the file that a dotted path leads to, and the remaining names to look up in it."""
        dots = len(path) - len(path.lstrip("."))
        names = path[dots:].split(".")
        for count in range(len(names), -1 if dots else 0, -1):
            file = self._file("." * dots + ".".join(names[:count])) if path[:8] != "nameexpr" else None
            if file is not None:
                return file, names[count:]
        return None, names

    def member(self, names: list[str]) -> Values:
        """Return the value of a name of this module, or of an attribute of it."""
        asked = (self.path, names[0])
        if asked in self.modules.asked or len(self.modules.asked) > _DEEPEST:  # circular imports
            return ()
        self.modules.asked.add(asked)
        values = self._member(names[0])
        self.modules.asked.discard(asked)
        for name in names[1:]:
            values = tuple(one for value in values for one in self.reader.attribute(value, name))
        return values

    def _member(self, name: str) -> Values:
        scope = self.scopes.module
        bindings = scope.bindings.get(name, ())
        if not bindings:
            return self.starred(name)
        values = self.reader.bound(bindings[0], name, scope) if len(bindings) == 1 else ()
        return tuple(self.reader.unchanged(values, id(bindings)))

    def starred(self, name: str) -> Values:
        """Return the value of a name from a star import of another module of the program."""
        for star in sorted(self.scopes.module.stars):
            file = self._file(star)
            module = self.modules.read(file) if file else None
            if module is not None and module is not self and name in module.scopes.module.bindings:
                return module.member([name])
        return ()

    def _file(self, name: str) -> str | None:
        """Return the file of a module by its name in an import, with leading dots if it is relative."""
        if name not in self._files:
            found = self._found(name)
            self._files[name] = found if found is None or os.path.realpath(found) != self._key else None
        return self._files[name]

    def _found(self, name: str) -> str | None:
        dots = len(name) - len(name.lstrip("."))
        parts = [part for part in name.split(".") if part]
        folder = os.path.dirname(os.path.abspath(self.path))
        folders = (
            [os.path.normpath(os.path.join(folder, *[os.pardir] * (dots - 1)))] if dots else self._folders
        )
        for one in folders:
            base = os.path.join(one, *parts)
            for file in (f"{base}.py", os.path.join(base, "__init__.py")):
                if os.path.isfile(file):
                    return file
        return None

    @cached_property
    def _folders(self) -> list[str]:
        """The folders in which an absolute import is searched."""
        folders = [os.path.dirname(self.path)]
        while os.path.exists(os.path.join(folders[-1], "__init__.py")):
            folders.append(os.path.normpath(os.path.join(folders[-1], os.pardir)))
        return folders
