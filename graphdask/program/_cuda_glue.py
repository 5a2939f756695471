"""Writes the functions that the kernels of a program call in CUDA C++: see `graphdask.program.glue`."""

from __future__ import annotations

from graphdask.program._glue_parts import LARGEST, NOT_A_NUMBER, TOO_LARGE_SINGLE, TOO_LARGE_SUM, TOO_WIDE, indented
from graphdask.program._typed_texts import C_TYPE
from graphdask.program.definition import Definition, Function
from graphdask.program.ending import cuda_ending

CAST = {"int": "(long long)({})", "float": "(double)({})", "bool": "(({}) != 0)"}
READ = {"a.weights[e]": "GD_WEIGHT(a, e)"}
"""What is read in a way of its own (kernels/program/program_types.cuh)."""


class CudaGlue:
    """Writes CUDA C++."""

    def __init__(self, definition: Definition, ending: Function | None = None):
        self.of, self.ending = definition, ending

    def text(self) -> str:
        of = self.of
        made = [
            "#define GD_PROGRAM_OF_CALLER",
            f"#define GD_AGGREGATES {len(of.aggregates)}",
            f"#define GD_COUNTS {int(of.counts)}",
            "__device__ __forceinline__ long long program_name(const long long *names, long long base, long long v) {",
            "    return base < 0 ? names[v] : v + base;",
            "}",
        ]
        made += [function.code.cuda(function.name) for function in of.functions]
        fields = [f"    {kind} v{k};" for k, kind in enumerate(self._part_types())]
        made += ["struct Message {", *fields, *(["    long long at;"] if of.chooses else []), "};"]
        parts = [
            self._begin(), self._value_of(), self._message(), self._nothing(), self._merge(), self._got(), self._put(),
            self._takes_least(), self._apply(),
        ]  # fmt: skip
        if of.pushes:
            parts += [self._improves(), self._push(), self._take(), self._settled(), self._priority()]
        text = "\n".join(made) + "\n" + "\n".join(f"__device__ __forceinline__ {part}" for part in parts)
        return f"{text}\n{cuda_ending(of, self.ending)}"

    def _part_types(self) -> list[str]:
        of, types = self.of, []
        for kind in of.message.values():
            if of.combine == "sum" and kind == "int":
                types += ["long long", "long long"]
            else:
                types.append("double" if kind == "float" and not of.only_truth else "long long")
        return types + ["long long"] * of.chooses

    def _call(self, function: Function, results: list[str], failure: str = "failure") -> str:
        texts = ((place.field.type, READ.get(place.expression, place.expression)) for place in function.read)
        arguments = [CAST[kind].format(text) for kind, text in texts]
        addresses = [f"&{result}" for result in results]
        return f"{function.name}({', '.join([*arguments, *addresses, f'a.{failure}'])})"

    def _fail(self, field: int, reason: int, failure: str = "failure") -> str:
        return f"gd_failed(a.{failure}, {field}, {reason});"

    def _begin(self) -> str:
        lines = []
        for i, function in self.of.begins:
            kind = C_TYPE[self.of.state[i].kind]
            lines += [f"if (field == {i}) {{", f"    {kind} value{i};", f"    {self._call(function, [f'value{i}'])};"]
            lines += [f"    {line}" for line in self._checked(f"value{i}", i)]
            lines += [f"    a.state{i}[v] = (state{i}_t)value{i};", "}"]
        return "void begin(index_t v, long long field, const Program &a) {\n" + indented(lines) + "}"

    def _checked(self, value: str, i: int) -> list[str]:
        kind, dtype = self.of.state[i].kind, self.of.state[i].dtype
        if kind == "float":
            lines = [f"if ({value} != {value}) {self._fail(i, NOT_A_NUMBER)}"]
            if dtype == "float32":
                large = f"{TOO_LARGE_SINGLE} <= {value} && {value} < gd_infinity()"
                small = f"-{TOO_LARGE_SINGLE} >= {value} && {value} > -gd_infinity()"
                lines.append(f"if (({large}) || ({small})) {self._fail(i, TOO_WIDE)}")
            return lines
        if kind == "int" and dtype != "int64":
            least, most = self.of.state[i].extent
            return [f"if ({value} < {least}LL || {value} > {most}LL) {self._fail(i, TOO_WIDE)}"]
        return []

    def _sent(self) -> list[str]:
        of = self.of
        if of.send is None:
            return ["const bool given = true, r0 = true;"]
        lines = [f"{C_TYPE[kind]} r{k};" for k, kind in enumerate(of.sent_kinds)]
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

    def _value_of(self) -> str:
        head = "bool value_of(index_t v, const Program &a) {\n"
        if not self.of.by_source:
            return head + "    return false;\n}"
        lines = ["const index_t u = v;", *self._sent(), "if (given) {"]
        truth = " != 0" * self.of.only_truth
        lines += [f"    a.value{k}[v] = (message{k}_t)(r{k}{truth});" for k in range(len(self.of.message))]
        return head + indented([*lines, "}", "return given;"]) + "}"

    def _message(self) -> str:
        if self.of.by_source:
            given = "gd_bit(a.sends, u)" if self.of.pushes and self.of.may_be_silent else "true"
            lines = [
                f"if (!{given}) return false;",
                *self._parts([f"a.value{k}[u]" for k in range(len(self.of.message))]),
                "return true;",
            ]
        else:
            lines = [*self._sent(), *self._parts([f"r{k}" for k in range(len(self.of.message))]), "return given;"]
        head = "bool message(index_t u, index_t v, long long e, const Program &a, Message &sent) {\n"
        return head + indented(lines) + "}"

    def _nothing(self) -> str:
        of, made = self.of, []
        for k, kind in enumerate(of.message.values()):
            if of.combine in ("min", "max") and k == 0:
                least = of.combine == "min"
                if kind == "float":
                    made.append("gd_infinity()" if least else "-gd_infinity()")
                else:
                    made.append(f"{LARGEST}LL" if least else "GD_SMALLEST_INTEGER")
            elif of.combine == "sum" and kind == "int":
                made += ["0", "0"]
            else:
                made.append("0.0" if kind == "float" and not of.only_truth else "0")
        made += [f"{LARGEST}LL"] * (2 * of.chooses)
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
        return "Message merge(const Message &held, const Message &sent) {\n" + indented(lines) + "}"

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
        return "void put(index_t v, const Message &held, const Program &a) {\n" + indented(lines) + "}"

    def _combined(self, other: str) -> str:
        of, place = self.of, "a.message0 + v"
        if of.combine == "any":
            return f"if ({other}) a.message0[v] = 1;"
        if of.combine == "count":
            return f"atomicAdd((unsigned long long *)({place}), (unsigned long long)({other}));"
        return f"gd_atomic_{of.combine}({place}, (message0_t)({other}));"

    def _improves(self) -> str:
        """Whether a message may change what came so far, of which a cache may keep an earlier state; and whether it may
        be the first one."""
        better = {"any": "!held", "count": "true", "min": "sent.v0 < held"}.get(self.of.combine, "sent.v0 > held")
        lines = ["const message0_t held = a.message0[v];", "first = held == (message0_t)nothing().v0;"]
        head = "bool improves(index_t v, const Message &sent, const Program &a, bool &first) {\n"
        return head + indented([*lines, f"return {better};"]) + "}"

    def _settled(self) -> str:
        """Whether no message changes what came, where all lie between two of them (gd_ordered in exact.cuh)."""
        ends = {"any": "held.v0 != 0", "min": "gd_ordered(held.v0) <= least", "max": "gd_ordered(held.v0) >= most"}
        head = "bool settled(const Message &held, long long least, long long most) {\n"
        return head + indented([f"return {ends.get(self.of.combine, 'false')};"]) + "}"

    def _priority(self) -> str:
        sign = "-" * (self.of.combine == "max")
        priority = "0.0" if self.of.keeps is None else f"{sign}(double)a.state{self.of.keeps}[v]"
        return f"double priority(index_t v, const Program &a) {{\n    return {priority};\n}}"

    def _push(self) -> str:
        return self._combining("void push(index_t v, const Message &sent, const Program &a)", "sent.v0")

    def _take(self) -> str:
        return self._combining("void take(long long i, index_t v, const Program &a)", "a.given0[i]")

    def _combining(self, head: str, other: str) -> str:
        return f"{head} {{\n    {self._combined(other)}\n}}"

    def _takes_least(self) -> str:
        """Whether an aggregate is an extreme, of which the smallest of all words is kept, and not a sum."""
        least = [k for k, aggregate in enumerate(self.of.aggregates) if aggregate.combine in ("min", "max")]
        return f"bool takes_least(int k) {{\n    return {' || '.join(f'k == {k}' for k in least) or 'false'};\n}}"

    def _apply(self) -> str:
        of = self.of
        lines = []
        for i, field in enumerate(of.state):
            lines += [f"const state{i}_t old{i} = a.state{i}[v];", f"state{i}_t new{i} = old{i};"]
            lines.append(f"{C_TYPE[field.kind]} r{i};")
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
                f"{C_TYPE[kind]} x{k};",
                f"if ({self._call(aggregate.function, [f'x{k}'], f'failure{k}')}) {{",
            ]
            lines += [f"    {line}" for line in self._added(k, aggregate.combine, kind)]
            lines.append("}")
        head = "bool apply(index_t v, const Program &a, long long *sums) {\n"
        return head + indented([*lines, "return changed;"]) + "}"

    def _added(self, k: int, combine: str, kind: str) -> list[str]:
        if combine in ("count", "any"):
            return [f"if (x{k} != 0) gd_add_integer(sums, {k}, 1);"]
        lines = []
        if kind == "float":
            failure = self._fail(0, NOT_A_NUMBER, f"failure{k}")
            lines += [f"if (x{k} != x{k}) {{", f"    {failure}", f"    x{k} = 0.0;", "}"]
        if combine == "sum":
            return [*lines, f"gd_add_{'float' if kind == 'float' else 'integer'}(sums, {k}, x{k});"]
        key = f"gd_ordered(x{k})" if kind == "float" else f"(long long)x{k}"
        return [*lines, f"gd_take_least(sums, {k}, {key if combine == 'min' else f'~{key}'});"]
