"""Expressions of a user's function as text in two languages at once, with their type.

Most operations are calls of kernels/functions/user.py and, with the prefix gd_, of kernels/functions/user.cuh; those
that can fail take the array for failures and the number of their site, from which the line is found again. What can
fail, and what is evaluated under a condition, is written as statements that set a temporary variable, in the order in
which Python evaluates: so the first failure is the same everywhere (the order of arguments is open in C++), and Numba,
which does not manage every conditional expression inside of another, gets none.
"""

from __future__ import annotations

import ast
import builtins
import math
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from graphdask.program._fields import Field, Fields
from graphdask.program._function_source import FunctionSource, Place
from graphdask.program._typed_texts import Value, converted, either, local, negated, number, numbers_of, truth_of, wider

OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**"}
OTHER_OPERATORS = {
    ast.MatMult: "@", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip
INT_CALLS = {
    "+": "int_add",
    "-": "int_subtract",
    "*": "int_multiply",
    "//": "int_quotient",
    "%": "int_remainder",
    "**": "int_power",
}
FLOAT_CALLS = {
    "+": "add",
    "-": "subtract",
    "*": "multiply",
    "/": "divide",
    "//": "quotient",
    "%": "remainder",
    "**": "power",
}
WITHOUT_FAILURE = ("add", "subtract", "multiply", "smaller", "larger", "range_item")
DEEPEST = 80
"""Levels of indentation; Python reads 100."""
COMPARISONS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


class Expressions:
    """Translates expressions; what statements know of variables is handed in.

    Parameters
    ----------
    source : FunctionSource
    fields : Fields
        The fields there are.
    """

    def __init__(self, source: FunctionSource, fields: Fields):
        self.source, self.fields = source, fields
        self.used: set[str] = set()
        self.sites: list[Place] = []
        self.variables: dict[str, str] = {}
        """The type of every local and temporary variable that has been assigned so far, by its name in the texts."""
        self.assigned: set[str] = set()
        """Local variables that have a value here on every path."""
        self.locals: frozenset[str] = frozenset()
        self.python: list[str] = []
        self.cuda: list[str] = []
        self.depth = 1
        self._temporaries = 0
        function = source.function
        self._closure = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))

    def site(self, node: ast.AST) -> int:
        self.sites.append(self.source.place(node))
        return len(self.sites) - 1

    def write(self, python: str, *cuda: str) -> None:
        """Add a statement, which may be several in CUDA C++."""
        if self.depth > DEEPEST:
            self.source.fail(self.source.tree, f"{self.source.name} is nested too deeply")
        self.python.append("    " * self.depth + python)
        self.cuda += ["    " * self.depth + statement for statement in cuda]

    @contextmanager
    def indented(self) -> Iterator[None]:
        """What is written inside belongs to the `if` or loop that has been opened, and closes it."""
        self.depth += 1
        before = len(self.python)
        yield
        if len(self.python) == before:
            self.write("pass", ";")
        self.depth -= 1
        self.cuda.append("    " * self.depth + "}")

    def under(self, test: Value) -> AbstractContextManager[None]:
        """What is written inside is done where a test is true."""
        self.write(f"if {test.python}:", f"if ({test.cuda}) {{")
        return self.indented()

    def otherwise(self) -> AbstractContextManager[None]:
        self.write("else:", "else {")
        return self.indented()

    def set(self, name: str, value: Value) -> Value:
        """Assign to a variable, which becomes wide enough; returns what it is now."""
        kind = wider(value.type, self.variables.get(name, "bool"))
        self.variables[name] = kind
        value = converted(value, kind)
        self.write(f"{name} = {value.python}", f"{name} = {value.cuda};")
        return Value(kind, name, name, simple=True)

    def temporary(self) -> str:
        self._temporaries += 1
        return f"t_{self._temporaries}"

    def call(self, node: ast.AST, name: str, kind: str, *arguments: Value) -> Value:
        """A call of a function of kernels/user."""
        fails = name not in WITHOUT_FAILURE
        site = self.site(node) if fails else 0
        python, cuda = (", ".join(texts) for texts in zip(*((a.python, a.cuda) for a in arguments), strict=True))
        if fails:
            python, cuda = f"{python}, failure, np.int64({site})", f"{cuda}, failure, {site}"
        value = Value(kind, f"{name}({python})", f"gd_{name}({cuda})")
        return self.set(self.temporary(), value) if fails else value

    def value(self, node: ast.expr) -> Value:
        """The value of an expression."""
        translate = getattr(self, f"_{type(node).__name__.lower()}", None)
        if translate is None:
            self.source.refuse(node, _name_of(node))
        return translate(node)

    def truth(self, node: ast.expr) -> Value:
        """Whether an expression counts as true."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self._unaryop(node)
        if isinstance(node, ast.BoolOp):
            return self._chosen(node, self.truth)
        return truth_of(self.value(node))

    def field(self, field: Field) -> Value:
        """The value of a field, which is read from here on."""
        self.used.add(field.name)
        return Value(field.type, f"f_{field.name}", f"f_{field.name}", simple=True)

    def constant(self, node: ast.AST, value: Any, name: str) -> Value:
        if isinstance(value, np.bool_ | np.integer | np.float64):
            value = value.item()
        if type(value) not in (bool, int, float):
            self.source.refuse(node, f"{name}, a {type(value).__name__},")
        if type(value) is int and not -(1 << 63) <= value < 1 << 63:
            self.source.fail(node, f"{name} = {value} does not fit 64 bits")
        if value != value:
            self.source.fail(node, f"{name} is not a number (NaN)")
        return number(value)

    def outer(self, node: ast.expr) -> Any:
        """The object that a name, or an attribute of a module, stands for outside of the function."""
        if isinstance(node, ast.Attribute):
            root: ast.expr = node.value
            while isinstance(root, ast.Attribute):
                root = root.value
            outside = isinstance(root, ast.Name) and root.id not in {*self.locals, *self.source.parameters}
            module = self.outer(node.value) if outside else None
            if not isinstance(module, types.ModuleType):
                self.source.refuse(node, f"the attribute {node.attr}")
            if not hasattr(module, node.attr):
                self.source.fail(node, f"module {module.__name__} has no {node.attr}")
            return getattr(module, node.attr)
        if not isinstance(node, ast.Name):
            self.source.refuse(node, _name_of(node))
        if node.id in self._closure:
            try:
                return self._closure[node.id].cell_contents
            except ValueError:
                self.source.fail(node, f"{node.id} has no value yet where the function is translated")
        scope = self.source.function.__globals__
        if node.id in scope:
            return scope[node.id]
        if hasattr(builtins, node.id):
            return getattr(builtins, node.id)
        self.source.fail(node, f"{node.id} is not defined where the function is translated")

    def _constant(self, node: ast.Constant) -> Value:
        return self.constant(node, node.value, repr(node.value))

    def _name(self, node: ast.Name) -> Value:
        field = self.fields.find(node)
        if field is not None:
            return self.field(field)
        if node.id not in self.locals:
            return self.constant(node, self.outer(node), node.id)
        name = local(node.id)
        if name not in self.assigned:
            self.source.fail(node, f"{node.id} has no value on some path to this line: set it before")
        return Value(self.variables[name], name, name, simple=True)

    def _attribute(self, node: ast.Attribute) -> Value:
        field = self.fields.find(node)
        if field is None:
            return self.constant(node, self.outer(node), ast.unparse(node))
        return self.field(field)

    def _subscript(self, node: ast.Subscript) -> Value:
        field = self.fields.find(node)
        if field is None:
            self.source.refuse(node, "indexing")
        return self.field(field)

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return negated(self.truth(node.operand))
        if isinstance(node.op, ast.Invert):
            self.source.refuse(node, "the operator ~")
        negative = isinstance(node.op, ast.USub)
        literal = node.operand.value if isinstance(node.operand, ast.Constant) else None
        if negative and isinstance(literal, int | float) and not isinstance(literal, bool):
            return self.constant(node, -literal, ast.unparse(node))
        value = self.value(node.operand)
        value = converted(value, wider(value.type, "int"))
        if not negative:
            return value
        if value.constant is not None and value.constant != -(1 << 63):
            return number(-value.constant)
        if value.type == "float":
            return Value("float", f"(-{value.python})", f"(-{value.cuda})")
        return self.call(node, "int_subtract", "int", number(0), value)

    def _binop(self, node: ast.BinOp) -> Value:
        return self.arithmetic(node, node.op, self.value(node.left), self.value(node.right))

    def arithmetic(self, node: ast.AST, operator: ast.operator, left: Value, right: Value) -> Value:
        sign = OPERATORS.get(type(operator))
        if sign is None:
            self.source.refuse(node, f"the operator {OTHER_OPERATORS[type(operator)]}")
        kind = wider(left.type, right.type, "int")
        if sign == "/" or (sign == "**" and right.constant is not None and right.constant < 0):
            kind = "float"
        calls = FLOAT_CALLS if kind == "float" else INT_CALLS
        return self.call(node, calls[sign], kind, converted(left, kind), converted(right, kind))

    def _boolop(self, node: ast.BoolOp) -> Value:
        return self._chosen(node, self.value)

    def _chosen(self, node: ast.BoolOp, evaluate: Callable[[ast.expr], Value]) -> Value:
        """The operand at which `and` or `or` ends."""
        name = self.temporary()
        result = self.set(name, evaluate(node.values[0]))
        for part in node.values[1:]:
            true = truth_of(result)
            with self.under(true if isinstance(node.op, ast.And) else negated(true)):
                result = self.set(name, evaluate(part))
        return result

    def _compare(self, node: ast.Compare) -> Value:
        for other in node.ops:
            if type(other) not in COMPARISONS:
                self.source.refuse(node, f"the comparison {_WORDS[type(other)]}")
        if len(node.ops) == 1:
            return self._comparison(node.ops[0], self.value(node.left), self.value(node.comparators[0]))
        name, left = self.temporary(), self.value(node.left)
        with ExitStack() as nested:
            for operator, part in zip(node.ops, node.comparators, strict=True):
                right = self.value(part)
                if not right.simple:
                    right = self.set(self.temporary(), right)
                result = self.set(name, self._comparison(operator, left, right))
                if part is not node.comparators[-1]:
                    nested.enter_context(self.under(truth_of(result)))
                left = right
        return result

    def _comparison(self, operator: ast.cmpop, left: Value, right: Value) -> Value:
        sign = COMPARISONS[type(operator)]
        kind = wider(left.type, right.type, "int")
        a, b = converted(left, kind), converted(right, kind)
        return Value("bool", f"({a.python} {sign} {b.python})", f"({a.cuda} {sign} {b.cuda})")

    def _ifexp(self, node: ast.IfExp) -> Value:
        name = self.temporary()
        with self.under(self.truth(node.test)):
            one = self.value(node.body)
            self.set(name, one)
        with self.otherwise():
            other = self.value(node.orelse)
            return replace(self.set(name, other), numbers=either(numbers_of(one), numbers_of(other)))

    def _call(self, node: ast.Call) -> Value:
        name = ast.unparse(node.func)
        if isinstance(node.func, ast.Name) and node.func.id in self.locals:
            self.source.refuse(node, f"a call of the number {name}")
        if self.fields.find(node.func) is not None:
            self.source.refuse(node, f"a call of the number {name}")
        function = self.outer(node.func)
        translate = next((made for known, made in CALLS if known is function), None)
        if translate is None:
            self.source.refuse(node, f"a call of {name}")
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            self.source.refuse(node, f"{name} with keywords or *")
        least, most, make = translate
        if not least <= len(node.args) <= most:
            count = str(least) if least == most else f"{least} to {most}" if most < 99 else f"{least} or more"
            self.source.fail(node, f"{name} takes {count} numbers here, not {len(node.args)}")
        return make(self, node, [self.value(argument) for argument in node.args])


def _extreme(name: str) -> Callable[..., Value]:
    def make(to: Expressions, node: ast.Call, values: Sequence[Value]) -> Value:
        kind = wider(*(value.type for value in values), "int")
        result = converted(values[0], kind)
        for value in values[1:]:
            result = to.call(node, name, kind, result, converted(value, kind))
        return result

    return make


def _of_float(name: str) -> Callable[..., Value]:
    def make(to: Expressions, node: ast.Call, values: Sequence[Value]) -> Value:
        return to.call(node, name, "float", *(converted(value, "float") for value in values))

    return make


def _absolute(to: Expressions, node: ast.Call, values: Sequence[Value]) -> Value:
    value = values[0]
    if value.type == "float":
        return Value("float", f"abs({value.python})", f"fabs({value.cuda})")
    return to.call(node, "int_absolute", "int", converted(value, "int"))


def _integer(rounding: str) -> Callable[..., Value]:
    def make(to: Expressions, node: ast.Call, values: Sequence[Value]) -> Value:
        value = values[0]
        if value.type != "float":
            return converted(value, "int")
        if rounding:
            value = Value("float", f"{rounding}({value.python})", f"{rounding}({value.cuda})")
        return to.call(node, "int_of", "int", value)

    return make


def _logarithm(to: Expressions, node: ast.Call, values: Sequence[Value]) -> Value:
    logarithms = [to.call(node, "log", "float", converted(value, "float")) for value in values]
    return logarithms[0] if len(values) == 1 else to.call(node, "divide", "float", *logarithms)


def _about(python: str, cuda: str) -> Callable[..., Value]:
    """Whether something is true of a float, in terms of x."""

    def make(to: Expressions, node: ast.Call, values: Sequence[Value]) -> Value:
        x = converted(values[0], "float")
        x = x if x.simple else to.set(to.temporary(), x)
        return Value("bool", python.format(x=x.python), cuda.format(x=x.cuda))

    return make


CALLS: tuple[tuple[Any, tuple[int, int, Callable[..., Value]]], ...] = (
    (min, (2, 99, _extreme("smaller"))),
    (max, (2, 99, _extreme("larger"))),
    (abs, (1, 1, _absolute)),
    (int, (1, 1, _integer(""))),
    (float, (1, 1, lambda to, node, values: converted(values[0], "float"))),
    (bool, (1, 1, lambda to, node, values: truth_of(values[0]))),
    (math.sqrt, (1, 1, _of_float("root"))),
    (math.exp, (1, 1, _of_float("exp"))),
    (math.log, (1, 2, _logarithm)),
    (math.pow, (2, 2, _of_float("power"))),
    (math.floor, (1, 1, _integer("floor"))),
    (math.ceil, (1, 1, _integer("ceil"))),
    (math.isinf, (1, 1, _about("(abs({x}) == 1e999)", "(fabs({x}) == gd_infinity())"))),
    (math.isfinite, (1, 1, _about("(abs({x}) < 1e999)", "(fabs({x}) < gd_infinity())"))),
    (math.isnan, (1, 1, _about("({x} != {x})", "({x} != {x})"))),
)
"""Functions of Python that can be called: with how many numbers, and what makes the call."""

_WORDS = {ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"}
_NAMES = {
    ast.NamedExpr: "an assignment inside an expression (:=)",
    ast.JoinedStr: "a string",
    ast.Lambda: "a function inside the function",
    ast.ListComp: "a list",
    ast.List: "a list",
    ast.Tuple: "a tuple",
    ast.Dict: "a dict",
    ast.Set: "a set",
    ast.GeneratorExp: "a generator",
    ast.Yield: "yield",
    ast.Await: "await",
}


def _name_of(node: ast.AST) -> str:
    return _NAMES.get(type(node), type(node).__name__)
