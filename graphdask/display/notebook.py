"""Whether a person looks at this process through a notebook, and the progress bar for where they look."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any


def in_notebook() -> bool:
    """Whether the kernel of a notebook runs this process. That ipykernel is loaded says nothing: ipywidgets loads it,
    and so does tqdm where ipywidgets is installed."""
    ipython = sys.modules.get("IPython")
    return getattr(ipython.get_ipython() if ipython is not None else None, "kernel", None) is not None


def is_watched(wanted: bool | None = None) -> bool:
    """Whether to show progress: as asked, or where a person watches: standard error is a terminal, or this is a
    notebook."""
    return sys.stderr.isatty() or in_notebook() if wanted is None else wanted


def bar_class() -> Any:
    """The bar of a notebook where it can show one, and that of a terminal, which a notebook shows as text, elsewhere.

    As `tqdm.auto`, which warns where a notebook has no ipywidgets.
    """
    if in_notebook() and importlib.util.find_spec("ipywidgets") is not None:
        from tqdm.notebook import tqdm as notebook_bar

        return notebook_bar
    from tqdm import tqdm

    return tqdm
