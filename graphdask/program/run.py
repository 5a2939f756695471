"""gd.run: run a program over a graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphdask import execute
from graphdask.errors import InputError, shown
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.kinds import whole
from graphdask.interface.parameters import documented
from graphdask.partition.given import given_array
from graphdask.partition.vertex_map import index_dtype
from graphdask.program.columns import Columns
from graphdask.program.definition import Definition, StateField
from graphdask.program.primitive import VertexProgram
from graphdask.program.program import MOST_SUPERSTEPS, VALUES, Program, check_until, check_value
from graphdask.program.result import ProgramResult
from graphdask.program.start import States, over, states_of


@documented
def run(
    G: Graph,
    program: Program,
    active: Any = None,
    init: Mapping[str, Any] | None = None,
    max_supersteps: int | None = None,
    until: Any = None,
    start: Any = None,
    *,
    exchange: str | None = None,
    checkpoint: Any = None,
    every: Any = None,
    client: Any = None,
    progress: bool | None = None,
) -> ProgramResult:
    """Run your own graph algorithm, a `gd.Program`.

    Parameters
    ----------
    G : Graph
        In memory, or on disk (`graphdask.stream.open`): the result has the same bits.
    program : Program
        What vertices know, send and compute.
    active : vertex id or array of vertex ids, optional
        The vertices that send in the first superstep. Default: all.
    init : mapping of str to values, optional
        First states, by the name of the field: a mapping of vertex ids to values, or an array of shape (num_vertices,)
        in the order of `G.vertex_ids`. What is left out has the default of the program.
    max_supersteps : int, optional
        The run ends after so many supersteps. Default: as the program says, or no limit.
    until : function of a, optional
        In place of that of the program.
    start : ProgramResult, optional
        An earlier result of a program with the same fields, whose states the run begins with; `init` overrides them.
        It may be of a graph with fewer vertices, such as a DynamicGraph before it grew. New vertices have the defaults.

    Returns
    -------
    ProgramResult
        An attribute for each field of the state, an array of shape (num_vertices,) in the order of `vertex_ids`;
        `iterations`, the number of supersteps; `aggregates`, their last values. The same bits for every number of
        partitions and on every device; but `iterations` depends on these where the best states were sent first.

    Raises
    ------
    VertexNotFound
        For an id that is no vertex, or a vertex of `start` that the graph has not.
    FunctionError
        If a function fails, or returns NaN or what does not fit; if it reads what is neither a field nor a column of
        the graph, or a column that has missing values or holds no numbers, truth values, dates, times or durations.
        The message has its line.
    InputError
        For an argument out of its range, or a function that asks for weights that the graph has not.
    Unsupported
        For a function in CUDA C++ on a CPU; for a graph on disk without the in-edges that the program needs.
    OverBudget
        Where the states of the vertices do not fit, before any work.

    References
    ----------
    Pan et al., Multi-GPU Graph Analytics, IPDPS 2017, Section III.

    Examples
    --------
    >>> import graphdask as gd
    >>> smallest = gd.Program(
    ...     state={"label": (int, lambda v: v.id)},
    ...     message=(int, "min"),
    ...     send=lambda e: e.source.label,
    ...     apply=lambda v, m: m < v.label and {"label": m},
    ...     direction="both",
    ... )
    >>> gd.run(gd.from_edges([1, 3], [2, 4], num_vertices=5), smallest).label.tolist()
    [0, 1, 1, 3, 3]
    """
    checked_graph(G)
    if not isinstance(program, Program):
        raise InputError(f"program={shown(program)} is not a gd.Program; gd.Program(state=, message=, ...) makes one")
    dtype = G.source.weight_dtype
    weight = None if dtype is None else "int" if np.dtype(dtype).kind in "iu" else "float"
    columns = Columns.of(G)
    definition = Definition.of(program, weight, columns)
    columns = columns.read(G, definition.fields_read)
    if columns.numbers:
        definition = Definition.of(program, weight, columns)
    most = (
        program.max_supersteps
        if max_supersteps is None
        else whole("max_supersteps", max_supersteps, 0, MOST_SUPERSTEPS)
    )
    until = program.until if until is None else until
    check_until(until)
    if definition.everyone and most is None and until is None:
        raise InputError('a program with activity="all" never ends by itself: give max_supersteps= or until=')
    first: States = {} if start is None else states_of(G.ids, definition, start)
    first = over(first, _first(G, definition, init))
    primitive = VertexProgram(definition, _active(G, active), first, most, until, *G.ids.in_functions, G.directed)
    return execute.run(
        G, primitive, exchange=exchange, checkpoint=checkpoint, every=every, client=client, progress=progress
    )


def _active(G: Graph, active: Any) -> np.ndarray | None:
    """Distinct vertex numbers, ascending; None for all."""
    if active is None:
        return None
    numbers = G.ids.to_internal(np.atleast_1d(given_array("active", active)), "active vertex")
    if numbers.ndim != 1:
        raise InputError(f"active has {numbers.ndim} dimensions; give a vertex or an array of vertices")
    return np.unique(numbers).astype(index_dtype(G.num_vertices))


def _first(G: Graph, definition: Definition, init: Any) -> States:
    """First states that the caller gives."""
    if init is None:
        return {}
    if not isinstance(init, Mapping):
        raise InputError(f"init={shown(init)} is not a mapping of fields of the state to values")
    fields = {field.name: field for field in definition.state}
    found: States = {}
    for name, given in init.items():
        if name not in fields:
            raise InputError(f"init: there is no field {shown(name)} of the state; fields: {', '.join(fields)}")
        field = fields[name]
        if isinstance(given, Mapping):
            numbers = G.ids.to_internal(list(given), f"init[{name!r}]: vertex").astype(index_dtype(G.num_vertices))
            values = [check_value(f"init[{name!r}][{shown(key)}]", field, value) for key, value in given.items()]
            found[name] = numbers, np.array(values, field.stored)
        else:
            found[name] = None, _all_values(G, field, given)
    return found


def _all_values(G: Graph, field: StateField, given: Any) -> np.ndarray:
    values = given_array(f"init[{field.name!r}]", given)
    if values.shape != (G.num_vertices,):
        raise InputError(
            f"init[{field.name!r}] has the shape {values.shape}; give one value for each of {G.num_vertices:,} "
            "vertices, or a mapping of some of them"
        )
    allowed = {"bool": "b", "int": "bui", "float": "buif"}[field.kind]
    if values.dtype.kind not in allowed:
        raise InputError(
            f"init[{field.name!r}] is an array of {values.dtype}, and the field is {field.dtype}; "
            f"each value is {VALUES[field.dtype]}"
        )
    with np.errstate(over="ignore"):
        out = values.astype(field.stored)
    unfit = np.isnan(out) | (np.isinf(out) & ~np.isinf(values)) if field.kind == "float" else out != values
    if unfit.any():
        first = values[np.flatnonzero(unfit)[0]]
        raise InputError(f"init[{field.name!r}] has {first}, which is no {field.dtype}; give {VALUES[field.dtype]}")
    return out
