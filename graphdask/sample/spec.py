"""Spec: a sampler in c-saw's terms: three functions, and how many vertices and neighbours a step takes.

Source: Pandey et al., c-saw, Section III and Figure 2 (VertexBias, EdgeBias, Update, FrontierSize, NeighborSize).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from graphdask.device.arrays import is_array
from graphdask.errors import FunctionError, InputError, shown
from graphdask.interface.kinds import choice, whole, whole_or_none
from graphdask.interface.suggest import public
from graphdask.kernels.functions.functions_fields import HOOKS, OF_WALK
from graphdask.partition.given import given_sequence
from graphdask.program.columns import Columns
from graphdask.program.translate import translate
from graphdask.program.translated import Translated
from graphdask.sample.fanouts import REDRAWN
from graphdask.sample.methods import DISTINCT, METHODS, known_bound

MOST_TRIED = (1 << 24) - 1
"""Neighbours that are drawn with `edge_bound`, or again until they are new, at most: trials are counted in 32 bits."""
MOST_KEPT = 1024
"""Neighbours that are chosen by a reservoir, at most, except for all: it is kept in order."""
MOST_DRAWN = (1 << 31) - 1
RESULTS = {
    "vertex_bias": ("int", "float"),
    "neighbor_size": ("int",),
    "edge_bias": ("int", "float"),
    "update": ("int",),
}
"""What functions may return: the first of these that one fits."""

Function = Callable[[Any], Any] | Translated


@public
@dataclass(frozen=True)
class Spec:
    """A sampler, step by step: which vertices of the pool, which of their neighbours, and what then is in the pool.

    An instance has a pool of vertices, at first its seeds. In each of `depth` steps

    1. `frontier_size` entries of the pool are chosen without replacement, in proportion to `vertex_bias`, or all of
       them, and leave it;
    2. of the neighbours of each chosen vertex (`per="vertex"`), or of all of them together (`per="layer"`),
       `neighbor_size` are chosen in proportion to `edge_bias`. Each is a sampled edge, in the order of the pool, and
       of one vertex as they were chosen;
    3. for each of these edges `update` names a vertex that goes into the pool, where its source was, or none.

    Candidates of bias 0 are as if they were not there: a vertex whose edges all have bias 0 is like one without edges.
    Without replacement one candidate after the other is chosen in proportion among what is left; where there are no
    more than asked for, all are chosen, and stand in their own order (neighbours in that of their numbers). A vertex
    without neighbours gives no edges and is gone from the pool.

    Parameters
    ----------
    vertex_bias : function of v, optional
        Returns the bias of an entry of the pool, an int or a float of 0 or more. Fields of v: `id`, `degree`, `depth`
        (steps before this one), `instance`, `place` (in the pool, from 0 on), and columns of the vertices, such as
        `v.score`. Default: all alike.
    edge_bias : function of e, optional
        Returns the bias of an edge, an int or a float of 0 or more. Fields of e: `source`, `destination`, `weight`,
        `source_degree`, `destination_degree`, `previous` (the vertex from which the source was reached, -1 for a
        seed), `destination_is_previous`, `destination_near_previous` (whether the destination is a neighbour of
        `previous`), `depth`, `instance`, `seed` (the instance's first vertex), columns of the edges, such as `e.time`,
        and of the vertices, such as `e.destination.score` and `e.source.score`. Default: all alike.
    update : function of e, optional
        Returns the vertex that goes into the pool, or -1 for none. The fields of `edge_bias`, and `random`, a float
        in [0, 1) drawn for this edge. Default: the destination.
    frontier_size : int, optional
        Entries of the pool that a step takes; default: all.
    neighbor_size : int, sequence of int, or function of v
        Edges to choose: the same in all steps, for each step, or for each vertex. -1 stands for all. A function, for
        `per="vertex"`, has the fields of `vertex_bias`, and `random`, a float in [0, 1) drawn for this vertex.
    per : {"vertex", "layer"}
        Whether that is for each vertex, or for all of an instance's step together.
    depth : int, optional
        Steps; may be left out where `neighbor_size` is a sequence.
    replace : bool
        Whether an edge may be chosen again in a step; then a vertex with neighbours gives as many as asked for.
    direction : {"out", "in"}
        Whether edges are followed or gone against; degrees and neighbours are in that direction.
    edge_bound : int or float, optional
        A number that no bias of an edge exceeds. Edges are then drawn by rejection, which evaluates the biases of some
        of a vertex's edges instead of all. The law is the same. Requires `per="vertex"`.
    select : {"auto", "inverse", "alias", "rejection", "reservoir", "repeated", "updated", "bipartite"}
        How edges are chosen by `edge_bias`. The law is the same, but not the edges: same seed and same method, same
        edges. `inverse`: a number below the sum of a vertex's biases says which; where the bias of an edge depends on
        the edge alone, these sums are kept with the graph, if that pays and there is memory, which changes no edge.
        `alias`: two numbers and a table of all edges' biases, which are to depend on the edge alone; with `replace`, or
        a `neighbor_size` of up to 1. The table is kept with the graph. `rejection`: with `edge_bound`, or for a
        function that returns one of a few constants. `reservoir`: of random numbers with the exponential law of rate
        `edge_bias`, one for each edge, the smallest ones say which, in one pass over the edges; their probabilities are
        right to within 2^-52. Without replacement, the ways of `neighbors` too: `repeated`: redraw until an edge is
        new; `bipartite`: a second number for the regions on either side of an edge that is chosen already, then redraw;
        where 128 redraws were in vain, these two go on among what is left. `updated`: among what is left, which is how
        `inverse` draws without replacement, so the edges are the same. Of `per="layer"` edges are drawn by these three
        or `inverse`. `auto`: all edges alike if the function reads no field that differs between the edges of a vertex;
        `rejection` with `edge_bound`, or if the greatest of its constants is at most 16 times the least; `alias` if it
        is possible and at least as many edges are to be drawn as the graph has, unless the function fails on some edge
        of the graph; else `inverse`.
    revisit : bool, optional
        Whether a vertex may come into the pool of an instance that it was in before. Default: where `update` is given,
        and in a walk, that is with `replace` and a `neighbor_size` of 1.

    Raises
    ------
    InputError
        For arguments that do not go together, or are out of their range.
    FunctionError
        For a function that cannot be translated, with its file and line.

    Notes
    -----
    Functions are translated as `graphdask.program.translate.translate` says, or are given as CUDA C++ by
    `Translated.from_cuda`. Both the fields and the results of functions name vertices by the caller's ids if these are
    whole numbers of 0 or more; else (strings, negative numbers) by numbers from 0 on, in the order of the ids. Columns
    are integers, floats and truth values; dates, times and durations are integers in the unit of their type. Up to 4
    columns of edges and 4 of vertices are read; a field that is named above hides a column of its name. Integer
    biases add up to less than 2^63 for each choice, exactly (2^59 by `alias`). Those of floats are first made multiples
    of a unit: the greatest of d candidates has about 61 - log2(d) binary places, and none above 0 becomes 0. So the
    same edges come out on every device.

    References
    ----------
    Pandey et al., c-saw: A Framework for Graph Sampling and Random Walk on GPUs, SC 2020, Section III.

    Examples
    --------
    >>> import graphdask as gd
    >>> def second(e):
    ...     if e.destination_is_previous:
    ...         return 0.5
    ...     return 1.0 if e.destination_near_previous else 2.0
    >>> node2vec = gd.sample.Spec(edge_bias=second, edge_bound=2.0, depth=4, replace=True)
    >>> G = gd.from_edges([0, 1, 2], [1, 2, 0])
    >>> gd.sample.run(G, node2vec, [0]).dst.tolist()
    [1, 2, 0, 1]
    """

    vertex_bias: Function | None = None
    edge_bias: Function | None = None
    update: Function | None = None
    frontier_size: int | None = None
    neighbor_size: int | Sequence[int] | Function = 1
    per: str = "vertex"
    depth: int | None = None
    replace: bool = False
    direction: str = "out"
    edge_bound: float | None = None
    select: str = "auto"
    revisit: bool | None = None

    def __post_init__(self) -> None:
        choice("per", self.per, ("vertex", "layer"))
        choice("select", self.select, METHODS)
        choice("direction", self.direction, ("out", "in"))
        if not isinstance(self.replace, bool | np.bool_):
            raise InputError(f"replace={shown(self.replace)} is neither True nor False")
        if self.revisit is not None and not isinstance(self.revisit, bool | np.bool_):
            raise InputError(f"revisit={shown(self.revisit)} is neither True, False nor None")
        if self.frontier_size is not None:
            self._set("frontier_size", whole("frontier_size", self.frontier_size, 1, MOST_DRAWN))
        elif self.vertex_bias is not None:
            raise InputError("vertex_bias chooses frontier_size vertices of the pool; give frontier_size too")
        self._check_sizes()
        for name in ("vertex_bias", "edge_bias", "update"):
            if getattr(self, name) is not None:
                translated(name, getattr(self, name))
        if self.edge_bound is not None:
            self._check_bound()
        self._check_method()
        if self.revisit is None:
            walks = bool(self.replace) and self.per == "vertex" and _all_ones(self.neighbor_size)
            self._set("revisit", self.update is not None or walks)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_sizes(self) -> None:
        size, depth = self.neighbor_size, self.depth
        if depth is not None:
            self._set("depth", whole("depth", depth, 0, MOST_DRAWN))
        if callable(size) or isinstance(size, Translated):
            if self.per == "layer":
                raise InputError('neighbor_size is a function of a vertex, which does not go with per="layer"')
            translated("neighbor_size", size)
            sizes: tuple[int, ...] = ()
        elif (isinstance(size, Sequence) and not isinstance(size, str)) or _of_several(size):
            of_each = given_sequence(
                "neighbor_size", size, "neither a whole number, a sequence of such, nor a function"
            )
            sizes = tuple(whole(f"neighbor_size[{step}]", each, -1, MOST_DRAWN) for step, each in enumerate(of_each))
            self._set("neighbor_size", sizes)
            if depth is None:
                self._set("depth", len(sizes))
            elif depth != len(sizes):
                raise InputError(f"depth={depth}, but neighbor_size has {len(sizes)} numbers, one for each step")
        else:
            sizes = (whole("neighbor_size", size, -1, MOST_DRAWN),)
            self._set("neighbor_size", sizes[0])
        if self.depth is None:
            raise InputError("depth is missing: how many steps there are")
        if self.replace and any(each < 0 for each in sizes):
            raise InputError("with replace=True a number of neighbours is needed; -1 stands for all of them, each once")

    def _check_bound(self) -> None:
        bound = self.edge_bound
        if self.edge_bias is None:
            raise InputError("edge_bound is a bound of edge_bias, and there is none")
        if self.per == "layer":
            raise InputError('edge_bound requires per="vertex"; a layer evaluates the biases of all its edges')
        if isinstance(bound, bool) or not isinstance(bound, int | float | np.number):
            raise InputError(f"edge_bound={shown(bound)} is not a number")
        if not (bound > 0 and math.isfinite(bound)) or (isinstance(bound, int) and bound >= 2**63):
            raise InputError(f"edge_bound={shown(bound)} must be above 0 and finite, an int below 2**63")
        self._check_least(translated("edge_bias", self.edge_bias))
        self._check_most("edge_bound", MOST_TRIED)

    def _check_least(self, bias: Translated) -> None:
        """Raise InputError for a bound below the least bias."""
        if bias.result == "int" and self.edge_bound is not None and self.edge_bound < 1:
            raise InputError(
                f"edge_bound={shown(self.edge_bound)}, but edge_bias returns integers; the least of them above 0 is 1"
            )

    def _check_method(self) -> None:
        if self.select == "auto":
            return
        if self.edge_bias is None:
            raise InputError(f"select={self.select!r} is a way to choose by edge_bias, and there is none")
        if self.select not in ("inverse", *DISTINCT) and self.per == "layer":
            raise InputError(
                f'select={self.select!r} is for per="vertex"; of a layer edges are chosen by inverse, '
                f"{', '.join(DISTINCT)}"
            )
        if self.select in DISTINCT and self.replace:
            raise InputError(
                f"select={self.select!r} is a way to draw without replacement; leave it out with replace=True"
            )
        if self.edge_bound is not None and self.select != "rejection":
            raise InputError(f"edge_bound is for select='rejection', not {self.select!r}")
        if self.select == "rejection" and self.edge_bound is None:
            if known_bound(translated("edge_bias", self.edge_bias)) is None:
                raise InputError("select='rejection' needs edge_bound, a number that no bias of an edge exceeds")
            self._check_most("select='rejection'", MOST_TRIED)
        if self.select in REDRAWN:
            self._check_most(f"select={self.select!r}", MOST_TRIED)
        if self.select == "alias":
            self._check_alias()
        if self.select == "reservoir":
            self._check_most("select='reservoir'", MOST_KEPT)

    def _check_alias(self) -> None:
        bias = translated("edge_bias", self.edge_bias)
        of_walk = sorted(set(bias.fields) & OF_WALK)
        if of_walk:
            raise InputError(
                f"select='alias' is for biases that depend on the edge alone, and {bias.name} reads {of_walk[0]}; use "
                f"'inverse', 'rejection' or 'reservoir'"
            )
        if bias.called is not None:
            raise InputError("select='alias' is for functions in Python; use 'inverse' for one in CUDA C++")
        if not self.is_of_single_draws:
            raise InputError("select='alias' draws with replacement; give replace=True, or a neighbor_size of 1")

    def _check_most(self, name: str, most: int) -> None:
        sizes = self.neighbor_size if isinstance(self.neighbor_size, tuple) else (self.neighbor_size,)
        if any(isinstance(each, int) and each > most for each in sizes):
            raise InputError(f"with {name}, neighbor_size is {most:,} at most")

    @property
    def is_of_single_draws(self) -> bool:
        """Whether no edge that is drawn keeps another one from being drawn with it."""
        sizes = self.neighbor_size if isinstance(self.neighbor_size, tuple) else (self.neighbor_size,)
        return bool(self.replace) or all(isinstance(each, int) and 0 <= each <= 1 for each in sizes)

    @property
    def has_small_sizes(self) -> bool:
        """Whether it is known that no more neighbours are asked for than can be drawn by rejection."""
        sizes = self.neighbor_size if isinstance(self.neighbor_size, tuple) else (self.neighbor_size,)
        return all(isinstance(each, int) and each <= MOST_TRIED for each in sizes)

    def functions(self, integer_weights: bool, columns: Columns) -> dict[str, Translated]:
        """The functions that there are, for a graph whose weights are integers or not, and that has some columns."""
        given = {name: getattr(self, name) for name in HOOKS}
        return {
            name: translated(name, function, integer_weights, columns)
            for name, function in given.items()
            if callable(function) or isinstance(function, Translated)
        }

    def functions_for(self, G: Any) -> tuple[dict[str, Translated], Columns]:
        """The functions that there are, for a graph, and the columns that they read.

        Raises
        ------
        FunctionError
            For a function that asks for what the graph has not: a column, a value of it, or weights.
        """
        dtype = G.source.weight_dtype
        integers = dtype is not None and np.dtype(dtype).kind in "iu"
        columns = Columns.of(G)
        functions = self.functions(integers, columns)
        columns = columns.read(G, (field for function in functions.values() for field in function.fields))
        if columns.numbers:
            functions = self.functions(integers, columns)
        for function in functions.values():
            if dtype is None and "weight" in function.fields:
                raise function.refused("asks for the weight of an edge, but this graph has no weights")
        if self.edge_bound is not None:
            self._check_least(functions["edge_bias"])
        return functions, columns


def translated(
    name: str, function: Any, integer_weights: bool | None = None, columns: Columns | None = None
) -> Translated:
    """A function of a spec, translated; None: it is not known yet whether weights are integers, and which columns
    there are.

    Raises
    ------
    FunctionError
        If it cannot be, or is one translated for other fields or another result.
    """
    if not isinstance(function, FunctionType | Translated):
        raise FunctionError(
            f"{name}={shown(function)} is not a plain Python function: give one written with def or lambda"
        )
    types = dict(HOOKS[name].types)
    if columns is None:
        if isinstance(function, Translated):
            return translated(name, function, integer_weights, Columns())
        first = None
        for kind in ("float", "int"):
            for whole_weights in (False, True) if integer_weights is None else (integer_weights,):
                try:
                    return translated(name, function, whole_weights, Columns(kind=kind))
                except FunctionError as error:
                    first = first or error
        assert first is not None
        raise first.with_traceback(None)
    if "weight" in types and integer_weights:
        types["weight"] = "int"
    if isinstance(function, Translated):
        for field, kind in zip(function.fields, function.types, strict=True):
            if types.get(field) != kind and not (field == "weight" and integer_weights is None and kind == "int"):
                known = ", ".join(f"{field} ({kind})" for field, kind in types.items())
                raise FunctionError(f"{function.name} takes {field} ({kind}); the fields of {name} are {known}")
        if function.result not in RESULTS[name]:
            raise FunctionError(f"{function.name} returns {function.result}; {name} returns {RESULTS[name][-1]}")
        return function
    fields = {path: field for path, field in columns.fields(HOOKS[name].columns).items() if path not in types}
    *others, last = RESULTS[name]
    for result in others:
        try:
            return translate(function, types, result, fields)
        except FunctionError:  # it may return a float; what else is wrong is so with that too
            pass
    return translate(function, types, last, fields)


def _of_several(size: Any) -> bool:
    """Whether an array is no whole number; NumPy's and tensors of one element may be."""
    return is_array(size) and whole_or_none(size) is None


def _all_ones(size: Any) -> bool:
    return all(each == 1 for each in (size if isinstance(size, tuple) else (size,)))
