"""Primitives that send no messages between supersteps: ranks ask each other, or run other primitives, before or after.

`init` finds everything and returns it as the state, which is the result; or it returns nothing, and `result` finds
everything. Every rank calls both, so that each may hold collectives.
"""

from __future__ import annotations

from typing import Any

from graphdask.engine.loop import Environment, Primitive, S
from graphdask.engine.messages import Inbox, Messages
from graphdask.partition.part import Part


class WithoutSupersteps(Primitive[S]):
    """The base of these. A subclass defines `init`, or `result`."""

    def init(self, part: Part, env: Environment) -> tuple[Any, Messages]:
        return None, Messages.none(part.size)

    def superstep(self, part: Part, state: S, inbox: Inbox, env: Environment) -> Messages:
        raise AssertionError(f"{self.name} ends before its first superstep")

    def result(self, part: Part, state: Any, env: Environment) -> dict[str, Any]:
        found: dict[str, Any] = state
        return found
