"""What a user's function returns: one number, or a record of several results that may also be nothing.

A record is a dict of results, a tuple of all of them, or a bare number if there is one result. Its structure is
translated: the code of an expression returns the record if there is one, and otherwise control passes it. So
`test and {...}` becomes an `if`, and no value in the translated function is a dict.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Mapping
from contextlib import ExitStack

from graphdask.program._expressions import Expressions
from graphdask.program._fields import Field
from graphdask.program._typed_texts import WIDTH, Value, converted, either, number, numbers_of

_ZERO = {"bool": number(False), "int": number(0), "float": number(0.0)}


class Returns:
    """Writes the `return` statements of one function.

    Parameters
    ----------
    to : Expressions
        Translates the expressions, and holds the text.
    """

    numbers: frozenset[float] | None = None
    """What the function can return, where that is known."""
    nothing = False
    """Whether it may return nothing."""

    def __init__(self, to: Expressions):
        self.to, self.source = to, to.source

    def give(self, node: ast.Return) -> None:
        """Write a `return` of the user."""
        raise NotImplementedError

    def stop(self) -> None:
        """Write the return after a failure."""
        raise NotImplementedError

    def end(self) -> None:
        """Write the return at the end of the text, where the user's function has none."""
        raise NotImplementedError

    def narrow(self, node: ast.expr, kind: str, what: str) -> Value:
        """The value of an expression in the type that is wanted of it."""
        value = self.to.value(node)
        if WIDTH[value.type] > WIDTH[kind]:
            how = "compare it with something, or write bool(...)" if kind == "bool" else "write int(...)"
            self.source.fail(node, f"{what} {kind}, and this is {value.type}: {how}")
        return value


class ReturnedNumber(Returns):
    """The function returns one number.

    Parameters
    ----------
    to : Expressions
    kind : {"int", "float", "bool"}
    """

    def __init__(self, to: Expressions, kind: str):
        super().__init__(to)
        self.kind, self.numbers = kind, frozenset()

    def give(self, node: ast.Return) -> None:
        if node.value is None:
            self.source.fail(node, f"{self.source.name} returns nothing here: it must return {self.kind}")
        value = self.narrow(node.value, self.kind, f"{self.source.name} must return")
        self.numbers = either(self.numbers, numbers_of(value))
        value = converted(value, self.kind)
        self.to.write(f"return {value.python}", f"return {value.cuda};")

    def stop(self) -> None:
        zero = _ZERO[self.kind]
        self.to.write(f"return {zero.python}", f"return {zero.cuda};")

    def end(self) -> None:
        self.source.fail(self.source.tree, f"{self.source.name} does not return a value on every path")


