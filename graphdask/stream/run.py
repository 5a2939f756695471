"""The run of a primitive over a share of a store; importing this module imports all streamed forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphdask.engine.checkpoints import Checkpointing
from graphdask.engine.copies import Copying
from graphdask.engine.loop import RankContext, RankResult
from graphdask.stream import (
    betweenness,
    components,
    distances,
    drawn_order,
    kcores,
    labels,
    modularity,
    nearness,
    pagerank,
    paths,
    programs,
    strong,
    triangles,
    weighted_betweenness,
    weighted_nearness,
)
from graphdask.stream.forms import STREAMED, form_of
from graphdask.stream.shared_store import StreamedPart, backend_of

__all__ = ["FORMS", "STREAMED", "execute", "form_of", "joined"]

FORMS = (
    betweenness, components, distances, drawn_order, kcores, labels, modularity, nearness, pagerank, paths, programs,
    strong, triangles, weighted_betweenness, weighted_nearness,
)  # fmt: skip
"""The modules that enter a streamed form in `STREAMED`."""


def execute(
    context: RankContext, part: StreamedPart, primitive: Any, checkpoints: Checkpointing | None, copying: Copying | None
) -> RankResult:
    """Run a primitive over a share of a store; among the values is what was read, as `streamed`."""
    form = form_of(type(primitive))
    assert form is not None  # or it was refused
    if backend_of(context, part).name == "cuda":
        from graphdask.stream import device_forms  # noqa: F401  fills a table; its kernels import Numba
    return form.run(context, part, primitive, *((checkpoints, copying) if form.resumes else ()))


def joined(traffic: Sequence[dict[str, Any]], seconds: float) -> dict[str, Any]:
    """What all ranks have read."""
    total = dict(traffic[0])
    for name in ("nbytes", "least", "distinct", "chunks_read", "chunks_resident", "chunks_skipped", "chunks_unused",
                 "reading", "waiting", "window", "in_place", "from_disk"):  # fmt: skip
        if name in total:
            total[name] = sum(one[name] for one in traffic)
    total["overlap"] = max(0.0, 1.0 - total["waiting"] / total["reading"]) if total["reading"] else 0.0
    total["bandwidth"] = total["nbytes"] / seconds if seconds else 0.0
    return total
