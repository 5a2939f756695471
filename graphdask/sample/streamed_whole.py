"""Any sampler over a graph whose edges stay in host memory: a device reads them there, as if they were its own.

A GPU reads page-locked memory over the bus. So the kernels are those for a graph on the device, and the samples are the
same, bit for bit. Arrays with no more entries than there are rows (where these begin, sums) are copied to the device if
they use at most half of the memory that may be used. Edges, and tables with an entry for each edge, stay in host
memory. The host makes the tables, because on the device they would use as much memory as the edges. A CPU reads all of
it in place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from graphdask.device.backend import Array, Backend
from graphdask.device.residency import on_device, seen_in_place
from graphdask.engine.loop import Environment, RankResult, run_primitive
from graphdask.errors import OverBudget
from graphdask.partition.part import Part, Tables
from graphdask.sample.sampler import Sampler
from graphdask.sample.streamed import PREPARING, Streamed, budget_of, is_locked, locked_copy


def run(sampler: Sampler[Any], part: Part, host: Environment, env: Environment, options: Streamed) -> RankResult:
    """Draw the samples of a sampler; `part` is the whole graph in host memory, and `env` of the device."""
    budget = budget_of(options, env.backend, env.memory_share)
    with PREPARING:
        known = _Asked(part.tables)
        none = sampler.only(sampler.first, sampler.first)  # of whose memory tables are all there is
        _free_tables(sampler, part, host, lambda: none.memory(part, host.allocation), "tables")
        sampler.prepare(replace(part, tables=known), host)
        placed, of_rows = _placed(sampler, part, known.found, host, env, budget)
    needed = of_rows + sampler.memory(placed, env.allocation)
    if needed > budget:
        raise OverBudget(
            f"{sampler.name} of a streamed graph needs {needed:,} bytes of the device, where no edges are, and may use "
            f"{budget:,}; draw fewer instances at a time (graphdask.sample.in_chunks), or raise device_memory"
        )
    if options.device_memory is not None:
        env.memory_share = min(env.memory_share, (budget - of_rows) / max(env.backend.free_memory(), 1))
    assert env.comm is not None
    result = run_primitive(env.comm, placed, sampler, env)
    result.memory = needed
    result.values["streamed"] = {
        "scheme": "in-place", "partitions": 1, "resident": 0, "batches": 1, "transfers": 0, "nbytes": of_rows,
        "imbalance": 0.0, "in_place": sum(step.edges for step in result.supersteps),
    }  # fmt: skip
    return result


def _free_tables(sampler: Sampler[Any], part: Part, host: Environment, needed: Callable[[], int], what: str) -> None:
    """Let tables of calls before go, the oldest first, as long as the host lacks memory for so many bytes; raise
    OverBudget where that is not enough."""
    while (more := needed()) > (free := int(host.backend.free_memory() * host.memory_share)):
        if not part.tables.forget():
            less = 'use method="rejection", ' if sampler.method in ("alias", "inverse") else ""
            raise OverBudget(
                f"{what} for {sampler.name} of a streamed graph need {more:,} bytes of the host's memory, of which "
                f"{free:,} may be used; {less}use a host with more, or raise the setting graphdask.memory-fraction"
            )


def _placed(
    sampler: Sampler[Any], part: Part, tables: dict[Any, Any], host: Environment, env: Environment, budget: int
) -> tuple[Part, int]:
    """The partition with its arrays as the device reads them, and bytes of those that are copied there."""
    inward = part.inward if sampler.inward and part.inward is not part.out else None
    everything = [part.out, inward, part.ids, part.columns, *tables.values()]
    found = dict[int, np.ndarray]()
    changed(everything, lambda array: found.setdefault(id(array), array))
    of_rows = {place: array for place, array in found.items() if len(array) <= part.num_owned + 1}
    copied = sum(array.nbytes for array in of_rows.values())
    if env.backend.name == "cpu" or 2 * copied > budget:
        of_rows, copied = {}, 0
    if env.backend.name != "cpu":
        stay = [array for place, array in found.items() if place not in of_rows]

        def unlocked() -> int:
            return sum(array.nbytes for array in stay if not is_locked(part, env.backend, array))

        _free_tables(sampler, part, host, unlocked, "page-locked copies of edges")
    seen = {
        place: on_device(env.backend, array) if place in of_rows else _in_place(part, env.backend, array)
        for place, array in found.items()
    }
    out, inward, ids, columns, *made = changed(everything, lambda array: seen[id(array)])
    kept = _Made()
    for name, table in zip(tables, made, strict=True):
        kept.put(name, table)
    whole = out if part.inward is part.out else inward
    of_device = {"out": out, "inward": whole, "ids": ids, "columns": columns}
    return replace(part, **of_device, mirrors=None, mirrored=None, tables=kept), copied


def _in_place(part: Part, backend: Backend, array: np.ndarray) -> Array:
    """An array as the device reads it in host memory."""
    return array if backend.name == "cpu" else seen_in_place(backend, locked_copy(part, backend, array))


def changed(made: Any, change: Callable[[np.ndarray], Any]) -> Any:
    """The same with other arrays, in tuples, lists, dictionaries and the fields of dataclasses."""
    if isinstance(made, np.ndarray):
        return change(made)
    if isinstance(made, tuple | list):
        return type(made)(changed(each, change) for each in made)
    if isinstance(made, dict):
        return {name: changed(each, change) for name, each in made.items()}
    if is_dataclass(made) and not isinstance(made, type):
        return replace(made, **{field.name: changed(getattr(made, field.name), change) for field in fields(made)})
    return made


class _Asked(Tables):
    """The tables of a partition, and among them those that somebody has asked for."""

    def __init__(self, tables: Tables):
        super().__init__()
        self._tables, self.found = tables, dict[Any, Any]()

    def __contains__(self, name: Any) -> bool:
        return name in self._tables

    @property
    def nbytes(self) -> int:
        return self._tables.nbytes

    def get(self, name: Any) -> Any:
        made = self._tables.get(name)
        if made is not None:
            self.found[name] = made
        return made

    def keep(self, name: Any, made: Any, nbytes: int) -> Any:
        self.found[name] = made
        return self._tables.keep(name, made, nbytes)

    def forget(self) -> bool:
        return self._tables.forget()


class _Made(Tables):
    """Tables that the host has made for one run, to which the device adds none."""

    complete = True

    def put(self, name: Any, made: Any) -> None:
        super().keep(name, made, 0)

    def keep(self, name: Any, made: Any, nbytes: int) -> Any:
        raise AssertionError(f"{name} is made by the host, where the edges are")

    def forget(self) -> bool:
        return False