class ReturnedRecord(Returns):
    """The function returns results by their names, or nothing.

    Parameters
    ----------
    to : Expressions
    results : mapping of str to {"int", "float", "bool"}
    defaults : mapping of str to Field
        Results that a dict may leave out, with the fields whose values they then have.
    optional : bool
        Whether the function may return nothing: None, False, or no value at all.
    """

    def __init__(self, to: Expressions, results: Mapping[str, str], defaults: Mapping[str, Field], optional: bool):
        super().__init__(to)
        self.results, self.defaults, self.optional = results, defaults, optional
        self.bare = len(results) == 1
        """Whether a bare number is a record."""
        self.false = self.bare and (not optional or "bool" in results.values())
        """Whether a literal False is a bare number."""

    @property
    def shape(self) -> str:
        names = ", ".join(self.results)
        shape = f"a dict or tuple of {names}" if len(self.results) > 1 else f"{names}, bare or in a dict"
        return f"{shape}, or None" if self.optional else shape

    def give(self, node: ast.Return) -> None:
        nothing = node if node.value is None else self._found(node.value, self.bare)
        if nothing is not None:
            self._nothing(nothing)

    def stop(self) -> None:
        zeros = ", ".join(_ZERO[kind].python for kind in self.results.values())
        self.to.write(f"return (False, {zeros})", "return false;")

    def end(self) -> None:
        if not self.optional:
            self.source.fail(self.source.tree, f"{self.source.name} does not return a value on every path")
        self.nothing = True
        self.stop()

    def _nothing(self, node: ast.AST) -> None:
        if not self.optional:
            self.source.fail(node, f"{self.source.name} returns nothing here: it must return {self.shape}")
        self.nothing = True
        self.stop()

    def _found(self, node: ast.expr, bare: bool) -> ast.AST | None:
        """Write code that returns the record of an expression, and that control passes where the expression is nothing.

        `bare` says whether a bare number is a record. Returns the expression that is nothing there; None if control
        never passes.
        """
        if isinstance(node, ast.Dict | ast.Tuple):
            self._write(self._of_dict(node) if isinstance(node, ast.Dict) else self._of_tuple(node))
            return None
        if self._is_nothing(node):
            return node
        if isinstance(node, ast.IfExp) and (not bare or self._is_record(node, True)):
            with self.to.under(self.to.truth(node.test)):
                one = self._found(node.body, bare)
            with self.to.otherwise():
                other = self._found(node.orelse, bare)
            return one or other
        if isinstance(node, ast.BoolOp) and (not bare or self._is_record(node, False)):
            return self._of_and(node, bare) if isinstance(node.op, ast.And) else self._of_or(node, bare)
        if not bare:
            self.source.fail(node, f"{self.source.name} must return {self.shape}, and this is not one")
        ((name, kind),) = self.results.items()
        value = self.narrow(node, kind, f"{self.source.name} must return")
        if self.defaults and value.type == "bool" != kind:  # a test without what it is a test for
            how = f'write `test and {{"{name}": ...}}`, or {kind}(...) for 0 and 1'
            self.source.fail(node, f"{self.source.name} returns a truth value here, and {name} is {kind}: {how}")
        self._write({name: converted(value, kind)})
        return None

    def _of_and(self, node: ast.BoolOp, bare: bool) -> ast.AST:
        with ExitStack() as nested:
            for part in node.values[:-1]:
                nested.enter_context(self.to.under(self.to.truth(part)))
            self._found(node.values[-1], bare)
        return node

    def _of_or(self, node: ast.BoolOp, bare: bool) -> ast.AST | None:
        for part in node.values[:-1]:
            if self._found(part, False) is None:
                return None  # what follows is never reached
        return self._found(node.values[-1], bare)

    def _is_nothing(self, node: ast.expr) -> bool:
        value = node.value if isinstance(node, ast.Constant) else ...
        return value is None or (value is False and not self.false)

    def _is_record(self, node: ast.expr, nothing: bool) -> bool:
        """Whether an expression has a dict or tuple where its value comes from; with `nothing`, or a None."""
        if isinstance(node, ast.IfExp):
            return self._is_record(node.body, nothing) or self._is_record(node.orelse, nothing)
        if isinstance(node, ast.BoolOp):
            return self._is_record(node.values[-1], False)
        return isinstance(node, ast.Dict | ast.Tuple) or (nothing and self._is_nothing(node))

    def _write(self, values: Mapping[str, Value]) -> None:
        self.to.write(
            f"return (True, {', '.join(values[name].python for name in self.results)})",
            *(f"*r_{name} = {values[name].cuda};" for name in self.results),
            "return true;",
        )

    def _value(self, node: ast.expr, name: str) -> Value:
        kind = self.results[name]
        return converted(self.narrow(node, kind, f"{name} must be"), kind)

    def _of_dict(self, node: ast.Dict) -> dict[str, Value]:
        values: dict[str, Value] = {}
        for key, part in zip(node.keys, node.values, strict=True):
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                self.source.fail(key or part, f"{self.source.name} must return a dict whose keys are names of results")
            if key.value not in self.results:
                near = difflib.get_close_matches(key.value, self.results, 1, 0.4)
                hint = f", did you mean {near[0]}?" if near else "."
                self.source.fail(key, f"there is no result {key.value}{hint} Results: {', '.join(self.results)}")
            if key.value in values:
                self.source.fail(key, f"{key.value} stands twice in this dict: leave one out")
            values[key.value] = self._value(part, key.value)
        if not values:
            self.source.fail(node, f"this dict is empty: it needs at least one of {', '.join(self.results)}")
        for name in self.results:
            if name not in values:
                if name not in self.defaults:
                    self.source.fail(node, f"this dict has no {name}: {self.source.name} must return {self.shape}")
                values[name] = converted(self.to.field(self.defaults[name]), self.results[name])
        return values

    def _of_tuple(self, node: ast.Tuple) -> dict[str, Value]:
        for part in node.elts:
            if isinstance(part, ast.Starred):
                self.source.refuse(part, "a tuple with *")
        if len(node.elts) != len(self.results):
            names = ", ".join(self.results)
            self.source.fail(node, f"this tuple has {len(node.elts)} values and must have {len(self.results)}: {names}")
        return {name: self._value(part, name) for name, part in zip(self.results, node.elts, strict=True)}
