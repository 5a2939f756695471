"""Links beside PyTorch Geometric's loader: what is recorded, and why where it cannot run."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
import types

import numpy as np
import pytest

import graphdask as gd
from graphdask.bench.sample_links import links_beside

CASES = ((3, 4, (2, 1)), (1, 10, (3,)))


@pytest.fixture
def graph():
    return gd.generate.rmat(6, 4, seed=1).to_undirected().partition(1, device="cpu")


def test_without_its_samplers_it_says_what_is_missing(graph, monkeypatch):
    real = importlib.util.find_spec
    for absent, reason in (
        (("torch",), "torch is not installed"),
        (("torch_geometric",), "torch_geometric is not installed"),
        (("pyg_lib", "torch_sparse"), "needs pyg-lib or torch-sparse: neither is installed"),
    ):

        def found(name, absent=absent):
            there = importlib.machinery.ModuleSpec(name, None)
            return None if name in absent else there if "torch" in name else real(name)

        monkeypatch.setattr(importlib.util, "find_spec", found)
        rows = list(links_beside(CASES, graph, 0, 1))
        assert len(rows) == 4
        assert all(row["skipped"].endswith(reason) for row in rows)


def test_ours_stands_in_the_record_of_the_other(graph, monkeypatch):
    asked = []

    def theirs(edges, links, fanouts, options):
        asked.append((links.shape[1], fanouts, options["neg_sampling"]))
        arcs = set(zip(*(side.tolist() for side in edges.arcs[:2]), strict=True))
        assert set(zip(*links.tolist(), strict=True)) <= arcs
        return [types.SimpleNamespace(edge_index=np.zeros((2, 5)))] * 3

    for name in ("torch", "torch_geometric", "torch_sparse"):
        module = types.ModuleType(name)
        module.__spec__ = importlib.machinery.ModuleSpec(name, None)
        monkeypatch.setitem(sys.modules, name, module)
    rows = list(links_beside(CASES, graph, 0, 1, theirs, "arrays"))
    assert asked == [(12, [2, 1], "binary"), (12, [2, 1], "triplet"), (10, [3], "binary"), (10, [3], "triplet")]
    for row in rows:
        assert row["edges"] == 15
        assert row["graphdask_edges"] > 0 < row["graphdask_ms"]
        assert row["method"].startswith("LinkNeighborLoader, ")
        assert row["differs"] == "it draws another number of edges"
    assert [(row["instances"], row["batch_size"]) for row in rows] == [(3, 4), (3, 4), (1, 10), (1, 10)]
