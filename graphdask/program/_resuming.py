"""Checkpoints of a program: its states between two supersteps, and the vertices that send next.

Messages are not part of a checkpoint: the vertices that changed send them again, from the same states.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.checkpoints import Resumable, Saved, named
from graphdask.engine.loop import Environment, Inbox, Messages
from graphdask.partition.neighbours import places_of
from graphdask.partition.part import Part
from graphdask.program._beginning import hold_states
from graphdask.program._buckets import use_buckets, waiting
from graphdask.program._loop import go_on
from graphdask.program.aggregates import write_values
from graphdask.program.state import ProgramState

AGGREGATE = "aggregate "
"""Before the name of an aggregate among the numbers of a state."""
ADDRESS = re.compile(r" at 0x[0-9a-f]+")
"""Of an object in its text, which is another one in each process."""


class ResumableProgram(Resumable):
    """What a program (`graphdask.program.primitive.VertexProgram`) does for checkpoints."""

    def facts(self: Any) -> dict[str, Any]:
        of = self.definition
        begins = [(i, function.code.digest) for i, function in of.begins]
        columns = [str(each) for each in of.columns]
        program = of.key, of.state, begins, of.direction, of.everyone, columns
        first = {name: [named(numbers), named(values)] for name, (numbers, values) in sorted(self.first.items())}
        facts = {"program": _checksum(program), "active": named(self.active), "init": first}
        return facts | {"max_supersteps": self.most, "until": _until(self)}

    def saved(self: Any, part: Part, state: ProgramState, inbox: Inbox, env: Environment) -> Saved | None:
        if not state.done:
            return None
        owned, everyone = part.num_owned, self.definition.everyone
        columns = {f"state{i}": array[:owned] for i, array in enumerate(state.fields)}
        if not everyone:
            changed = env.xp.zeros(owned, np.uint8)
            changed[state.changed[: state.count]] = 1
            if state.ordered:
                changed |= waiting(state, env)
            columns["changed"] = changed
        aggregates = {f"{AGGREGATE}{name}": value for name, value in state.aggregates.items()}
        return columns, {"supersteps": state.done} | aggregates

    def resumed(
        self: Any, part: Part, columns: dict[str, Array], numbers: dict[str, Any], env: Environment
    ) -> tuple[ProgramState, Messages]:
        state, of = self._made(part, env), self.definition
        pack, owned = state.pack, part.num_owned
        for i, array in enumerate(state.fields):
            array[:owned] = columns[f"state{i}"]
        state.everywhere, state.count = of.everyone, owned
        if not of.everyone:
            state.list_changed(places_of(env.xp, columns["changed"] != 0))
        done = state.done = pack.superstep = numbers["supersteps"]
        aggregates = {each.name: numbers[f"{AGGREGATE}{each.name}"] for each in of.aggregates}
        state.aggregates = {
            each.name: bool(aggregates[each.name]) if each.kind == "bool" else aggregates[each.name]
            for each in of.aggregates
        }
        write_values(of, pack, state.aggregates)
        hold_states(of, part, state, env)
        use_buckets(self, part, state, env)
        state.resumed = True
        messages = self.first_messages(part, state, env)
        state.resumed = state.done == done
        return state, messages

    def first_messages(self: Any, part: Part, state: ProgramState, env: Environment) -> Messages:
        """What the vertices send that are to, or in a loop what is left to be said."""
        messages: Messages = self._send(part, state, env) if state.loop is None else go_on(self, part, state, env)
        return messages


def _checksum(value: Any) -> str:
    return sha256(ADDRESS.sub("", repr(value)).encode()).hexdigest()[:16]


def _until(program: Any) -> str | None:
    """A checksum of `until`, of its code where it is not translated."""
    until = getattr(program.until, "function", program.until)  # of a file
    if until is None:
        return None
    if program.ending is not None:
        return _checksum(program.ending.code.digest)
    code = getattr(until, "__code__", None)
    if code is None:
        return _checksum(until)
    held = [cell.cell_contents for cell in until.__closure__ or ()]
    return _checksum((code.co_code, code.co_consts, code.co_names, until.__defaults__, held))
