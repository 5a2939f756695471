"""Writes the functions that the kernels of a program call in Python, for Numba: see `graphdask.program.glue`."""

from __future__ import annotations

from graphdask.program._glue_parts import (
    LARGEST,
    NOT_A_NUMBER,
    SMALLEST,
    TOO_LARGE_SINGLE,
    TOO_LARGE_SUM,
    TOO_WIDE,
    indented,
)
from graphdask.program.definition import Aggregate, Definition, Function
from graphdask.program.ending import python_ending

CAST = {"int": "np.int64({})", "float": "np.float64({})", "bool": "({} != 0)"}


class PythonGlue:
    """Writes for Numba."""

    def __init__(self, definition: Definition, ending: Function | None = None):
        self.of, self.ending = definition, ending

    def text(self) -> str:
        of = self.of
        made = [
            "import numpy as np",
            "from graphdask.kernels.common.bitmap import has_bit",
            "from graphdask.kernels.common.twin import for_twins, inlined",
            "from graphdask.kernels.choice.selection import caller_id as program_name",
            "from graphdask.kernels.functions.generated import compiled",
            "from graphdask.kernels.functions.user import failed",
            "from graphdask.kernels.common.ordered import of_ordered, ordered",
            "from graphdask.kernels.program.exact import add_float, add_integer, clear, exact_value, take_least",
            "from graphdask.kernels.program.program_pack import Program",
        ]
        for function in of.functions:
            made.append(
                f"{function.name} = compiled({function.code.python!r}, 'user_function', {function.code.types!r}, "
                f"{('bool', *(kind for _, kind in function.code.results))!r}, for_python=False)"
            )
        parts = [
            self._begin(), self._value_of(), self._message(), self._nothing(), self._merge(), self._got(), self._put(),
            self._apply(), self._free(),
        ]  # fmt: skip
        made.append(f"KEEPS = {of.keeps is not None}")
        if of.pushes:
            parts += [self._push(), self._take(), self._bound(), self._settled(), self._lowers(), self._spared()]
        functions = [f"@inlined\n{part}" for part in parts]
        if of.pushes or of.sums_values:
            functions.append(python_ending(of, self.ending))
        return "\n".join(made) + "\n\n\n" + "\n\n".join(functions)

    def _call(self, function: Function, failure: str = "failure") -> str:
        """A call of a function of the caller; it gives a tuple whose first element says whether there is anything."""
        arguments = [CAST[place.field.type].format(place.expression) for place in function.read]
        return f"{function.name}({', '.join([*arguments, f'a.{failure}'])})"

    def _fail(self, field: int, reason: int, failure: str = "failure") -> str:
        return f"failed(a.{failure}, np.int64({field}), np.int64({reason}))"

    def _begin(self) -> str:
        lines = []
        for i, function in self.of.begins:
            of_field = [f"given, value{i} = {self._call(function)}", *self._stored(f"value{i}", i, f"first{i}")]
            lines += [f"if field == {i}:", *(f"    {line}" for line in [*of_field, f"a.state{i}[v] = first{i}"])]
        return "def begin(v, field, a: Program):\n" + indented(lines or ["pass"])

    def _stored(self, value: str, i: int, name: str) -> list[str]:
        """Statements that set a variable to a value as the array of a field of the state holds it."""
        kind, dtype = self.of.state[i].kind, self.of.state[i].dtype
        if kind == "float":
            lines = [f"if {value} != {value}:", f"    {self._fail(i, NOT_A_NUMBER)}"]
            if dtype == "float64":
                return [*lines, f"{name} = {value}"]
            large = f"if abs({value}) >= {TOO_LARGE_SINGLE} and abs({value}) != np.inf:"
            return [*lines, large, f"    {self._fail(i, TOO_WIDE)}", f"{name} = np.float32({value})"]
        if kind == "bool":
            return [f"{name} = np.uint8(1) if {value} else np.uint8(0)"]
        if dtype == "int64":
            return [f"{name} = np.int64({value})"]
        least, most = self.of.state[i].extent
        return [
            f"if {value} < {least} or {value} > {most}:", f"    {self._fail(i, TOO_WIDE)}",
            f"{name} = np.{dtype}({value})",
        ]  # fmt: skip

    def _sent(self) -> list[str]:
        """Statements that compute what the edge from u to v sends, as `given` and r0, r1, ..."""
        of = self.of
        names = ", ".join(["given", *(f"r{k}" for k in range(len(of.message)))])
        if of.send is None:
            return ["given, r0 = True, True"]
        lines = [f"{names} = {self._call(of.send)}"]
        for k, kind in enumerate(of.sent_kinds):
            if kind == "float":
                lines += [f"if r{k} != r{k}:", f"    {self._fail(k, NOT_A_NUMBER)}", f"    r{k} = 0.0"]
        return lines

    def _parts(self, values: list[str]) -> str:
        """The parts of a message, as a tuple."""
        of, made = self.of, []
        for value, kind in zip(values, of.message.values(), strict=True):
            if of.only_truth:
                made.append(f"np.int64({value} != 0)")
            elif of.combine == "sum" and kind == "int":
                made += [f"{value} >> 32", f"{value} & 4294967295"]
            else:
                made.append(
                    {"float": f"{value} + 0.0", "int": f"np.int64({value})", "bool": f"np.int64({value})"}[kind]
                )
        if of.chooses:
            made.append("np.int64(a.ids[u])")
        return f"({', '.join(made)},)"

    def _value_of(self) -> str:
        if not self.of.by_source:
            return "def value_of(v, a: Program):\n    return False\n"
        lines = ["u = v", *self._sent(), "if given:"]
        truth = " != 0" * self.of.only_truth
        lines += [f"    a.value{k}[v] = r{k}{truth}" for k in range(len(self.of.message))]
        return "def value_of(v, a: Program):\n" + indented([*lines, "return given"])

    def _message(self) -> str:
        if self.of.by_source:
            values = [f"a.value{k}[u]" for k in range(len(self.of.message))]
            given = "has_bit(a.sends, u)" if self.of.pushes and self.of.may_be_silent else "True"
            lines = [f"return {given}, {self._parts(values)}"]
        else:
            lines = [*self._sent(), f"return given, {self._parts([f'r{k}' for k in range(len(self.of.message))])}"]
        return "def message(u, v, e, a: Program):\n" + indented(lines)

    def _none(self) -> list[str]:
        """The parts of what changes no message."""
        of, made = self.of, list[str]()
        for k, kind in enumerate(of.message.values()):
            if of.combine in ("min", "max") and k == 0:
                least = of.combine == "min"
                if kind == "float":
                    made.append("np.inf" if least else "-np.inf")
                else:
                    made.append(f"np.int64({LARGEST if least else SMALLEST})")
            elif of.combine == "sum" and kind == "int":
                made += ["np.int64(0)", "np.int64(0)"]
            else:
                made.append("0.0" if kind == "float" and not of.only_truth else "np.int64(0)")
        if of.chooses:
            made.append(f"np.int64({LARGEST})")
        return made

    def _nothing(self) -> str:
        return f"def nothing():\n    return ({', '.join(self._none())},)\n"

    def _merge(self) -> str:
        of, last = self.of, len(self.of.message)
        if of.combine == "first":
            lines = [f"return sent if sent[{last}] < held[{last}] else held"]
        elif of.combine in ("min", "max"):
            sign = "<" if of.combine == "min" else ">"
            if of.chooses:
                lines = [
                    f"if sent[0] {sign} held[0] or (sent[0] == held[0] and sent[{last}] < held[{last}]):",
                    "    return sent", "return held",
                ]  # fmt: skip
            else:
                lines = [f"return (sent[0] if sent[0] {sign} held[0] else held[0],)"]
        else:
            count = sum(2 if of.combine == "sum" and kind == "int" else 1 for kind in of.message.values())
            operator = "|" if of.combine == "any" else "+"
            lines = [f"return ({', '.join(f'held[{k}] {operator} sent[{k}]' for k in range(count))},)"]
        return "def merge(held, sent):\n" + indented(lines)

    def _got(self) -> str:
        of, made = self.of, []
        for k, kind in enumerate(of.message.values()):
            if of.combine == "sum" and kind == "int":
                made += [f"a.message{k}[v] >> 32", f"a.message{k}[v] & 4294967295"]
            else:
                cast = "np.float64" if kind == "float" and not of.only_truth else "np.int64"
                made.append(f"{cast}(a.message{k}[v])")
        if of.chooses:
            made.append("a.origin[v]")
        return f"def got(v, a: Program):\n    return ({', '.join(made)},)\n"

    def _put(self) -> str:
        of, lines, part = self.of, [], 0
        for k, kind in enumerate(of.message.values()):
            if of.combine == "sum" and kind == "int":
                high = f"held[{part}] + (held[{part + 1}] >> 32)"
                lines += [
                    f"high = {high}", "if high < -2147483648 or high > 2147483647:",
                    f"    {self._fail(k, TOO_LARGE_SUM)}", "    high = np.int64(0)",
                    f"a.message{k}[v] = (high << 32) | (held[{part + 1}] & 4294967295)",
                ]  # fmt: skip
                part += 2
            else:
                lines.append(f"a.message{k}[v] = held[{part}]")
                part += 1
        if of.chooses:
            lines.append(f"a.origin[v] = held[{part}]")
        return "def put(v, held, a: Program):\n" + indented(lines)

    def _combined(self, other: str) -> str:
        old = "a.message0[v]"
        if self.of.combine in ("min", "max"):
            return f"a.message0[v] = {self.of.combine}({old}, {other})"
        return f"a.message0[v] = {old} {'|' if self.of.combine == 'any' else '+'} {other}"

    def _push(self) -> str:
        of, sign = self.of, {"min": "<", "max": ">"}.get(self.of.combine)
        if of.keeps is not None:
            return "def push(v, sent, a: Program):\n" + indented(
                [f"if sent[0] {sign} a.message0[v]:", "    a.message0[v] = sent[0]", "    return True", "return False"]
            )
        lines = ["a.received[v] += 1"] if of.counts else []
        lines.append("old = a.message0[v]")
        if sign:
            lines += [f"if sent[0] {sign} old:", "    a.message0[v] = sent[0]"]
        elif of.combine == "any":
            lines += ["if sent[0]:", "    a.message0[v] = sent[0]"]
        else:
            lines.append("a.message0[v] = old + sent[0]")
        return "def push(v, sent, a: Program):\n" + indented([*lines, f"return old == {self._none()[0]}"])

    def _kept(self) -> str:
        """The field that keeps the least message, as a message."""
        keeps = self.of.keeps
        assert keeps is not None
        return f"(np.{'float64' if self.of.state[keeps].kind == 'float' else 'int64'}(a.state{keeps}[v]),)"

    def _free(self) -> str:
        free = "nothing()"
        if self.of.keeps is not None:
            free = f"{self._kept()} if np.int64(v) < a.owned else got(v, a)"
        return f"def free(v, a: Program):\n    return {free}\n"

    def _lowers(self) -> str:
        sign = "<" if self.of.combine == "min" else ">"
        lowers = "True" if self.of.keeps is None else f"sent[0] {sign} a.message0[v]"
        return f"def lowers(v, sent, a: Program):\n    return {lowers}\n"

    def _spared(self) -> str:
        spared = "False" if self.of.keeps is None else "settled(got(v, a), most)"
        return f"def spared(v, most, a: Program):\n    return {spared}\n"

    def _settled(self) -> str:
        of, extreme = self.of, self.of.combine in ("min", "max")
        alone = not of.counts and (of.by_source or (of.send is None and not extreme))
        end = {"any": "held[0] != 0", "min": "held[0] <= most[0]", "max": "held[0] >= most[0]"}.get(of.combine)
        return f"def settled(held, most):\n    return {end if alone and end else 'False'}\n"

    def _bound(self) -> str:
        lines = ["return held"]
        if self.of.by_source and self.of.combine in ("min", "max") and not self.of.counts:
            lines = [f"return merge(held, {self._parts(['a.value0[u]'])})"]
        return "def bound(u, held, a: Program):\n" + indented(lines)

    def _take(self) -> str:
        return f"def take(i, v, a: Program):\n    {self._combined('a.given0[i]')}\n"

    def _apply(self) -> str:
        of = self.of
        lines = [f"old{i} = a.state{i}[v]" for i in range(len(of.state))]
        lines += [f"new{i} = old{i}" for i in range(len(of.state))]
        lines.append(f"{', '.join(['given', *(f'r{i}' for i in range(len(of.state)))])} = {self._call(of.apply)}")
        given = []
        for i in range(len(of.state)):
            given += self._stored(f"r{i}", i, f"new{i}")
        differs = " or ".join(f"new{i} != old{i}" for i in range(len(of.state)))
        lines += ["changed = False", "if given:", *(f"    {line}" for line in given), f"    changed = {differs}"]
        lines += ["    if changed:", *(f"        a.state{i}[v] = new{i}" for i in range(len(of.state)))]
        for k, aggregate in enumerate(of.aggregates):
            failure = f"failure{k}"
            lines.append(f"there, x{k} = {self._call(aggregate.function, failure)}")
            lines += _added(k, aggregate, self._fail(0, NOT_A_NUMBER, failure))
        return "def apply(v, a: Program):\n" + indented([*lines, "return changed"])


def _added(k: int, aggregate: Aggregate, failure: str) -> list[str]:
    """Statements in Python that add a value to an aggregate."""
    combine, kind, x, lines = aggregate.combine, aggregate.kind, f"x{k}", list[str]()
    number = f"np.int64({k})"  # Numba compiles a function again for every literal
    if combine in ("count", "any"):
        return [f"if {x} != 0:", f"    add_integer(a.sums, {number}, np.int64(1))"]
    if kind == "float":
        lines += [f"if {x} != {x}:", f"    {failure}", f"    {x} = 0.0"]
    if combine == "sum":
        added = f"add_float(a.sums, {number}, {x})"
        if kind != "float":
            added = f"add_integer(a.sums, {number}, np.int64({x}))"
        return [*lines, f"if {x} != 0:", f"    {added}"]  # a call for nothing takes longer than the test
    key = f"ordered({x})" if kind == "float" else f"np.int64({x})"
    return [*lines, f"take_least(a.sums, {number}, {key if combine == 'min' else f'~{key}'})"]
