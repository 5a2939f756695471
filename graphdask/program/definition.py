"""A program for a graph: its functions translated, and what follows from what they read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from graphdask.errors import FunctionError, InputError, shown
from graphdask.kernels.program.program_pack import AGGREGATES, MESSAGES, STATES
from graphdask.program._free_order import FreeOrder, free_order
from graphdask.program._kept_field import Kept, kept_field
from graphdask.program.columns import Columns, Read, read_by
from graphdask.program.fields import Place, Places, of_change, of_column, of_edge, of_message, of_start, of_vertex
from graphdask.program.translate import Field, translate_record
from graphdask.program.translated import Translated

INTEGERS = ("int64", "int32", "int16", "int8", "uint32", "uint16", "uint8")
DTYPES = {"float64": "float", "float32": "float", **dict.fromkeys(INTEGERS, "int"), "bool": "bool"}
"""Of a field of the state, with its type in functions."""
PUSHED = ("min", "max", "any", "count")
"""Ways to combine that come to the same in any order, by one operation of a processor."""
PULLED_TOO = "and pulled where many vertices of an undirected graph send and one rank has all of it"


@dataclass(frozen=True)
class StateField:
    """A field of the state."""

    name: str
    kind: str
    """`int`, `float` or `bool`: its type in functions."""
    dtype: str
    """In arrays of the caller; a `bool` takes a byte in kernels."""
    default: float | None
    """None where a function gives it."""

    @property
    def stored(self) -> np.dtype:
        """In kernels."""
        return np.dtype("uint8" if self.kind == "bool" else self.dtype)

    @property
    def extent(self) -> tuple[int, int]:
        """The least and the greatest value of a field of integers."""
        limits = np.iinfo(self.dtype)
        return int(limits.min), int(limits.max)


@dataclass(frozen=True)
class Function:
    """A function of the caller in the kernels."""

    name: str
    """In their texts."""
    code: Translated
    places: Places

    def reads(self, role: str) -> set[str]:
        """What it reads of a role: fields of the state, `id`, `degree`, `in_degree`."""
        return {place.reads for place in self.read if place.role == role}

    @property
    def roles(self) -> set[str]:
        """The roles of which it reads anything."""
        return {place.role for place in self.read}

    @property
    def read(self) -> list[Place]:
        """Where it finds its fields, in the order in which it is given them."""
        places: dict[str, Place] = {place.field.name: place for place in self.places.values()}
        fields = zip(self.code.fields, self.code.types, strict=True)
        return [places[name] if name in places else of_column(Field(name, kind)) for name, kind in fields]


@dataclass(frozen=True)
class Aggregate:
    """A number of all vertices."""

    name: str
    combine: str
    kind: str
    function: Function


@dataclass(frozen=True)
class Definition:
    """A program whose functions are translated. It can be pickled."""

    state: tuple[StateField, ...]
    message: Mapping[str, str]
    """Types of the fields by name; "" is the name of the one of a message that is a number."""
    combine: str
    send: Function | None
    """None where every edge sends True."""
    apply: Function
    begins: tuple[tuple[int, Function], ...]
    """First states, by the number of the field."""
    aggregates: tuple[Aggregate, ...]
    direction: str
    everyone: bool
    """Whether all vertices send in every superstep, and get a new state."""
    columns: Mapping[Read, int] = field(default_factory=dict)
    """The columns of the graph that functions read, with their numbers."""
    kept: int | None = None
    """The field of the state that keeps the least or greatest message, if it is seen that one does."""
    free: FreeOrder | None = None
    """What messages add to it, where the answer is seen not to depend on the order in which vertices send."""

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """All of them. Of several that fail the first is named, so `apply` precedes what it feeds."""
        first = [function for _, function in self.begins]
        pair = [*([] if self.send is None else [self.send]), self.apply]
        if self.pushes or self.by_source:
            pair.reverse()
        return (*first, *pair, *(aggregate.function for aggregate in self.aggregates))

    @cached_property
    def by_source(self) -> bool:
        """Whether a vertex sends the same along all of its edges."""
        return self.send is not None and self.send.roles <= {"source", "run"}

    @cached_property
    def may_be_silent(self) -> bool:
        """Whether `send` may give nothing."""
        return self.send is not None and self.send.code.silent

    @property
    def chooses(self) -> bool:
        """Whether one of the messages is chosen, and who sent them decides between equal ones."""
        return self.combine == "first" or (self.combine in ("min", "max") and len(self.message) > 1)

    @property
    def adds_floats(self) -> bool:
        """Whether the order matters in which messages are combined."""
        return self.combine == "sum" and "float" in self.message.values()

    @cached_property
    def pushes(self) -> bool:
        """Whether messages are combined where they arrive; else each vertex goes over its edges."""
        return self.why_pulled is None

    @property
    def why_pulled(self) -> str | None:
        """Why messages cannot be combined where they arrive, as a clause after "because"; None if they can."""
        if self.everyone:
            return "all vertices send in every superstep"
        if len(self.message) > 1:
            return "a message has several fields"
        if self.combine not in PUSHED:
            return f"{self.combine} is not one of {', '.join(PUSHED)}"
        if self.send is not None and self.send.reads("destination"):
            return "send reads the destination"
        return None

    @property
    def keeps(self) -> int | None:
        """The field of the state that is the least or greatest of what came; a message that is no less is dropped."""
        reads_time = self.send is not None and "run" in self.send.roles
        return self.kept if self.pushes and not (self.aggregates or self.counts or reads_time) else None

    @property
    def free_order(self) -> FreeOrder | None:
        """What messages add to the field that keeps the least of them, where vertices may send in any order."""
        return None if self.keeps is None else self.free

    @property
    def chosen(self) -> dict[str, Any]:
        """How messages are combined, and why, for statistics."""
        why = self.why_pulled or f"{self.combine} of one number is the same in any order, {PULLED_TOO}"
        return {"messages": "pushed" if self.pushes else "pulled", "because": why}

    @property
    def sums_values(self) -> bool:
        """Whether what comes to a vertex is the sum of one float of each neighbour, in every superstep."""
        floats = self.combine == "sum" and tuple(self.message.values()) == ("float",)
        return floats and self.everyone and self.by_source and not self.counts and self.direction != "both"

    @cached_property
    def counts(self) -> bool:
        """Whether a function asks how many messages came."""
        return "received" in self.apply.reads("message")

    @property
    def reads_weights(self) -> bool:
        """Whether messages depend on the weights of edges."""
        return self.send is not None and "weight" in self.send.roles

    @property
    def sends_columns(self) -> bool:
        """Whether messages depend on columns of the graph."""
        return self.send is not None and any(map(read_by, self.send.code.fields))

    @property
    def fields_read(self) -> set[str]:
        """The names of the fields that functions read."""
        return {name for function in self.functions for name in function.code.fields}

    def wants(self, what: str) -> bool:
        """Whether a function asks for `id`, `degree` or `in_degree`."""
        return what in self._wanted

    @cached_property
    def _wanted(self) -> frozenset[str]:
        roles = "source", "destination", "vertex"
        return frozenset().union(*(function.reads(role) for function in self.functions for role in roles))

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """Equal for definitions whose kernels have the same text."""
        functions = tuple((each.name, each.code.digest, each.code.fields) for each in self.functions)
        aggregates = tuple((each.combine, each.kind) for each in self.aggregates)
        fields = tuple((field.kind, field.dtype) for field in self.state)
        return fields, tuple(self.message.items()), self.combine, functions, aggregates, self.pushes, self.keeps

    @cached_property
    def sent(self) -> tuple[int, ...]:
        """The fields of the state that other ranks have to know, where vertices go over their edges."""
        read = set() if self.send is None or self.by_source else self.send.reads("source")
        return tuple(i for i, field in enumerate(self.state) if field.name in read)

    @property
    def asks_ids(self) -> bool:
        """Whether functions, or choices among messages, ask for the ids of vertices."""
        return self.wants("id") or self.chooses

    def nothing(self, k: int) -> Any:
        """What field k of a message is without one."""
        if self.combine not in ("min", "max") or k:
            return 0
        least, real = self.combine == "min", self.message_dtypes[0].kind == "f"
        if real:
            return math.inf if least else -math.inf
        return np.iinfo(np.int64).max if least else np.iinfo(np.int64).min

    @property
    def only_truth(self) -> bool:
        """Whether of a message counts only whether it is true."""
        return self.combine in ("any", "count")

    @property
    def sent_kinds(self) -> tuple[str, ...]:
        """The types of what `send` returns."""
        return tuple(_sendable(kind, self.combine) for kind in self.message.values())

    @property
    def message_dtypes(self) -> tuple[np.dtype, ...]:
        """Of the messages in kernels."""
        if self.combine == "any":
            return (np.dtype(np.uint8),)
        if self.combine == "count":
            return (np.dtype(np.int64),)
        return tuple(np.dtype(np.float64 if kind == "float" else np.int64) for kind in self.message.values())

    @classmethod
    def of(cls, program: Any, weight: str | None, columns: Columns | None = None) -> Definition:
        """Translate the functions of a `gd.Program`.

        Parameters
        ----------
        weight : {"int", "float"} or None
            The type of the graph's weights, None without.
        columns : Columns, optional
            Those of the graph. Default: the graph is not known.
        """
        columns = Columns() if columns is None else columns
        state, message = state_of(program.state), message_of(*program.message)
        kinds = {field.name: field.kind for field in state}
        combine, positions = program.message[1], isinstance(program.message[0], tuple)
        edge = of_edge(kinds, weight or "float")
        send = None
        if program.send is not None:
            results = {name or "message": _sendable(kind, combine) for name, kind in message.items()}
            send = _function("send_of_caller", "send", program.send, [edge], results, [columns.of_edge], optional=True)
            if weight is None and "weight" in send.roles:
                raise send.code.refused("asks for the weight of an edge, but this graph has no weights")
        begins = []
        for i, (name, (_, default)) in enumerate(program.state.items()):
            if callable(default) or isinstance(default, Translated):
                results = {name: state[i].kind}
                what = f"state[{name!r}]"
                code = _function(f"begin{i}_of_caller", what, default, [of_start()], results, [columns.of_vertex])
                begins.append((i, code))
        aggregates: list[Aggregate] = []
        for k, (name, (how, function)) in enumerate((program.aggregate or {}).items()):
            aggregates.append(_aggregate(k, name, how, function, kinds, columns))
        vertex = of_vertex(kinds, {each.name: each.kind for each in aggregates})
        received = of_message({name: _received(kind, combine) for name, kind in message.items()}, positions)
        old = {field.name: vertex[field.name].field for field in state}
        apply = _function(
            "apply_of_caller", "apply", program.apply, [vertex, received], kinds, [columns.of_vertex, {}], old, True
        )
        kept = None if isinstance(program.apply, Translated) else kept_field(program.apply, combine)
        number = _number(state, message, kept)
        free = None
        if kept is not None and number is not None and kept.alone and not isinstance(program.send, Translated):
            free = free_order(program.send, kept.field, combine)
        return cls(
            state, message, combine, send, apply, tuple(begins), tuple(aggregates), program.direction,
            program.activity == "all", columns.numbers, number, free,
        )  # fmt: skip


def _number(state: tuple[StateField, ...], message: Mapping[str, str], kept: Kept | None) -> int | None:
    """The number of the field that keeps the least or greatest of messages of its own type."""
    kinds = [(field.name, field.kind) for field in state]
    wanted = (None if kept is None else kept.field, next(iter(message.values())))
    return kinds.index(wanted) if len(message) == 1 and wanted in kinds and wanted[1] != "bool" else None


def _sendable(kind: str, combine: str) -> str:
    """The type that `send` has to return: what is only counted may be any number."""
    return "float" if combine in ("any", "count") else kind


def _received(kind: str, combine: str) -> str:
    return {"any": "bool", "count": "int"}.get(combine, kind)


def _function(
    name: str, what: str, given: Any, places: list[dict[str, Place]], results: Mapping[str, str],
    columns: list[dict[str, Field]], defaults: Mapping[str, Field] | None = None, optional: bool = False,
) -> Function:  # fmt: skip
    if isinstance(given, Translated):
        code = given
        _check_given(what, code, [place.field for each in places for place in each.values()], results)
    elif not callable(given):
        raise InputError(f"{what}={shown(given)} is not a function: give one written with def or lambda")
    else:
        fields = [{path: place.field for path, place in each.items()} for each in places]
        for known, more in zip(fields, columns, strict=True):
            known |= {path: column for path, column in more.items() if path not in known}
        code = translate_record(given, fields, results, defaults=defaults, optional=optional, what=what)
    return Function(name, code, {f"{i}.{path}": place for i, each in enumerate(places) for path, place in each.items()})


def _check_given(what: str, code: Translated, fields: list[Field], results: Mapping[str, str]) -> None:
    """Raise FunctionError for a function in CUDA C++ with other fields or results than it can have."""
    kinds = {field.name: field.type for field in fields}
    for name, kind in zip(code.fields, code.types, strict=True):
        if kinds.get(name) != kind:
            known = ", ".join(f"{each} ({of})" for each, of in kinds.items())
            raise FunctionError(f"{what}: there is no field {name} of type {kind}. Fields: {known}")
    if code.results != tuple(results.items()):
        wanted = ", ".join(f"{name!r}: {kind!r}" for name, kind in results.items())
        raise FunctionError(
            f"{what}: {code.name} must have the results {{{wanted}}}; Translated.record_from_cuda says how"
        )


def _aggregate(k: int, name: str, combine: str, function: Any, kinds: Mapping[str, str], columns: Columns) -> Aggregate:
    places = list(of_change(kinds))
    kinds_tried = ("float",) if combine in ("count", "any") else ("int", "float")
    for kind in kinds_tried:
        try:
            made = _function(
                f"aggregate{k}_of_caller",
                f"aggregate[{name!r}]",
                function,
                places,
                {name: kind},
                [{}, columns.of_vertex],
            )
            break
        except FunctionError:
            if kind == kinds_tried[-1]:
                raise
    return Aggregate(name, combine, {"count": "int", "any": "bool"}.get(combine, kind), made)


def state_of(given: Mapping[str, Any]) -> tuple[StateField, ...]:
    """The fields of the state, in their order."""
    if len(given) > STATES:
        raise InputError(f"state has {len(given)} fields; a vertex has {STATES} at most")
    fields = []
    for name, (kind, default) in given.items():
        dtype = dtype_of(f"state[{name!r}]", kind)
        functional = callable(default) or isinstance(default, Translated)
        fields.append(StateField(name, DTYPES[dtype], dtype, None if functional else default))
    return tuple(fields)


def message_of(given: Any, combine: str) -> dict[str, str]:
    """The fields of a message: their types by name, "" for a message that is a number."""
    if isinstance(given, Mapping):
        fields = dict(given)
    elif isinstance(given, tuple):
        fields = {f"m{i}": kind for i, kind in enumerate(given)}
    else:
        fields = {"": given}
    if not 1 <= len(fields) <= MESSAGES:
        raise InputError(f"message has {len(fields)} fields; it has 1 to {MESSAGES}")
    if len(fields) > 1 and combine in ("any", "count"):
        raise InputError(f"message: {combine!r} combines messages of one field, and this has {len(fields)}")
    return {name: DTYPES[dtype_of("message", kind)] for name, kind in fields.items()}


def aggregates_of(given: Mapping[str, Any]) -> None:
    """Raise InputError for too many."""
    if len(given) > AGGREGATES:
        raise InputError(f"aggregate has {len(given)} entries; there are {AGGREGATES} at most")


def dtype_of(name: str, kind: Any) -> str:
    """The dtype that stands for a type of the caller."""
    known = {bool: "bool", int: "int64", float: "float64"}
    if isinstance(kind, type) and kind in known:
        return known[kind]
    try:
        dtype = np.dtype(kind).name
    except TypeError:
        dtype = ""
    if dtype not in DTYPES:
        raise InputError(
            f"{name}: the type {kind!r} is not one of int, float, bool, numpy.float32, numpy.float64, numpy.int8, "
            "int16, int32 and int64, numpy.uint8, uint16 and uint32"
        )
    return dtype
