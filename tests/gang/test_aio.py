"""Calls can be awaited: answers are the same, the event loop goes on, and blocking calls in it are refused."""

from __future__ import annotations

import asyncio
import inspect
import time

import numpy as np
import pytest
from distributed import Client
from gangs import path

import graphdask as gd
from graphdask.errors import InputError, Unsupported, VertexNotFound


@pytest.mark.parametrize("parts", [1, 3])
def test_awaited_calls_return_what_calls_return(parts):
    async def calls():
        G = (await gd.aio.from_edges([0, 1, 2], [1, 2, 3])).partition(parts)
        depth = (await gd.aio.bfs(G, 0)).depth
        walks = (await gd.aio.sample.random_walk(G, [0], 2)).walks
        made = await gd.aio.generate.preferential_attachment(10, degree=2)
        D = await gd.aio.DynamicGraph(G)
        await gd.aio.call(D.update, insert=([3], [0]))
        return depth.tolist(), walks.tolist(), made.num_vertices, await gd.aio.call(D.neighbors, 3)

    depth, walks, vertices, neighbours = asyncio.run(calls())
    assert (depth, walks, vertices, neighbours.tolist()) == ([0, 1, 2, 3], [[0, 1, 2]], 10, [0])


def test_an_asynchronous_client_works_and_its_loop_goes_on():
    async def calls():
        beats = []

        async def beat():
            while True:
                beats.append(time.perf_counter())
                await asyncio.sleep(0.005)

        async with Client(
            n_workers=2, processes=False, asynchronous=True, dashboard_address=":0", threads_per_worker=1
        ) as client:
            G = path(400)
            beating = asyncio.ensure_future(beat())
            r = await gd.aio.bfs(G, 0)
            other = await gd.aio.pagerank(G, client=client)
            beating.cancel()
            assert r.stats.ranks == other.stats.ranks == 2
            with pytest.raises(Unsupported, match=r"await graphdask\.aio\.call\(getattr, r, 'depth'\)"):
                _ = r.depth
            with pytest.raises(Unsupported, match=r"await graphdask\.aio\.bfs"):
                gd.bfs(G, 0, client=client)
            with pytest.raises(Unsupported, match=r"await graphdask\.aio\.call\(G\.neighbors, 0\)"):
                G.neighbors(0)
            depth = await gd.aio.call(getattr, r, "depth")
            await gd.aio.call(r.verify)
            some = await asyncio.gather(*(gd.aio.call(G.neighbors, v) for v in (0, 7)))
            with pytest.raises(VertexNotFound, match="source 400"):
                await gd.aio.bfs(G, 400)
            return depth, [each.tolist() for each in some], len(beats)

    depth, some, beats = asyncio.run(calls())
    assert np.array_equal(depth, np.arange(400))
    assert some == [[1], [6, 8]]
    assert beats > 5


def test_errors_are_those_of_the_call():
    G = gd.from_edges([0], [1])
    with pytest.raises(gd.ArgumentError, match="bfs has no argument root=; did you mean source="):
        asyncio.run(gd.aio.bfs(G, root=0))
    with pytest.raises(InputError, match="not a Graph"):
        asyncio.run(gd.aio.bfs(3, 0))
    with pytest.raises(AttributeError, match="bsf"):
        _ = gd.aio.bsf


def test_functions_keep_their_names_signatures_and_words():
    assert gd.aio.bfs.__name__ == "bfs"
    assert gd.aio.bfs.__doc__ == gd.bfs.__doc__
    assert inspect.signature(gd.aio.bfs) == inspect.signature(gd.bfs)
    assert inspect.iscoroutinefunction(gd.aio.bfs)
    assert {"call", "bfs", "pagerank", "sample", "from_edges", "DynamicGraph"} <= set(dir(gd.aio))
    assert "node2vec" in dir(gd.aio.sample)
    assert gd.aio.InputError is InputError
