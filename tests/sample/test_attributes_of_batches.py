"""Rows of what a caller gives as `x`: of sparse matrices, which have no protocol of arrays, and of tables."""

from __future__ import annotations

import numpy as np
import pandas
import pytest
import scipy.sparse

import graphdask as gd

X = np.random.default_rng(8).integers(0, 3, (6, 4))
SRC, DST = [1, 2, 3, 4, 5], [0, 0, 1, 2, 3]


@pytest.mark.parametrize("kind", ["dok_array", "dok_matrix", "csr_array", "csc_array", "lil_array"])
def test_rows_of_a_sparse_matrix_stay_sparse(kind):
    G = gd.from_edges(SRC, DST, num_vertices=6)
    for batch in gd.sample.NeighborLoader(G, [2], batch_size=2, x=getattr(scipy.sparse, kind)(X)):
        assert (batch.x.toarray() == X[batch.n_id]).all()


def test_rows_of_a_series_are_found_by_place_and_not_by_label(monkeypatch):
    column = pandas.Series(X[:, 0], index=[5, 4, 3, 2, 1, 0])
    monkeypatch.delattr(pandas.Series, "__arrow_c_stream__", raising=False)  # which pandas has since 3.0
    G = gd.from_edges(SRC, DST, num_vertices=6)
    for batch in gd.sample.NeighborLoader(G, [2], batch_size=2, x=column):
        assert batch.x.tolist() == X[batch.n_id, 0].tolist()
