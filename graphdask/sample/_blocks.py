"""Message flow graphs of a minibatch: what each layer of a network reads, as arrays or as blocks of DGL.

The vertices of a batch stand hop by hop and so do its edges, so each layer has a prefix of both.

Source: Wang et al., Deep Graph Library: a graph-centric, highly-performant package for graph neural networks (2019),
for blocks as what one layer computes.
"""

from __future__ import annotations

import importlib
from itertools import accumulate
from typing import Any

import numpy as np

from graphdask.errors import InputError, MissingDependency
from graphdask.sample._minibatches import as_tensor
from graphdask.sample.neighborhoods import Block


class Layered:
    """A batch of hops, for a network with a layer for each."""

    def blocks(self: Any) -> list[Block]:
        """Return what each layer of a network reads, the outermost layer first.

        Block i has the edges of the first len(blocks) - i hops. It computes its first `num_dst` vertices from the first
        `num_src` ones; both are the first vertices of the batch, and `num_dst` is the `num_src` of the next block. The
        last block computes the seeds.

        Returns
        -------
        list of Block
            One for each hop, of arrays or tensors as the batch has them, which are views of the batch's. With
            `direction="out"` a vertex gathers from the ends of its edges, as it was drawn for.

        Raises
        ------
        InputError
            If the edges of the batch are not those along which neighbours were drawn, by `subgraph_type`.

        Examples
        --------
        >>> import graphdask as gd
        >>> G = gd.from_edges([1, 2, 3, 3], [0, 0, 1, 2])
        >>> (batch,) = gd.sample.NeighborLoader(G, [2, 2], input_nodes=[0])
        >>> [(block.num_src, block.num_dst, block.col.tolist(), block.row.tolist()) for block in batch.blocks()]
        [(4, 3, [1, 2, 3, 3], [0, 0, 1, 2]), (3, 1, [1, 2], [0, 0])]
        """
        if self.num_sampled_edges is None:
            raise InputError(
                "blocks are of the edges of hops; make the loader with subgraph_type='directional', the default"
            )
        row, col = self.edge_index if self.direction == "out" else (self.edge_index[1], self.edge_index[0])
        nodes, edges = list(accumulate(self.num_sampled_nodes)), accumulate(self.num_sampled_edges)
        made = [
            Block(nodes[hop + 1], nodes[hop], row[:end], col[:end], None if self.e_id is None else self.e_id[:end])
            for hop, end in enumerate(edges)
        ]
        return made[::-1]

    def to_dgl(self: Any) -> list[Any]:
        """Return the blocks of the batch as message flow graphs of DGL, the outermost layer first.

        Returns
        -------
        list of dgl.DGLBlock
            `srcdata[dgl.NID]` and `dstdata[dgl.NID]` are the caller's ids of the vertices, and `edata[dgl.EID]` the
            rows of the edges, if the batch has these. `x` and `y` stay in the batch: `x` has a row for each source of
            the first block, and the first rows of `y` are those of the destinations of the last one.

        Raises
        ------
        InputError
            As `blocks`; and for vertex ids that are strings.
        MissingDependency
            Without DGL or PyTorch.
        """
        blocks = self.blocks()
        if isinstance(self.n_id, np.ndarray) and self.n_id.dtype.kind not in "iu":
            raise InputError("to_dgl is for ids that are whole numbers; those of this graph are strings")
        try:
            dgl = importlib.import_module("dgl")
        except ImportError as error:
            raise MissingDependency("to_dgl needs dgl: see https://www.dgl.ai/pages/start.html") from error
        n_id, made = as_tensor(self.n_id), []
        for block in blocks:
            ends = as_tensor(block.col), as_tensor(block.row)
            graph = dgl.create_block(ends, num_src_nodes=block.num_src, num_dst_nodes=block.num_dst)
            graph.srcdata[dgl.NID], graph.dstdata[dgl.NID] = n_id[: block.num_src], n_id[: block.num_dst]
            if block.e_id is not None:
                graph.edata[dgl.EID] = as_tensor(block.e_id)
            made.append(graph)
        return made
