"""Pictures: degree distributions, drawings of small graphs, measured curves, and what the supersteps of a run did."""

from typing import Any

from graphdask.interface.suggest import no_attribute, suggesting
from graphdask.plot.changing import changing_ranks
from graphdask.plot.curves import bars, curves
from graphdask.plot.degrees import degree_distribution
from graphdask.plot.drawing import draw
from graphdask.plot.supersteps import superstep_profile

__all__ = ["bars", "changing_ranks", "curves", "degree_distribution", "draw", "superstep_profile"]

for _name in __all__:
    globals()[_name] = suggesting(globals()[_name], __name__, _name)


def __getattr__(name: str) -> Any:
    raise no_attribute(__name__, name, __all__)
