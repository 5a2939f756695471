"""Checks that memory holds the edges or vertices of a sampling step, whose number is known once they are counted."""

from __future__ import annotations

from graphdask.engine.loop import Environment
from graphdask.errors import OverBudget
from graphdask.sample.tuning import SAMPLE


def refuse_beyond_memory(env: Environment, name: str, place: str, total: int, each: int) -> None:
    """Raise OverBudget if `total` edges or vertices of `each` bytes need more memory than there is.

    `place` names the step in the message, such as "step 3".
    """
    if total < SAMPLE.memory_asked_from:
        return
    needed, free = total * each, int(env.backend.free_memory() * env.memory_share)
    if needed > free:
        raise OverBudget(
            f"{name}: {total:,} edges or vertices in {place} need about {needed / 2**30:.3g} GiB, and rank {env.rank} "
            f"may use {free / 2**30:.3g} GiB ({env.backend.description}); sample fewer instances at a time, or smaller "
            f"ones, or on more workers"
        )
