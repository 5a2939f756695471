"""Check before a run begins that the memory it is estimated to need is free."""

from __future__ import annotations

from typing import Any

from graphdask.device.estimates import announce
from graphdask.errors import OverBudget
from graphdask.partition.part import Part


def checked_memory(part: Part, primitive: Any, env: Any) -> int:
    """Return the bytes that a primitive needs, after freeing memory for it; raise OverBudget if it cannot be freed.

    Tables that earlier calls left are dropped, the oldest first.
    """
    together = primitive.memory_together(part, env)
    while True:
        needed = primitive.memory_on(part, env) if together is None else together
        share = env.memory_share
        free = int(env.backend.free_memory(int(needed / share) + 1 if share else None) * share)
        if needed <= free:
            announce(part.rank, part.size, primitive.name, needed)
            return needed
        if not part.tables.forget():
            if not env.frugal:
                env.frugal = True
                continue
            raise OverBudget(
                f"{primitive.name} needs about {needed / 2**30:.1f} GiB on each of {part.size} ranks, and rank "
                f"{part.rank} ({env.backend.description}) may use {free / 2**30:.1f} GiB; {primitive.remedy}, or raise "
                f"the setting graphdask.memory-fraction"
            )
