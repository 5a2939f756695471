"""The functions that the kernels of programs call (kernels/program/program_default.py says which), written for a program.

They are written twice, in Python for Numba and in CUDA C++, from the same expressions. A message is handed from one to
the other in parts: its fields, `count` and `any` as an integer, an integer that is added up as two of 32 bits, and
where messages are chosen (`min` and `max` of several fields, `first`) the vertex that sent it, which decides between
equal ones; in CUDA also the place of the edge, which decides between parallel ones.
"""

from __future__ import annotations

from collections.abc import Iterable

from graphdask.kernels.functions.inserted import Written
from graphdask.program.definition import Aggregate, Definition, Function
from graphdask.program.fields import Place

NOT_A_NUMBER, TOO_WIDE, TOO_LARGE_SUM = 11, 12, 13
"""Reasons of failures besides those of functions (graphdask.program.translate.REASONS)."""

_CAST = {"int": "np.int64({})", "float": "np.float64({})", "bool": "({} != 0)"}
_CUDA_CAST = {"int": "(long long)({})", "float": "(double)({})", "bool": "(({}) != 0)"}
_CUDA_TYPE = {"int": "long long", "float": "double", "bool": "bool"}
_LARGEST, _SMALLEST = 9223372036854775807, "(-9223372036854775807 - 1)"


def written(definition: Definition) -> Written:
    """The functions of a program in both languages; a function given in CUDA C++ leaves nothing in Python."""
    on_cpu = all(function.code.python is not None for function in definition.functions)
    return Written(_Python(definition).text() if on_cpu else "", _Cuda(definition).text())


def _indented(lines: Iterable[str], depth: int = 1) -> str:
    return "".join(f"{'    ' * depth}{line}\n" for line in lines)


