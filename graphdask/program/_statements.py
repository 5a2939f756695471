"""Statements of a user's function as text in two languages at once.

The type of a variable is the widest that is ever assigned to it, so the function is gone through until the types no
longer change. A statement returns whether control can pass it; a variable may be read where every path has set it.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from dataclasses import dataclass, field

from graphdask.program._expressions import Expressions
from graphdask.program._fields import Fields
from graphdask.program._function_source import FunctionSource, Place
from graphdask.program._returns import Returns
from graphdask.program._typed_texts import C_TYPE, Value, converted, local, number

LONGEST = 100_000
"""Characters of a translation."""


@dataclass
class Loop:
    """A loop around the statements that are being translated."""

    breaks: list[set[str]] = field(default_factory=list)
    """The variables that have a value at each `break`."""


@dataclass(frozen=True)
class Body:
    """A translated function, without its head."""

    python: tuple[str, ...]
    cuda: tuple[str, ...]
    used: frozenset[str]
    """Fields that are read."""
    sites: tuple[Place, ...]
    """Where the function can fail, by number."""
    numbers: frozenset[float] | None
    """What it can return, where that is known."""
    nothing: bool
    """Whether it may return nothing."""


class Statements:
    """Translates the statements of one function.

    Parameters
    ----------
    source : FunctionSource
    fields : Fields
        The fields there are.
    returns : callable
        Makes what writes the `return` statements.
    """

    def __init__(self, source: FunctionSource, fields: Fields, returns: Callable[[Expressions], Returns]):
        self.source, self.fields, self._returns = source, fields, returns

    def translate(self) -> Body:
        types: dict[str, str] = {}
        while True:
            self.to = Expressions(self.source, self.fields)
            self.to.variables = dict(types)
            self.to.locals = frozenset(_assigned(self.source))
            self.fields.aliases.clear()
            self.loops: list[Loop] = []
            self.ranges = 0
            self.returns = self._returns(self.to)
            self._function()
            if self.to.variables == types:
                break
            types = dict(self.to.variables)
        if sum(map(len, self.to.python)) > LONGEST:
            self.source.fail(self.source.tree, f"{self.source.name} is too long")
        first = ["    steps = 0"] if self._has_loops else []
        declared = [f"    {C_TYPE[kind]} {name};" for name, kind in types.items()]
        declared += ["    long long steps = 0;"] if self._has_loops else []
        python, cuda = (*first, *self.to.python), (*declared, *self.to.cuda)
        used, sites = frozenset(self.to.used), tuple(self.to.sites)
        return Body(python, cuda, used, sites, self.returns.numbers, self.returns.nothing)

    @property
    def _has_loops(self) -> bool:
        return any(isinstance(node, ast.For | ast.While) for node in ast.walk(self.source.tree))

    def _function(self) -> None:
        tree = self.source.tree
        if isinstance(tree, ast.Lambda):
            self._return(ast.Return(tree.body, lineno=tree.body.lineno))
            return
        body = tree.body
        if (
            isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
            and body[0].value.value is not None
        ):
            body = body[1:]  # the docstring
        if self._block(body):
            self.returns.end()

    def _block(self, statements: list[ast.stmt]) -> bool:
        for statement in statements:
            translate = getattr(self, f"_{type(statement).__name__.lower()}", None)
            if translate is None:
                self.source.refuse(statement, _NAMES.get(type(statement), type(statement).__name__))
            if not translate(statement):
                return False  # what follows is never reached
        return True

    def _target(self, node: ast.expr) -> str:
        if not isinstance(node, ast.Name):
            self.source.refuse(node, f"an assignment to {ast.unparse(node)}")
        if node.id in self.source.parameters:
            self.source.fail(node, f"{node.id} is a parameter and cannot be assigned to")
        return node.id

    def _pass(self, node: ast.Pass) -> bool:
        return True

    def _set(self, name: str, value: Value) -> Value:
        result = self.to.set(local(name), value)
        self.to.assigned.add(local(name))
        return result

    def _assign(self, node: ast.Assign) -> bool:
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Tuple):
            return self._assign_several(node, node.targets[0])
        if len(node.targets) == 1 and self._aliased(node.targets[0], node.value):
            return True
        names = [self._target(target) for target in node.targets]
        value = self.to.value(node.value)
        if len(names) > 1:  # the first may be part of the value
            value = self.to.set(self.to.temporary(), value)
        for name in names:
            self._set(name, value)
        return True

    def _assign_several(self, node: ast.Assign, targets: ast.Tuple) -> bool:
        """`a, b = x, y`: all of x and y are evaluated before a and b change."""
        values = node.value.elts if isinstance(node.value, ast.Tuple) else []
        if not values or any(isinstance(part, ast.Starred) for part in (*targets.elts, *values)):
            self.source.refuse(node, f"an assignment of {ast.unparse(node.value)} to several names")
        if len(values) != len(targets.elts):
            self.source.fail(node, f"{len(values)} values are assigned to {len(targets.elts)} names")
        pairs = zip(targets.elts, values, strict=True)
        kept = [
            (self._target(target), self.to.set(self.to.temporary(), self.to.value(value)))
            for target, value in pairs
            if not self._aliased(target, value)
        ]
        for name, value in kept:
            self._set(name, value)
        return True

    def _aliased(self, target: ast.expr, value: ast.expr) -> bool:
        """Whether a name is assigned what has fields, such as `e.source`, for which it then stands."""
        texts = self.fields.record(value)
        if texts is None:
            return False
        name = self._target(target)
        assigned = [each for each in ast.walk(self.source.tree) if isinstance(each, ast.Name) and each.id == name]
        if self.to.depth > 1 or sum(isinstance(each.ctx, ast.Store) for each in assigned) > 1:
            self.source.fail(
                value, f"{name} = {texts[-1]} names what has fields: assign it once, outside of if, for and while"
            )
        self.fields.aliases[name] = texts
        return True

    def _annassign(self, node: ast.AnnAssign) -> bool:
        name = self._target(node.target)
        if node.value is not None:
            self._set(name, self.to.value(node.value))
        return True

    def _augassign(self, node: ast.AugAssign) -> bool:
        name = self._target(node.target)
        left = self.to.value(ast.copy_location(ast.Name(name), node))
        self._set(name, self.to.arithmetic(node, node.op, left, self.to.value(node.value)))
        return True

    def _return(self, node: ast.Return) -> bool:
        self.returns.give(node)
        return False

    def _if(self, node: ast.If) -> bool:
        test = self.to.truth(node.test)
        before = set(self.to.assigned)
        with self.to.under(test):
            passes = self._block(node.body)
        after, self.to.assigned = self.to.assigned, before
        other = True
        if node.orelse:
            with self.to.otherwise():
                other = self._block(node.orelse)
        if passes and other:
            self.to.assigned = self.to.assigned & after
        elif passes:
            self.to.assigned = after
        return passes or other

    def _while(self, node: ast.While) -> bool:
        if node.orelse:
            self.source.refuse(node.orelse[0], "else of a loop")
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        self.to.write("while True:", "while (true) {")
        return self._looped(node, None if endless else node.test)

    def _for(self, node: ast.For) -> bool:
        name = self._target(node.target)
        call = node.iter
        if not (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id not in self.to.locals
            and self.to.outer(call.func) is builtins.range
            and not call.keywords
            and not any(isinstance(argument, ast.Starred) for argument in call.args)
        ):
            self.source.refuse(node, "a loop over anything but range(...)")
        if node.orelse:
            self.source.refuse(node.orelse[0], "else of a loop")
        if not 1 <= len(call.args) <= 3:
            self.source.fail(node, f"range takes 1 to 3 integers, not {len(call.args)}")
        values = [self.to.value(argument) for argument in call.args]
        for argument, value in zip(call.args, values, strict=True):
            if value.type == "float":
                self.source.fail(argument, f"range takes integers, and {ast.unparse(argument)} is a float")
        values = [converted(value, "int") for value in values]
        if len(values) == 1:
            values = [number(0), *values]
        if len(values) == 2:
            values.append(number(1))
        self.ranges += 1
        k = f"r{self.ranges}"
        start, stop, step = (self._named(f"{k}_{part}", values[i]) for i, part in enumerate(("start", "stop", "step")))
        length = self._named(f"{k}_length", self.to.call(node, "range_length", "int", start, stop, step))
        self.to.write(f"for {k} in range({length.python}):", f"for (long long {k} = 0; {k} < {length.cuda}; {k}++) {{")
        item = self.to.call(node, "range_item", "int", start, step, Value("int", k, k))
        return self._looped(node, None, name, item)

    def _named(self, name: str, value: Value) -> Value:
        """A value that is evaluated once, before a loop."""
        self.to.write(f"{name} = {value.python}", f"const long long {name} = {value.cuda};")
        return Value("int", name, name, simple=True)

    def _looped(
        self, node: ast.For | ast.While, test: ast.expr | None, name: str = "", item: Value | None = None
    ) -> bool:
        """What stands in a loop whose head has been written: the bound on its steps, the test of `while` or the
        assignment of `for`, and the body."""
        self.loops.append(Loop())
        before = set(self.to.assigned)
        with self.to.indented():
            self.to.write("steps += 1", "steps += 1;")
            with self.to.under(Value("bool", "steps > MOST_STEPS", "steps > GD_MOST_STEPS")):
                site = self.to.site(node)
                self.to.write(f"failed(failure, np.int64({site}), NO_END)", f"gd_failed(failure, {site}, GD_NO_END);")
                self.returns.stop()
            if test is not None:
                true = self.to.truth(test)
                with self.to.under(Value("bool", f"not {true.python}", f"!{true.cuda}")):
                    self.to.write("break", "break;")
            if item is not None:
                self._set(name, item)
            self._block(node.body)
        exits = self.loops.pop().breaks
        if test is not None or item is not None:
            exits = [*exits, before]
        self.to.assigned = set.intersection(*exits) if exits else before
        return bool(exits)

    def _break(self, node: ast.Break) -> bool:
        self.loops[-1].breaks.append(set(self.to.assigned))
        self.to.write("break", "break;")
        return False

    def _continue(self, node: ast.Continue) -> bool:
        self.to.write("continue", "continue;")
        return False


def _assigned(source: FunctionSource) -> set[str]:
    """The local variables of a function."""
    names = {
        node.id for node in ast.walk(source.tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return names - set(source.parameters)


_NAMES = {
    ast.Expr: "an expression whose value is not used",
    ast.FunctionDef: "a function inside the function",
    ast.ClassDef: "a class",
    ast.Import: "import",
    ast.ImportFrom: "import",
    ast.Assert: "assert",
    ast.Raise: "raise",
    ast.Try: "try",
    ast.With: "with",
    ast.Global: "global",
    ast.Nonlocal: "nonlocal",
    ast.Delete: "del",
    ast.Match: "match",
}
