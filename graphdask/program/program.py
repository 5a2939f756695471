"""Program: a graph algorithm as plain Python functions of a vertex and of an edge."""

from __future__ import annotations

import inspect
import keyword
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.errors import FunctionError, InputError, shown
from graphdask.interface.kinds import choice, whole
from graphdask.interface.suggest import public
from graphdask.program.definition import INTEGERS, Definition, aggregates_of, message_of, state_of
from graphdask.program.fields import OF_VERTICES
from graphdask.program.translated import Translated
from graphdask.results.result import Result

COMBINE = ("min", "max", "sum", "any", "count", "first")
AGGREGATED = ("sum", "min", "max", "any", "count")
MOST_SUPERSTEPS = (1 << 31) - 1
TAKEN = frozenset({*OF_VERTICES, "superstep", "received", "source", "destination", "weight", "active"})
"""Names of other fields."""

VALUES = {
    "bool": "True or False",
    **{name: f"an integer of {np.iinfo(name).bits} bits{', not negative' * (name[0] == 'u')}" for name in INTEGERS},
    "float32": "a number within the range of float32, not NaN",
    "float64": "a number, not NaN",
}
"""What a field of each type takes."""

Given = Callable[..., Any] | Translated


@public
@dataclass(frozen=True)
class Program:
    """A graph algorithm, vertex by vertex: what a vertex knows, what it sends, and what it does with what it gets.

    Every vertex has a state. In a superstep each active vertex sends a message along each of its edges, messages to
    one vertex are combined into one, and each vertex that got a message computes a new state from it. A vertex whose
    state changed is active in the next superstep. The run ends when no vertex is active.

    Parameters
    ----------
    state : mapping of str to (type, default)
        The fields of the state, 8 at most. Types: `int`, `float`, `bool`, `numpy.float32`, and integers of NumPy from
        `int8` to `int64` and from `uint8` to `uint32`, which take less memory; functions compute with 64 bits. The
        default is a number, or a function of v that reads its `id`, `degree`, `in_degree` or columns.
    message : (type, combine), "any" or "count"
        The type of a message, and how messages to one vertex become one: `min`, `max`, `sum`, `any` (whether one of
        them is true), `count` (how many of them are true), or `first` (that of the smallest vertex that sends one). A
        message may have several fields, up to 4: a tuple or a dict of types. Then `min` and `max` choose by the first
        field and carry the others; of equal messages that of the smallest vertex stays. Of parallel edges the lightest
        counts, and with `direction="both"` an edge from the vertex that sends precedes an edge to it.
    send : function of e, optional
        Returns the message along an edge, a number, a tuple or a dict as `message` says, or None for none. Fields of
        e: `source` and `destination`, the vertices that send and receive, each with its state, `id`, `degree`,
        `in_degree` and columns, such as `e.source.distance`; `weight`; `superstep`, counted from 0; columns of the
        edge, such as `e.time`. Default, for `any` and `count`: True.
    apply : function of v and m
        Returns the new state of a vertex, a dict; fields that are not in it stay. None or False: all stay. Fields of
        v: its state, `id`, `degree`, `in_degree`, `superstep`, `received` (how many messages came), the aggregates of
        the superstep before, and columns. m is the message, or has its fields: `m[0]` of a tuple, `m.name` of a dict.
    direction : {"out", "in", "both"}
        Along which edges of the vertex that sends messages go.
    activity : {"changed", "all"}
        "all": every vertex sends in every superstep, and every vertex gets a new state, also without a message; then m
        is 0, or for `min` and `max` in the first field infinity, or the greatest and smallest integer.
    aggregate : mapping of str to (combine, function of old and new), optional
        Numbers of the whole graph, 4 at most: the sum, the minimum or maximum, whether any is true (`any`), or how many
        are (`count`), of what the function returns for each vertex that computed a state. Fields of `old` and `new`:
        the state before and after; of `new` also `id`, `degree`, `in_degree` and columns. Sums are exact, then rounded
        once.
    until : function of a, optional
        The run ends after a superstep for which it returns true: a has each aggregate, `active` (how many vertices
        changed) and `superstep` (how many there were). Python calls it, or a kernel, translated as other functions are,
        where that gives the same.
    max_supersteps : int, optional
        The run ends after so many supersteps. Needed for `activity="all"`, unless `until` is given.

    Raises
    ------
    InputError
        For arguments that do not go together, or are out of their range.
    FunctionError
        For a function that cannot be translated, with its file and line.

    Notes
    -----
    Columns of edges and vertices are fields of functions by their names, up to 4 of each kind: integers, floats and
    truth values, and dates, times and durations as integers in the unit of their type. A field of the state, or one
    that is named above, hides a column of its name. Whether a graph has a column is known to `gd.run`.

    Functions are translated for CPU and GPU as `graphdask.program.translate.translate` says. Results are the same bits
    for every number of partitions and on every device: floats are added in the order of the ids of the vertices that
    send, in eight lanes.

    References
    ----------
    Pan et al., Multi-GPU Graph Analytics, IPDPS 2017. Malewicz et al., Pregel: a system for large-scale graph
    processing, SIGMOD 2010. Kulisch and Miranker, The arithmetic of the digital computer, SIAM Review 28 (1986).

    Examples
    --------
    >>> import math
    >>> import graphdask as gd
    >>> shortest = gd.Program(
    ...     state={"distance": (float, math.inf)},
    ...     message=(float, "min"),
    ...     send=lambda e: e.source.distance + e.weight,
    ...     apply=lambda v, m: m < v.distance and {"distance": m},
    ... )
    >>> G = gd.from_edges([0, 0, 1], [1, 2, 2], [1.0, 5.0, 2.0])
    >>> gd.run(G, shortest, active=[0], init={"distance": {0: 0.0}}).distance.tolist()
    [0.0, 1.0, 3.0]
    """

    state: Mapping[str, tuple[Any, Any]]
    message: Any
    send: Given | None = None
    apply: Given | None = None
    direction: str = "out"
    activity: str = "changed"
    aggregate: Mapping[str, tuple[str, Given]] | None = None
    until: Callable[[Any], Any] | None = None
    max_supersteps: int | None = None

    def __post_init__(self) -> None:
        choice("direction", self.direction, ("out", "in", "both"))
        choice("activity", self.activity, ("changed", "all"))
        self._check_state()
        self._check_message()
        self._check_aggregates()
        if self.apply is None:
            raise InputError("apply is missing: the function of v and m that returns a new state")
        check_until(self.until)
        if self.max_supersteps is not None:
            whole("max_supersteps", self.max_supersteps, 0, MOST_SUPERSTEPS)
        self._check_functions()

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_functions(self) -> None:
        """Raise FunctionError for functions that suit neither weights that are floats nor integers."""
        try:
            Definition.of(self, "float")
        except FunctionError as error:
            try:
                Definition.of(self, "int")
            except FunctionError:
                raise error from None

    def _check_state(self) -> None:
        if not isinstance(self.state, Mapping) or not self.state:
            raise InputError(f"state={shown(self.state)} is not a mapping of names to (type, default)")
        for name, entry in self.state.items():
            _check_name("state", name)
            if hasattr(Result, name) or name in ("stats", "parts", "graph", "primitive", "built", "iterations"):
                raise InputError(f"state: results have another attribute {name}; choose another name")
            if not (isinstance(entry, tuple) and len(entry) == 2):
                raise InputError(f"state[{name!r}]={shown(entry)} is not (type, default)")
        for field, (_, default) in zip(state_of(self.state), self.state.values(), strict=True):
            if not callable(default) and not isinstance(default, Translated):
                check_value(f"state[{field.name!r}]: the default", field, default)

    def _check_message(self) -> None:
        given = self.message
        if isinstance(given, str) and given in ("any", "count"):
            given = (bool if given == "any" else int, given)
        if not (isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], str)):
            raise InputError(f'message={shown(self.message)} is not (type, combine), such as (float, "min")')
        kinds, combine = given
        choice("the combine of message", combine, COMBINE)
        for name in message_of(kinds, combine):
            if name:
                _check_name("message", name)
        if self.send is None and combine not in ("any", "count"):
            raise InputError(f"send is missing: the function of e that returns a message to be combined by {combine}")
        self._set("message", given)

    def _check_aggregates(self) -> None:
        given = {} if self.aggregate is None else self.aggregate
        if not isinstance(given, Mapping):
            raise InputError(f"aggregate={shown(given)} is not a mapping of names to (combine, function)")
        aggregates_of(given)
        for name, entry in given.items():
            _check_name("aggregate", name)
            if name in self.state:
                raise InputError(f"aggregate: {name} is a field of the state too; choose another name")
            if not (isinstance(entry, tuple) and len(entry) == 2):
                raise InputError(f"aggregate[{name!r}]={shown(entry)} is not (combine, function)")
            choice(f"aggregate[{name!r}]", entry[0], AGGREGATED)


