"""Minibatches of links beside those of PyTorch Geometric's LinkNeighborLoader, which needs pyg-lib or torch-sparse.

Both get the same graph, links, fan-outs and batch size, draw as many negatives, and give `Data` with the rows of edges,
so what is timed is an epoch as its user gets it. Both draw in this process: PyTorch Geometric in one thread, because
`num_workers` is 0, and graphdask one run ahead in a thread, as both do by default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from graphdask.bench.analysis.peers import Edges
from graphdask.bench.harness import missing
from graphdask.bench.sample_peers import in_one_record, timed
from graphdask.sample.link_loader import LinkNeighborLoader

LIKE = "links"
"""Name of what is measured here."""
MODES = ("binary", "triplet")
SAMPLERS = {"pyg_lib": "pyg-lib", "torch_sparse": "torch-sparse"}
"""Modules that draw the neighbours for PyTorch Geometric, the first that is there, and their names."""

Cases = tuple[tuple[int, int, tuple[int, ...]], ...]
"""Numbers of batches, links of each, and fan-outs."""


def links_beside(
    cases: Cases, graph: Any, seed: int, repeats: int, theirs_of: Callable[..., Any] | None = None, output: str = "pyg"
) -> Iterator[dict[str, Any]]:
    """A record for each case and kind of negatives: an epoch of PyTorch Geometric's loader, with ours in it.

    `theirs_of(edges, links, fanouts, options)` makes the other loader; `output` is the kind of batches of ours.
    """
    theirs_of = theirs_of or _loader
    reason = missing("torch", "torch_geometric")
    drawing = next((name for module, name in SAMPLERS.items() if not missing(module)), None)
    if not reason and drawing is None:
        reason = f"LinkNeighborLoader of PyTorch Geometric needs {' or '.join(SAMPLERS.values())}: neither is installed"
    edges = Edges.of(graph) if cases and not reason else None
    for batches, size, fanouts in cases:
        for mode in MODES:
            row: dict[str, Any] = {
                "sampler": "torch-geometric", "like": f"{LIKE} {mode}", "bias": None,
                "method": "LinkNeighborLoader" + (f", {drawing}" if drawing else ""), "instances": batches,
                "batch_size": size, "size": list(fanouts), "device": "cpu",
            }  # fmt: skip
            if edges is None:
                yield row | {"skipped": reason}
                continue
            drawn = np.random.default_rng(seed).integers(0, len(edges.src), batches * size)
            links = np.stack([edges.src[drawn], edges.dst[drawn]]).astype(np.int64)
            options: dict[str, Any] = {"batch_size": size, "neg_sampling": mode}
            mine = timed(
                _epoch(LinkNeighborLoader(graph, fanouts, _ids(graph, links), output=output, **options)), repeats
            )
            try:
                theirs = timed(_epoch(theirs_of(edges, links, list(fanouts), options)), repeats)
            except Exception as error:  # whatever another library raises is its result
                yield row | {"skipped": f"{type(error).__name__}: {error}"}
                continue
            yield row | in_one_record(theirs, mine, None)


def _ids(graph: Any, links: np.ndarray) -> np.ndarray:
    return np.stack([graph.ids.to_caller(side) for side in links])


def _loader(edges: Edges, links: np.ndarray, fanouts: list[int], options: dict[str, Any]) -> Any:
    """PyTorch Geometric's loader."""
    import torch
    from torch_geometric.data import Data
    from torch_geometric.loader import LinkNeighborLoader as Theirs

    arcs = torch.from_numpy(np.stack(edges.arcs[:2]).astype(np.int64))
    return Theirs(Data(edge_index=arcs, num_nodes=edges.n), fanouts, torch.from_numpy(links), **options)


def _epoch(loader: Any) -> Callable[[], int]:
    """A pass over a loader, which returns how many edges its batches have."""

    def epoch() -> int:
        return sum(batch.edge_index.shape[1] for batch in loader)

    return epoch
