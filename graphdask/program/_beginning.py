"""What a run of a program begins with on a rank: facts about vertices, and the states that the caller gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.kernels.program.program_pack import Program as Pack
from graphdask.partition.part import Part
from graphdask.program.definition import Definition


def add_facts(of: Definition, directed: bool, part: Part, env: Environment, pack: Pack) -> None:
    """Ids and degrees, per slot, where functions ask for them. Every rank calls it."""
    wanted = {}
    if of.asks_ids:
        wanted["ids"] = part.ids
    if of.wants("degree"):
        wanted["out_degree"] = part.out.indptr[1:] - part.out.indptr[:-1]
    if of.wants("in_degree"):
        csr = part.inward if directed else part.out
        assert csr is not None
        wanted["in_degree"] = csr.indptr[1:] - csr.indptr[:-1]
    for name, array in zip(wanted, env.fetch_ghosts(part, list(wanted.values())), strict=True):
        setattr(pack, name, array)


def take_over(
    of: Definition, first: Mapping[str, tuple[np.ndarray | None, np.ndarray]], names: set[str], part: Part,
    fields: Sequence[Array], env: Environment,
) -> None:  # fmt: skip
    """Write those of the caller's first states that have one of the names into the fields of the state."""
    for each, field in zip(of.state, fields, strict=True):
        if each.name not in names or each.name not in first:
            continue
        numbers, values = first[each.name]
        values = env.backend.from_host(values)
        if numbers is None:
            field[: part.num_owned] = values[part.ids]
            continue
        slots, mine = own_slots(part, env, numbers)
        field[slots] = values[mine]


def hold_states(of: Definition, part: Part, state: Any, env: Environment) -> None:
    """Put the field that keeps the least message where messages to own vertices stand, on a CPU: messages that are no
    less are dropped there (kernels/program/program_default.py)."""
    if of.keeps is not None and env.backend.name == "cpu":
        state.pack.message0[: part.num_owned] = state.fields[of.keeps][: part.num_owned]


def own_slots(part: Part, env: Environment, numbers: np.ndarray) -> tuple[Array, Any]:
    """Slots of those vertices that this rank owns; and which of all these are, bool, or a slice of all."""
    places = part.vertex_map.to_position(env.backend, env.backend.from_host(numbers)) - part.first_position
    if env.size == 1:
        return places.astype(part.vertex_map.dtype), slice(None)
    mine = (places >= 0) & (places < part.num_owned)
    return places[mine].astype(part.vertex_map.dtype), mine
