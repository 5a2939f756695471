"""Batches through a user's function of sampler outputs of PyTorch Geometric, before rows of attributes are taken.

`node` are the places of vertices among all of the graph, or of their type, so that features stand in their order, and
`edge` are rows of edges. `metadata` is what PyTorch Geometric's own loaders put there: the places of the inputs and
their times; of links these, the numbers of their ends, and labels. What the function returns is what the batch has.

Source: Fey, Lenssen, Fast graph representation learning with PyTorch Geometric (2019).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from graphdask.errors import InputError, shown

Transform = Callable[[Any], Any]


def checked_transform(name: str, given: Any) -> Transform | None:
    """Return a function that a caller gives; or None."""
    if given is not None and not callable(given):
        raise InputError(f"{name}={shown(given)} cannot be called")
    made: Transform | None = given
    return made


def checked_of_outputs(given: Any, output: str) -> Transform | None:
    """Return the function of sampler outputs that a caller gives; these are PyTorch Geometric's."""
    if given is not None and output != "pyg":
        raise InputError(
            f"transform_sampler_output= is called with what samplers of PyTorch Geometric return, and "
            f"output={shown(output)} makes no such; give output='pyg', or transform="
        )
    return checked_transform("transform_sampler_output", given)


def through(transform: Transform, batch: Any, places: Any) -> tuple[Any, Any]:
    """Return what a function makes of a batch of tensors, and the places of its vertices.

    Parameters
    ----------
    transform : callable
    batch : dataclass of tensors
        Without rows of attributes. `metadata_fields` are the names of its fields for `metadata`.
    places : tensor, or mapping of str to tensor
        Places of the vertices, by type where there are types.

    Raises
    ------
    InputError
        If the function returns something else than a sampler output.
    """
    typed = isinstance(places, dict)
    index: Any = {None: batch.edge_index} if not typed else batch.edge_index
    row, col = ({kind: ends[side] for kind, ends in index.items()} for side in (0, 1))
    kind = getattr(
        importlib.import_module("torch_geometric.sampler"), "HeteroSamplerOutput" if typed else "SamplerOutput"
    )
    places = {name: of.long() for name, of in places.items()} if typed else places.long()
    given = kind(
        node=places, row=row if typed else row[None], col=col if typed else col[None], edge=batch.e_id,
        batch=batch.batch, num_sampled_nodes=batch.num_sampled_nodes, num_sampled_edges=batch.num_sampled_edges,
        metadata=tuple(getattr(batch, name) for name in batch.metadata_fields),
    )  # fmt: skip
    out = transform(given)
    if not isinstance(out, kind) or len(out.metadata or ()) != len(batch.metadata_fields):
        raise InputError(
            f"transform_sampler_output returned a {type(out).__name__}; it returns the {kind.__name__} that it was "
            f"given, or another one with as much metadata"
        )
    stack = importlib.import_module("torch").stack
    if typed:
        edge_index = {name: stack([out.row[name], out.col[name]]) for name in out.row}
    else:
        edge_index = stack([out.row, out.col])
    made = replace(
        batch, edge_index=edge_index, e_id=out.edge, batch=out.batch, num_sampled_nodes=out.num_sampled_nodes,
        num_sampled_edges=out.num_sampled_edges, **dict(zip(batch.metadata_fields, out.metadata, strict=True)),
    )  # fmt: skip
    return made, out.node