def _check_name(what: str, name: Any) -> None:
    plain = isinstance(name, str) and name.isidentifier() and name.isascii() and not name.startswith("_")
    if not plain or keyword.iskeyword(name):
        raise InputError(f"{what}: {shown(name)} is not a name that Python and C++ have in common")
    if name in TAKEN:
        raise InputError(f"{what}: {name} is a field that every vertex or edge has; choose another name")


def check_until(until: Any) -> None:
    """Raise InputError if it is no function that can be called with the aggregates alone; None is fine."""
    if until is None:
        return
    if not callable(until):
        raise InputError(f"until={shown(until)} is not a function of the aggregates")
    try:
        inspect.signature(until).bind(None)
    except TypeError as error:
        raise InputError(
            f"until is a function of one argument, the aggregates, and this one refuses it: {error}"
        ) from error
    except ValueError:  # of C, and does not say what it takes
        pass


def check_value(what: str, field: Any, value: Any) -> Any:
    """Return a number for a field of the state as Python has it; raise InputError for what it cannot hold."""
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    fits = isinstance(value, bool) if field.kind == "bool" else isinstance(value, int | float)
    if field.kind == "int":
        least, most = field.extent
        fits = isinstance(value, int) and least <= value <= most
    elif field.kind == "float" and fits:
        fits = value in (math.inf, -math.inf) or abs(value) <= float(np.finfo(field.dtype).max)
    if not fits:
        raise InputError(f"{what} is {shown(value)}, which is no {field.dtype}; give {VALUES[field.dtype]}")
    return value
