"""Whether a person watches this process in a notebook or a terminal, and the progress bar for either."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any


def in_notebook() -> bool:
    """Return whether the kernel of a notebook runs this process.

    That ipykernel is loaded does not show it: ipywidgets loads it, and so does tqdm if ipywidgets is installed.
    """
    ipython = sys.modules.get("IPython")
    return getattr(ipython.get_ipython() if ipython is not None else None, "kernel", None) is not None


def is_watched(wanted: bool | None = None) -> bool:
    """Return whether to show progress: `wanted`, or if it is None, whether a person watches.

    A person watches if standard error is a terminal or if this is a notebook.
    """
    return sys.stderr.isatty() or in_notebook() if wanted is None else wanted


def bar_class() -> Any:
    """Return the progress bar of a notebook if it can show one, or else that of a terminal.

    A notebook shows the bar of a terminal as text. `tqdm.auto` chooses alike, but warns if a notebook has no
    ipywidgets.
    """
    if in_notebook() and importlib.util.find_spec("ipywidgets") is not None:
        from tqdm.notebook import tqdm as notebook_bar

        return notebook_bar
    from tqdm import tqdm

    return tqdm
