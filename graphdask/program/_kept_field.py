"""Programs in which a vertex keeps the least, or the greatest, of all messages that it ever got.

Shortest paths, labels of components and widest paths are such programs. A message that is no less than the field that
keeps the least changes nothing, so a kernel may drop it where it arrives.
"""

from __future__ import annotations

import ast
from typing import Any

from graphdask.program._function_source import read

MESSAGE_FIRST = {("min", ast.Lt): True, ("min", ast.Gt): False, ("max", ast.Gt): True, ("max", ast.Lt): False}
"""By the combine and the operator of the comparison: whether the message is on its left, and the field on its right."""


def kept_field(apply: Any, combine: str) -> str | None:
    """The field of the state that is replaced by each message which is less than it (`max`: greater), by nothing else,
    and without which nothing changes; None if `apply` cannot be seen to do that.

    It is seen of `lambda v, m: m < v.x and {"x": m}`, of `{"x": m} if v.x > m else None`, and of an `if` that returns
    such a dict, which may have other fields too.
    """
    if not callable(apply) or combine not in ("min", "max"):
        return None
    source = read(apply, "apply(v, m)", 2)
    found = _test_and_value(source.tree)
    if found is None:
        return None
    (test, value), (v, m) = found, source.parameters
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
    return field.attr


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