class _Python:
    """Writes for Numba."""

    def __init__(self, definition: Definition):
        self.of = definition

    def text(self) -> str:
        of = self.of
        made = [
            "import numpy as np",
            "from graphdask.kernels.common.bitmap import has_bit",
            "from graphdask.kernels.common.twin import twin",
            "from graphdask.kernels.choice.selection import caller_id as program_name",
            "from graphdask.kernels.functions.generated import compiled",
            "from graphdask.kernels.functions.user import failed",
            "from graphdask.kernels.program.exact import add_float, add_integer, ordered, take_least",
            "from graphdask.kernels.program.program_pack import Program",
        ]
        for function in of.functions:
            made.append(
                f"{function.name} = compiled({function.code.python!r}, 'user_function', {function.code.types!r}, "
                f"{('bool', *(kind for _, kind in function.code.results))!r})"
            )
        parts = [
            self._begin(), self._tell(), self._message(), self._nothing(), self._merge(), self._got(), self._put(),
            self._apply(),
        ]  # fmt: skip
        if of.pushes:
            parts += [self._push(), self._take()]
        return "\n".join(made) + "\n\n\n" + "\n\n".join(f"@twin\n{part}" for part in parts)

    def _call(self, function: Function, failure: str = "failure") -> str:
        """A call of a function of the caller; it gives a tuple whose first element says whether there is anything."""
        places = {place.field.name: place for place in function.places.values()}
        arguments = [_CAST[places[name].field.type].format(places[name].expression) for name in function.code.fields]
        return f"{function.name}({', '.join([*arguments, f'a.{failure}'])})"

    def _fail(self, field: int, reason: int, failure: str = "failure") -> str:
        return f"failed(a.{failure}, np.int64({field}), np.int64({reason}))"

    def _begin(self) -> str:
        lines = []
        for i, function in self.of.begins:
            of_field = [f"given, value{i} = {self._call(function)}", *self._stored(f"value{i}", i, f"first{i}")]
            lines += [f"if field == {i}:", *(f"    {line}" for line in [*of_field, f"a.state{i}[v] = first{i}"])]
        return "def begin(v, field, a: Program):\n" + _indented(lines or ["pass"])

    def _stored(self, value: str, i: int, name: str) -> list[str]:
        """Statements that set a variable to a value as the array of a field of the state holds it."""
        kind, dtype = self.of.state[i].kind, self.of.state[i].dtype
        if kind == "float":
            cast = f"np.float32({value})" if dtype == "float32" else value
            return [f"if {value} != {value}:", f"    {self._fail(i, NOT_A_NUMBER)}", f"{name} = {cast}"]
        if kind == "bool":
            return [f"{name} = np.uint8(1) if {value} else np.uint8(0)"]
        if dtype == "int64":
            return [f"{name} = np.int64({value})"]
        return [
            f"if {value} < -2147483648 or {value} > 2147483647:", f"    {self._fail(i, TOO_WIDE)}",
            f"{name} = np.int32({value})",
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

    def _tell(self) -> str:
        if not self.of.by_source:
            return "def tell(v, a: Program):\n    return False\n"
        lines = ["u = v", *self._sent(), "if given:"]
        truth = " != 0" * self.of.only_truth
        lines += [f"    a.value{k}[v] = r{k}{truth}" for k in range(len(self.of.message))]
        return "def tell(v, a: Program):\n" + _indented([*lines, "return given"])

    def _message(self) -> str:
        if self.of.by_source:
            values = [f"a.value{k}[u]" for k in range(len(self.of.message))]
            given = "has_bit(a.sends, u)" if self.of.pushes else "True"
            lines = [f"return {given}, {self._parts(values)}"]
        else:
            lines = [*self._sent(), f"return given, {self._parts([f'r{k}' for k in range(len(self.of.message))])}"]
        return "def message(u, v, e, a: Program):\n" + _indented(lines)

    def _nothing(self) -> str:
        of, made = self.of, []
        for k, kind in enumerate(of.message.values()):
            if of.combine in ("min", "max") and k == 0:
                least = of.combine == "min"
                if kind == "float":
                    made.append("np.inf" if least else "-np.inf")
                else:
                    made.append(f"np.int64({_LARGEST if least else _SMALLEST})")
            elif of.combine == "sum" and kind == "int":
                made += ["np.int64(0)", "np.int64(0)"]
            else:
                made.append("0.0" if kind == "float" and not of.only_truth else "np.int64(0)")
        if of.chooses:
            made.append(f"np.int64({_LARGEST})")
        return f"def nothing():\n    return ({', '.join(made)},)\n"

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
        return "def merge(held, sent):\n" + _indented(lines)

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
        return "def put(v, held, a: Program):\n" + _indented(lines)

    def _combined(self, other: str) -> str:
        old = "a.message0[v]"
        if self.of.combine in ("min", "max"):
            return f"a.message0[v] = {self.of.combine}({old}, {other})"
        return f"a.message0[v] = {old} {'|' if self.of.combine == 'any' else '+'} {other}"

    def _push(self) -> str:
        return f"def push(v, sent, a: Program):\n    {self._combined('sent[0]')}\n"

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
        return "def apply(v, a: Program):\n" + _indented([*lines, "return changed"])


def _added(k: int, aggregate: Aggregate, failure: str) -> list[str]:
    """Statements in Python that add a value to an aggregate."""
    combine, kind, x, lines = aggregate.combine, aggregate.kind, f"x{k}", []
    if combine in ("count", "any"):
        return [f"if {x} != 0:", f"    add_integer(a.sums, {k}, np.int64(1))"]
    if kind == "float":
        lines += [f"if {x} != {x}:", f"    {failure}", f"    {x} = 0.0"]
    if combine == "sum":
        added = f"add_float(a.sums, {k}, {x})" if kind == "float" else f"add_integer(a.sums, {k}, np.int64({x}))"
        return [*lines, added]
    key = f"ordered({x})" if kind == "float" else f"np.int64({x})"
    return [*lines, f"take_least(a.sums, {k}, {key if combine == 'min' else f'~{key}'})"]


class _Cuda:
    """Writes CUDA C++."""

    def __init__(self, definition: Definition):
        self.of = definition

    def text(self) -> str:
        of = self.of
        made = [
            "#define GD_PROGRAM_OF_CALLER",
            "__device__ __forceinline__ long long program_name(const long long *names, long long base, long long v) {",
            "    return base < 0 ? names[v] : v + base;",
            "}",
        ]
        made += [function.code.cuda(function.name) for function in of.functions]
        fields = [f"    {kind} v{k};" for k, kind in enumerate(self._part_types())]
        made += ["struct Message {", *fields, *(["    long long at;"] if of.chooses else []), "};"]
        parts = [
            self._begin(), self._tell(), self._message(), self._nothing(), self._merge(), self._got(), self._put(),
            self._apply(),
        ]  # fmt: skip
        if of.pushes:
            parts += [self._push(), self._take()]
        return "\n".join(made) + "\n" + "\n".join(f"__device__ __forceinline__ {part}" for part in parts)

    def _part_types(self) -> list[str]:
        of, types = self.of, []
        for kind in of.message.values():
            if of.combine == "sum" and kind == "int":
                types += ["long long", "long long"]
            else:
                types.append("double" if kind == "float" and not of.only_truth else "long long")
        return types + ["long long"] * of.chooses

    def _call(self, function: Function, results: list[str], failure: str = "failure") -> str:
        places: dict[str, Place] = {place.field.name: place for place in function.places.values()}
        arguments = [
            _CUDA_CAST[places[name].field.type].format(places[name].expression) for name in function.code.fields
        ]
        addresses = [f"&{result}" for result in results]
        return f"{function.name}({', '.join([*arguments, *addresses, f'a.{failure}'])})"

    def _fail(self, field: int, reason: int, failure: str = "failure") -> str:
        return f"gd_failed(a.{failure}, {field}, {reason});"

    def _begin(self) -> str:
        lines = []
        for i, function in self.of.begins:
            kind = _CUDA_TYPE[self.of.state[i].kind]
            lines += [f"if (field == {i}) {{", f"    {kind} value{i};", f"    {self._call(function, [f'value{i}'])};"]
            lines += [f"    {line}" for line in self._checked(f"value{i}", i)]
            lines += [f"    a.state{i}[v] = (state{i}_t)value{i};", "}"]
        return "void begin(index_t v, long long field, const Program &a) {\n" + _indented(lines) + "}"

    def _checked(self, value: str, i: int) -> list[str]:
        kind, dtype = self.of.state[i].kind, self.of.state[i].dtype
        if kind == "float":
            return [f"if ({value} != {value}) {self._fail(i, NOT_A_NUMBER)}"]
        if kind == "int" and dtype != "int64":
            return [f"if ({value} < -2147483648LL || {value} > 2147483647LL) {self._fail(i, TOO_WIDE)}"]
        return []

    def _sent(self) -> list[str]:
        of = self.of
        if of.send is None:
            return ["const bool given = true, r0 = true;"]
        lines = [f"{_CUDA_TYPE[kind]} r{k};" for k, kind in enumerate(of.sent_kinds)]
        lines.append(f"const bool given = {self._call(of.send, [f'r{k}' for k in range(len(of.message))])};")
        for k, kind in enumerate(of.sent_kinds):
            if kind == "float":
                lines += [f"if (r{k} != r{k}) {{", f"    {self._fail(k, NOT_A_NUMBER)}", f"    r{k} = 0.0;", "}"]
        return lines

    def _parts(self, values: list[str], into: str = "sent") -> list[str]:
        of, made = self.of, []
        for value, kind in zip(values, of.message.values(), strict=True):
            if of.only_truth:
                made.append(f"(long long)({value} != 0)")
            elif of.combine == "sum" and kind == "int":
                made += [f"(long long){value} >> 32", f"(long long){value} & 4294967295LL"]
            else:
                made.append(f"__dadd_rn({value}, 0.0)" if kind == "float" else f"(long long){value}")
        if of.chooses:
            made.append("(long long)a.ids[u]")
        lines = [f"{into}.v{k} = {value};" for k, value in enumerate(made)]
        return lines + ([f"{into}.at = e;"] if of.chooses else [])

    def _tell(self) -> str:
        head = "bool tell(index_t v, const Program &a) {\n"
        if not self.of.by_source:
            return head + "    return false;\n}"
        lines = ["const index_t u = v;", *self._sent(), "if (given) {"]
        truth = " != 0" * self.of.only_truth
        lines += [f"    a.value{k}[v] = (message{k}_t)(r{k}{truth});" for k in range(len(self.of.message))]
        return head + _indented([*lines, "}", "return given;"]) + "}"

    def _message(self) -> str:
        if self.of.by_source:
            given = "gd_bit(a.sends, u)" if self.of.pushes else "true"
            lines = [
                f"if (!{given}) return false;",
                *self._parts([f"a.value{k}[u]" for k in range(len(self.of.message))]),
                "return true;",
            ]
        else:
            lines = [*self._sent(), *self._parts([f"r{k}" for k in range(len(self.of.message))]), "return given;"]
        head = "bool message(index_t u, index_t v, long long e, const Program &a, Message &sent) {\n"
        return head + _indented(lines) + "}"

    def _nothing(self) -> str:
        of, made = self.of, []
        for k, kind in enumerate(of.message.values()):
            if of.combine in ("min", "max") and k == 0:
                least = of.combine == "min"
                if kind == "float":
                    made.append("gd_infinity()" if least else "-gd_infinity()")
                else:
                    made.append(f"{_LARGEST}LL" if least else "GD_SMALLEST_INTEGER")
            elif of.combine == "sum" and kind == "int":
                made += ["0", "0"]
            else:
                made.append("0.0" if kind == "float" and not of.only_truth else "0")
        made += [f"{_LARGEST}LL"] * (2 * of.chooses)
        return f"Message nothing() {{\n    return Message{{{', '.join(made)}}};\n}}"

    def _merge(self) -> str:
        of, last = self.of, len(self.of.message)
        earlier = f"sent.v{last} < held.v{last} || (sent.v{last} == held.v{last} && sent.at < held.at)"
        if of.combine == "first":
            lines = [f"return {earlier} ? sent : held;"]
        elif of.combine in ("min", "max"):
            sign = "<" if of.combine == "min" else ">"
            if of.chooses:
                lines = [f"return sent.v0 {sign} held.v0 || (sent.v0 == held.v0 && ({earlier})) ? sent : held;"]
            else:
                lines = [f"return sent.v0 {sign} held.v0 ? sent : held;"]
        else:
            made = []
            for k, kind in enumerate(self._part_types()):
                pair = f"held.v{k}", f"sent.v{k}"
                exact = f"{pair[0]} {'|' if of.combine == 'any' else '+'} {pair[1]}"
                made.append(f"__dadd_rn({pair[0]}, {pair[1]})" if kind == "double" else exact)
            lines = [f"return Message{{{', '.join(made)}}};"]
        return "Message merge(const Message &held, const Message &sent) {\n" + _indented(lines) + "}"

    def _got(self) -> str:
        of, made = self.of, []
        for k, kind in enumerate(of.message.values()):
            if of.combine == "sum" and kind == "int":
                made += [f"a.message{k}[v] >> 32", f"a.message{k}[v] & 4294967295LL"]
            else:
                made.append(f"a.message{k}[v]")
        if of.chooses:
            made += ["a.origin[v]", "-1"]  # what came along edges of the other direction comes first
        types = [*self._part_types(), *(["long long"] * of.chooses)]
        values = ", ".join(f"({kind})({value})" for kind, value in zip(types, made, strict=True))
        return f"Message got(index_t v, const Program &a) {{\n    return Message{{{values}}};\n}}"

    def _put(self) -> str:
        of, lines, part = self.of, [], 0
        for k, kind in enumerate(of.message.values()):
            if of.combine == "sum" and kind == "int":
                lines += [
                    f"long long high{k} = held.v{part} + (held.v{part + 1} >> 32);",
                    f"if (high{k} < -2147483648LL || high{k} > 2147483647LL) {{",
                    f"    {self._fail(k, TOO_LARGE_SUM)}", f"    high{k} = 0;", "}",
                    f"a.message{k}[v] = (long long)((unsigned long long)high{k} << 32) | "
                    f"(held.v{part + 1} & 4294967295LL);",
                ]  # fmt: skip
                part += 2
            else:
                lines.append(f"a.message{k}[v] = (message{k}_t)held.v{part};")
                part += 1
        if of.chooses:
            lines.append(f"a.origin[v] = held.v{part};")
        return "void put(index_t v, const Message &held, const Program &a) {\n" + _indented(lines) + "}"

    def _combined(self, other: str) -> list[str]:
        of = self.of
        kind = next(iter(of.message.values()))
        place = "a.message0 + v"
        if of.combine == "any":
            return [f"if ({other}) a.message0[v] = 1;"]
        if of.combine == "count":
            return [f"atomicAdd((unsigned long long *)({place}), (unsigned long long)({other}));"]
        sign, least = ("<", "Min") if of.combine == "min" else (">", "Max")
        better = f"{other} {sign} *(volatile message0_t *)({place})"
        return [f"if ({better}) gd_atomic_{least.lower()}({place}, (message0_t)({other}));"]

    def _push(self) -> str:
        lines = _indented(self._combined("sent.v0"))
        return "void push(index_t v, const Message &sent, const Program &a) {\n" + lines + "}"

    def _take(self) -> str:
        lines = _indented(self._combined("a.given0[i]"))
        return "void take(long long i, index_t v, const Program &a) {\n" + lines + "}"

    def _apply(self) -> str:
        of = self.of
        lines = []
        for i, field in enumerate(of.state):
            lines += [f"const state{i}_t old{i} = a.state{i}[v];", f"state{i}_t new{i} = old{i};"]
            lines.append(f"{_CUDA_TYPE[field.kind]} r{i};")
        given = []
        for i in range(len(of.state)):
            given += [*self._checked(f"r{i}", i), f"new{i} = (state{i}_t)r{i};"]
        differs = " || ".join(f"new{i} != old{i}" for i in range(len(of.state)))
        lines += ["bool changed = false;", f"if ({self._call(of.apply, [f'r{i}' for i in range(len(of.state))])}) {{"]
        lines += [f"    {line}" for line in given]
        lines += [f"    changed = {differs};", "    if (changed) {"]
        lines += [f"        a.state{i}[v] = new{i};" for i in range(len(of.state))]
        lines += ["    }", "}"]
        for k, aggregate in enumerate(of.aggregates):
            kind = "float" if aggregate.combine in ("any", "count") else aggregate.kind
            lines += [
                f"{_CUDA_TYPE[kind]} x{k};",
                f"if ({self._call(aggregate.function, [f'x{k}'], f'failure{k}')}) {{",
            ]
            lines += [f"    {line}" for line in self._added(k, aggregate.combine, kind)]
            lines.append("}")
        return "bool apply(index_t v, const Program &a) {\n" + _indented([*lines, "return changed;"]) + "}"

    def _added(self, k: int, combine: str, kind: str) -> list[str]:
        if combine in ("count", "any"):
            return [f"if (x{k} != 0) gd_add_integer(a.sums, {k}, 1);"]
        lines = []
        if kind == "float":
            failure = self._fail(0, NOT_A_NUMBER, f"failure{k}")
            lines += [f"if (x{k} != x{k}) {{", f"    {failure}", f"    x{k} = 0.0;", "}"]
        if combine == "sum":
            return [*lines, f"gd_add_{'float' if kind == 'float' else 'integer'}(a.sums, {k}, x{k});"]
        key = f"gd_ordered(x{k})" if kind == "float" else f"(long long)x{k}"
        return [*lines, f"gd_take_least(a.sums, {k}, {key if combine == 'min' else f'~{key}'});"]
