"""Scaling experiments: how the time of the algorithms falls with the workers, and what a model says beyond them.

`run` measures and appends to a file, `read` reads it, `fit` fits the BSP cost model, `draw` makes the pictures.
"""

from typing import Any

from graphdask.interface.suggest import no_attribute, suggesting
from graphdask.scale.experiment import run
from graphdask.scale.figures import draw
from graphdask.scale.model import extrapolated, fit
from graphdask.scale.records import read

__all__ = ["draw", "extrapolated", "fit", "read", "run"]

for _name in __all__:
    globals()[_name] = suggesting(globals()[_name], __name__, _name)


def __getattr__(name: str) -> Any:
    raise no_attribute(__name__, name, __all__)
