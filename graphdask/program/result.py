"""What a run of a program gives."""

from __future__ import annotations

from typing import Any

from graphdask.graph.graph import Graph
from graphdask.results.result import Kept, Result
from graphdask.results.stats import Stats

BEST_FIRST = "best states first, because states grow along edges and the answer is the same in any order"
"""What statistics say of the order in which vertices sent, where that was chosen."""


class ProgramResult(Result):
    """What `gd.run` returns: an attribute for each field of the state.

    Attributes
    ----------
    iterations : int
        The number of supersteps. Where the best states were sent first, as `stats` then says, that many steps were
        taken, which depends on the number of partitions; `max_supersteps=` or `until=` keep the order of supersteps.
    aggregates : dict of str to number
        Of the last superstep.
    """

    def __init__(self, graph: Graph, primitive: Any, parts: Kept, built: Any, stats: Stats):
        super().__init__(graph, primitive, parts, built, stats)
        stats.chosen = primitive.definition.chosen
        if parts.summary[0].values.get("ordered"):
            stats.chosen["order"] = BEST_FIRST
        if primitive.why_called is not None:
            stats.chosen["until"] = f"called by Python after every superstep, because {primitive.why_called}"

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the fields of the state."""
        return tuple(each.name for each in self.primitive.definition.state)

    def __getattr__(self, name: str) -> Any:
        primitive = self.__dict__.get("primitive")
        if primitive is None or name not in (each.name for each in primitive.definition.state):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return self._column(name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.columns})

    @property
    def iterations(self) -> int:
        """The number of supersteps."""
        return int(self._value("iterations"))

    @property
    def aggregates(self) -> dict[str, Any]:
        """The aggregates of the last superstep."""
        return dict(self._value("aggregates"))

    def verify(self) -> ProgramResult:
        """Run the program again, on the workers, and compare every state, bit by bit; return the result.

        Takes the time and the memory of another run. Messages of one number that are combined by `min`, `max`, `any` or
        `count` are pushed along edges in a run. They are pulled when it is repeated, if the partitions have the edges
        for that, and so are computed in two ways. Other programs are repeated as they ran. What the functions of the
        program compute is taken as right.

        Raises
        ------
        VerificationError
            Naming the first vertex whose state is another one.
        Unsupported
            Where the result was sent here by another process.
        """
        super().verify()
        return self
