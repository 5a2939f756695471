"""Programs in which a vertex keeps the least, or the greatest, of all messages that it ever got.

Shortest paths, labels of components and widest paths are such programs. A message that is no less than the field that
keeps the least changes nothing, so a kernel may drop it where it arrives.
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from graphdask.program._function_source import read

MESSAGE_FIRST = {("min", ast.Lt): True, ("min", ast.Gt): False, ("max", ast.Gt): True, ("max", ast.Lt): False}
"""By the combine and the operator of the comparison: whether the message is on its left, and the field on its right."""


class Kept(NamedTuple):
    """What `apply` was seen to keep."""

    field: str
    alone: bool
    """Whether no other field changes with it."""


def kept_field(apply: Any, combine: str) -> Kept | None:
    """The field of the state that is replaced by each message which is less than it (`max`: greater), by nothing else,
    and without which nothing changes; None if `apply` cannot be seen to do that.

    It is seen of `lambda v, m: m < v.x and {"x": m}`, of `{"x": m} if v.x > m else None`, and of an `if` that returns
    such a dict, which may have other fields too; and of `{"x": min(v.x, m)}`.
    """
    if not callable(apply) or combine not in ("min", "max"):
        return None
    source = read(apply, "apply(v, m)", 2)
    found, (v, m) = _test_and_value(source.tree), source.parameters
    if found is None:
        return _extreme(source.tree, combine, v, m)
    test, value = found
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(value, ast.Dict):
        return None
    message_first = MESSAGE_FIRST.get((combine, type(test.ops[0])))
    if message_first is None:
        return None
    message, field = (test.left, test.comparators[0])[:: 1 if message_first else -1]
    if not _is_name(message, m) or not isinstance(field, ast.Attribute) or not _is_name(field.value, v):
        return None
    keys = [key.value if isinstance(key, ast.Constant) else None for key in value.keys]
    if field.attr not in keys or not _is_name(value.values[keys.index(field.attr)], m):
        return None
    return Kept(field.attr, len(keys) == 1)


def _extreme(tree: ast.FunctionDef | ast.Lambda, combine: str, v: str, m: str) -> Kept | None:
    """The field of `{"x": min(v.x, m)}`."""
    value = returned(tree)
    if not isinstance(value, ast.Dict) or len(value.keys) != 1 or not calls(value.values[0], combine):
        return None
    key, call = value.keys[0], value.values[0]
    assert isinstance(call, ast.Call)
    field = [each for each in call.args if isinstance(each, ast.Attribute) and _is_name(each.value, v)]
    others = [each for each in call.args if _is_name(each, m)]
    alike = isinstance(key, ast.Constant) and len(field) == len(others) == 1 and key.value == field[0].attr
    return Kept(field[0].attr, True) if alike and len(call.args) == 2 else None


def calls(value: ast.expr, name: str) -> bool:
    """Whether an expression is a call of a function of this name."""
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == name


def returned(tree: ast.FunctionDef | ast.Lambda) -> ast.expr | None:
    """The expression that a function is, if it is one."""
    if isinstance(tree, ast.Lambda):
        return tree.body
    body = [each for each in tree.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    alone = body[0] if len(body) == 1 else None
    return alone.value if isinstance(alone, ast.Return) else None


def _test_and_value(tree: ast.FunctionDef | ast.Lambda) -> tuple[ast.expr, ast.expr] | None:
    """What a function tests, and what it returns if that is true, where it otherwise returns nothing."""
    if isinstance(tree, ast.FunctionDef):
        body = [each for each in tree.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
        if isinstance(body[0], ast.If) and not body[0].orelse and len(body[0].body) == 1:
            inner = body[0].body[0]
            rest = all(isinstance(each, ast.Return) and _is_nothing(each.value) for each in body[1:])
            return (body[0].test, inner.value) if rest and isinstance(inner, ast.Return) and inner.value else None
        if len(body) != 1 or not isinstance(body[0], ast.Return):
            return None
        value = body[0].value
    else:
        value = tree.body
    if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.And) and len(value.values) == 2:
        return value.values[0], value.values[1]
    if isinstance(value, ast.IfExp) and _is_nothing(value.orelse):
        return value.test, value.body
    return None


def _is_nothing(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and (value.value is None or value.value is False))


def _is_name(value: ast.expr, name: str) -> bool:
    return isinstance(value, ast.Name) and value.id == name
