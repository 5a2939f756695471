"""Runs of a sampler over some of its instances at a time, so that the samples of all need not fit the memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graphdask import execute
from graphdask.config import Config
from graphdask.display.notebook import is_watched
from graphdask.display.tuning import DISPLAY


def chunks(graph: Any, sampler: Any, chunk: int, placement: Any, client: Any, progress: bool | None) -> Iterator[Any]:
    """Draw the instances of a sampler, `chunk` at a time; there is one chunk at least.

    Nothing of a chunk is kept here once it is handed out.
    """
    from graphdask.display.notebook import bar_class

    show = is_watched(Config.load(progress=progress).progress)
    with bar_class()(
        total=sampler.instances,
        desc=sampler.name,
        unit=" instances",
        disable=not show,
        leave=False,
        delay=DISPLAY.delay,
    ) as bar:
        for first in range(sampler.first, max(sampler.last, sampler.first + 1), chunk):
            last = min(first + chunk, sampler.last)
            some = sampler.chunk(first, last)
            samples = [execute.sample(graph, some, placement, client, False)]
            # Where the whole graph did not fit a worker once, that is not tried again.
            placement = samples[0].placement if placement == "auto" else placement
            bar.update(last - first)
            yield samples.pop()
