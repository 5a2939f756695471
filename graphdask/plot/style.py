"""What the pictures share: colours, a figure without pyplot, axes, saving.

Figures are made without pyplot, so that neither the backend nor the figures of a notebook are touched; a notebook
shows the figure that is returned.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

from graphdask.errors import InputError
from graphdask.interface.parameters import described
from graphdask.io.outputs import FileOutput, file_output

COLOURS = ("#1f6fb4", "#d9772b", "#3f9b5b", "#8a5fb0", "#7a7a7a", "#b8433f", "#2aa3a3", "#a08a2a")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")


def new_figure(width: float, height: float) -> Any:
    """Make an empty figure; sizes in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=130, layout="constrained")


def tidy(axes: Any, axis: str = "both") -> None:
    """Light grid behind the data, and no frame above and to the right."""
    axes.grid(True, which="major", axis=axis, color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


PICTURE = """
path : path-like, optional
    Where to save the picture; the ending says the format.
overwrite : bool
    Replace a picture that is there. Default: raise OutputExists.
"""
pictured = partial(described, shared=PICTURE, returns="matplotlib.figure.Figure")
"""Adds to the docstring of a function that draws what all of them share."""


def picture_output(path: str | os.PathLike[str] | None, overwrite: bool) -> FileOutput | None:
    """The file of a picture, checked before it is drawn; None where there is no path."""
    if path is None:
        return None
    from matplotlib.backend_bases import FigureCanvasBase

    out = file_output(path, overwrite)
    ending = out.path.suffix
    if out.opened is None and ending.lstrip(".").lower() not in FigureCanvasBase.get_supported_filetypes():
        raise InputError(
            f"{out.path}: the name of a picture ends in .png, .pdf or .svg, not in {ending or 'nothing'!r}"
        )
    return out


def saved(figure: Any, out: FileOutput | None) -> Any:
    """Save the figure where there is a file for it; return it."""
    if out is not None:
        with out.unfinished() as made:
            figure.savefig(made, format=out.path.suffix.lstrip(".").lower() or "png")
    return figure
