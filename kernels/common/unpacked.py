"""Twins that take a parameter pack, as functions that take each field of it that they use.

Numba is slow at arguments that are tuples of arrays, and does not compile the branches for an array that may be None if
it is in one. So the text of a twin is rewritten before it is compiled, each at its place in its file, which keeps the
lines of tracebacks and Numba's files on disk: with `a` the parameter of the pack, `a.queue` becomes `a_queue`,
`a.counters.ghosts` becomes `a_counters[1]`, `a.counters.hubs[k]` becomes `a_counters[2 + k]`. Where `a`, or a pack
made by names, is the last argument of another twin, the fields that this twin uses take its place.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache
from typing import Any

from graphdask.kernels.common.packs import Pack


def unpacked(function: Callable[..., Any]) -> tuple[Callable[..., Any], tuple[str, ...] | None]:
    """Return the function that takes fields in the place of its pack, and their names; a function without a pack as it
    is, and None."""
    code = function.__code__
    parameter = code.co_varnames[code.co_argcount - 1] if code.co_argcount else ""
    pack = function.__annotations__.get(parameter)
    pack = function.__globals__.get(pack) if isinstance(pack, str) else pack
    makes = any(_is_pack(function.__globals__.get(name)) for name in code.co_names)
    if not (_is_pack(pack) or makes):
        return function, None
    node = _definition(code.co_filename, code.co_firstlineno)
    if not _is_pack(pack):
        parameter, pack = "", Pack
    rewriting = _Rewriting(parameter, pack, function.__globals__)
    node.body = [rewriting.visit(each) for each in node.body]
    node.decorator_list = []
    if not parameter:
        return _compiled(node, function), None
    fields = tuple(name for name in pack.field_types if name in rewriting.used)
    names = [f"{parameter}_{name}" for name in fields]
    if taken := set(names) & {*code.co_varnames, *code.co_names}:
        raise SyntaxError(f"{function.__name__} uses the name {min(taken)}, which a field of {parameter} takes")
    last = node.args.args.pop()
    node.args.args += [ast.copy_location(ast.arg(name), last) for name in names]
    return _compiled(node, function), fields


def _is_pack(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Pack)


def _compiled(node: ast.FunctionDef, function: Callable[..., Any]) -> Callable[..., Any]:
    """A rewritten function, at the place of the one that it was."""
    scope: dict[str, Any] = {}
    module = ast.fix_missing_locations(ast.Module([node], []))
    exec(compile(module, function.__code__.co_filename, "exec"), function.__globals__, scope)
    made: Callable[..., Any] = scope[node.name]
    return made


@lru_cache(4)
def _definitions(text: str) -> dict[int, ast.FunctionDef]:
    nodes = [each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.FunctionDef)]
    return {min([node.lineno, *(each.lineno for each in node.decorator_list)]): node for node in nodes}


def _definition(path: str, line: int) -> ast.FunctionDef:
    linecache.checkcache(path)
    found = _definitions("".join(linecache.getlines(path))).get(line)
    if found is None:
        raise OSError(f"{path} has no function at line {line}; a kernel with a pack needs its text")
    return deepcopy(found)


class _Rewriting(ast.NodeTransformer):
    def __init__(self, parameter: str, pack: type[Pack], scope: dict[str, Any]):
        self.parameter, self.pack, self.scope = parameter, pack, scope
        self.used: set[str] = set()

    def _field(self, name: str, node: ast.AST) -> ast.Name:
        if name not in self.pack.field_types:
            raise AttributeError(f"{self.pack.__name__} has no field {name!r} (line {node.lineno})")  # type: ignore[attr-defined]
        self.used.add(name)
        return ast.copy_location(ast.Name(f"{self.parameter}_{name}", ast.Load()), node)

    def _is_pack(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == self.parameter

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if self._is_pack(node.value):
            if not isinstance(node.ctx, ast.Load):
                raise SyntaxError(f"a kernel assigns to the field {node.attr} of its pack (line {node.lineno})")
            return self._field(node.attr, node)
        place = self._place(node)
        if place is None:
            return self.generic_visit(node)
        if isinstance(place, slice):
            raise SyntaxError(f"the counter {node.attr} is several; say which one, by an index (line {node.lineno})")
        return self._counter(node.value, ast.Constant(place), node)

    def _place(self, node: ast.AST) -> int | slice | None:
        """The place of a counter such as `a.counters.ghosts`, or of several with one name."""
        inner = node.value if isinstance(node, ast.Attribute) else None
        if not (isinstance(inner, ast.Attribute) and self._is_pack(inner.value)):
            return None
        counters = self.pack.counter_fields.get(inner.attr)
        return None if counters is None else getattr(counters.place, node.attr)  # type: ignore[attr-defined, no-any-return]

    def _counter(self, field: Any, place: ast.expr, node: Any) -> ast.Subscript:
        """The element of the array of counters."""
        return ast.copy_location(ast.Subscript(self._field(field.attr, field), place, node.ctx), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        place = self._place(node.value)
        if not isinstance(place, slice):
            return self.generic_visit(node)
        index = ast.BinOp(ast.Constant(place.start), ast.Add(), self.visit(node.slice))
        return self._counter(node.value.value, index, node)  # type: ignore[attr-defined]

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if node.args and self._is_pack(node.args[-1]):
            called = self.scope.get(node.func.id) if isinstance(node.func, ast.Name) else None
            if getattr(called, "fields", None) is None:
                raise TypeError(f"line {node.lineno}: a pack can only be handed to another kernel with one")
            pack = node.args.pop()
            node.args += [self._field(name, pack) for name in called.fields]
        elif node.args and isinstance(made := node.args[-1], ast.Call) and isinstance(made.func, ast.Name):
            kind, called = self.scope.get(made.func.id), self.scope.get(getattr(node.func, "id", ""))
            if _is_pack(kind):
                node.args.pop()
                given = {each.arg: each.value for each in made.keywords}
                if unknown := given.keys() - kind.field_types.keys():
                    raise AttributeError(
                        f"{kind.__name__} has no field {min(map(str, unknown))!r} (line {node.lineno})"
                    )
                rest = made.args[0] if made.args else None
                if rest is not None and not (self._is_pack(rest) and kind is self.pack and len(made.args) == 1):
                    raise TypeError(f"line {node.lineno}: a pack is made by names, and of one of its own kind")
                none = ast.copy_location(ast.Constant(None), made)
                for name in called.fields:
                    left = none if rest is None or name in given else self._field(name, made)
                    node.args.append(given.get(name, left))
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if self._is_pack(node):
            raise TypeError(f"line {node.lineno}: a pack is used by its fields")
        return node
