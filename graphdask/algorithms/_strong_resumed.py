"""Checkpoints of strongly connected components: what is out, and while colours spread, how far they have come.

A round goes on from its trim phase, which counts edges between vertices that are left, or from the colours that have
arrived, which spread from all vertices again. While components are collected, a checkpoint is put off.
"""

from __future__ import annotations

from typing import Any

from graphdask.device.backend import Array
from graphdask.engine.checkpoints import Resumable, Saved, lowered
from graphdask.engine.loop import Environment, Inbox, Messages
from graphdask.partition.neighbours import places_of
from graphdask.partition.part import Part

TRIM_IN, TRIM_OUT, SPREAD, SHOW, COLLECT, CLOSE = range(6)
"""Phases of a round."""


class ResumableComponents(Resumable):
    """What `graphdask.algorithms.strong.StrongComponents` does for checkpoints."""

    def facts(self) -> dict[str, Any]:
        return {}

    def saved(self: Any, part: Part, state: Any, inbox: Inbox, env: Environment) -> Saved | None:
        if state.phase == COLLECT:
            return None
        colour = state.pack.colour[: part.num_owned]
        if state.phase == SPREAD:
            colour = lowered(colour, inbox, "value", env)
        numbers = {
            "round": state.round + (state.phase == CLOSE), "supersteps": state.supersteps,
            "spreads": int(state.phase in (SPREAD, SHOW)), "pivot": state.pivot,
        }  # fmt: skip
        return {"label": state.pack.label, "colour": colour}, numbers

    def resumed(
        self: Any, part: Part, columns: dict[str, Array], numbers: dict[str, Any], env: Environment
    ) -> tuple[Any, Messages]:
        state, owned = self.before_rounds(part, env), part.num_owned
        state.round, state.supersteps, state.pivot = (numbers[name] for name in ("round", "supersteps", "pivot"))
        state.whole = False
        state.pack.label[:] = columns["label"]
        (colours,) = env.fetch_ghosts(part, [columns["colour"].astype(part.vertex_map.dtype)])
        state.pack.colour = colours
        state.reported = colours[:owned].copy()
        state.rows = places_of(env.xp, state.reported >= 0).astype(part.vertex_map.dtype)
        state.left = self.weight_of(part, state.rows)
        if not numbers["spreads"]:
            return state, self.begin_trim(part, state, env)
        state.phase = SPREAD
        state.roots = state.rows if state.round else state.rows[state.pack.ids[state.rows] == state.pivot]
        return state, self.spread(part, state, env, state.rows)
