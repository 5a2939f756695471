"""Edges as lazy Dask collections: the same edges, made where their partition is asked for."""

from __future__ import annotations

from typing import ClassVar

import dask
import numpy as np
import pytest
from edge_sets import GRAPHS, attached, counted
from gangs import active

import graphdask as gd
from graphdask.errors import InputError, MissingDependency
from graphdask.partition.ids import VertexIds
from graphdask.partition.sources import GeneratedSource


def frame_edges(frame, directed):
    weights = frame["weight"].to_numpy() if "weight" in frame else None
    return counted(frame["src"].to_numpy(object), frame["dst"].to_numpy(object), weights, directed)


@pytest.mark.parametrize("partitions", [None, 3])
@pytest.mark.parametrize("name", GRAPHS)
def test_a_data_frame_holds_the_edges(name, partitions):
    known = GRAPHS[name]()
    lazy = known.graph.to_dask_dataframe(partitions)
    with dask.config.set(scheduler="synchronous"):
        frame = lazy.compute()
    assert partitions is None or lazy.npartitions == partitions
    assert list(lazy.columns) == ["src", "dst"] + ["weight"] * known.graph.weighted
    assert (frame.dtypes == lazy.dtypes).all()
    assert frame_edges(frame, known.graph.directed) == known.edges


@pytest.mark.parametrize("partitions", [None, 3])
@pytest.mark.parametrize("name", GRAPHS)
def test_an_array_holds_the_edges_and_knows_its_lengths(name, partitions):
    known = GRAPHS[name]()
    lazy = known.graph.to_dask_array(partitions)
    assert lazy.shape == (known.edges.total(), 2)
    with dask.config.set(scheduler="synchronous"):
        rows = lazy.compute()
        lengths = [len(block) for block in dask.compute(*lazy.blocks.ravel())]
    assert list(lazy.chunks[0]) == lengths
    assert rows.dtype == lazy.dtype
    without = type(known.edges)()
    for (u, v, _), count in known.edges.items():
        without[u, v, None] += count
    assert counted(rows[:, 0], rows[:, 1], None, known.graph.directed) == without


def test_lengths_that_only_the_workers_know_are_unknown():
    frame = gd.generate.preferential_attachment(100, 2).to_dask_dataframe(3)
    known = counted(*gd.generate.preferential_attachment(100, 2).edges("cpu"), True)
    G = gd.from_dask_dataframe(frame, "src", "dst")
    lazy = G.to_dask_array()
    assert np.isnan(lazy.shape[0])
    rows = lazy.compute(scheduler="synchronous")
    assert counted(rows[:, 0], rows[:, 1], None, True) == known
    assert frame_edges(G.to_dask_dataframe().compute(scheduler="synchronous"), True) == known


def test_a_partition_is_the_same_each_time_it_is_made():
    lazy = gd.generate.preferential_attachment(100, 2).to_dask_dataframe(4)
    first, again = (lazy.partitions[2].compute(scheduler="synchronous") for _ in range(2))
    assert first.equals(again)


@pytest.mark.parametrize("merge", [False, True])
def test_workers_make_their_own_pieces(merge, two_workers):
    known = attached(300, 3, merge=merge, p=0.3)
    with active(two_workers):
        frame = known.graph.to_dask_dataframe(3).compute()
        rows = known.graph.to_dask_array(4).compute()
    assert frame_edges(frame, False) == known.edges
    assert counted(rows[:, 0], rows[:, 1], None, False) == known.edges


def test_a_frame_of_a_trillion_vertices_is_only_described():
    lazy = gd.generate.preferential_attachment(2**40, degree=1).to_dask_dataframe(2**7)
    first = lazy.partitions[0].head(3, compute=False)
    assert first.columns.tolist() == ["src", "dst"]
    array = gd.generate.preferential_attachment(2**40, degree=1).to_dask_array(2**7)
    assert array.shape == (2**40 - 1, 2)


@pytest.mark.parametrize("partitions", [0, -2, 1.5, "3", True])
@pytest.mark.parametrize("kind", ["to_dask_dataframe", "to_dask_array"])
def test_a_number_of_partitions_that_is_none_is_refused(kind, partitions):
    with pytest.raises(InputError, match="partitions="):
        getattr(gd.from_edges([0], [1]), kind)(partitions)


def test_devices_that_there_are_not_are_refused():
    with pytest.raises(InputError, match="device='cuda' is not one of auto, cpu"):
        gd.from_edges([0], [1]).to_dask_dataframe(device="cuda")
    with pytest.raises(InputError, match="device='tpu'"):
        gd.from_edges([0], [1]).to_dask_array(device="tpu")


def test_without_data_frames_the_extra_is_named(host):
    host.without("dask.dataframe")
    with pytest.raises(MissingDependency, match=r"graphdask\[dataframe\]"):
        gd.from_edges([0], [1]).to_dask_dataframe()


def test_a_lengthy_generator_is_not_cut_into_small_blocks():
    class Cumulative:
        num_vertices, num_edges, cumulative = 5000, 4999, True
        asked: ClassVar[list] = []

        def block(self, backend, rank, size):
            self.asked.append((rank, size))
            return (lambda ids: (ids + 1, ids))(
                np.arange(4999 * rank // size, 4999 * (rank + 1) // size, dtype=np.int32)
            )

    G = gd.Graph(GeneratedSource(Cumulative(), skewed=False), VertexIds(5000), True)
    assert [len(block.src) for block in G.edge_blocks(8000, device="cpu")] == [1000] * 4 + [999]
    assert Cumulative.asked == [(0, 1)]
    assert np.isnan(G.to_dask_array(2).chunks[0]).all()


@pytest.mark.gpu
def test_chunks_of_a_gpu_hold_the_same_edges():
    G = gd.generate.preferential_attachment(3000, 3)
    rows = G.to_dask_array(3, device="cuda").compute(scheduler="synchronous")
    assert type(rows).__module__.startswith("cupy")
    assert counted(rows[:, 0].get(), rows[:, 1].get(), None, True) == counted(*G.edges("cpu"), True)
