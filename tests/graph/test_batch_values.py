"""Values in a batch that a dynamic graph cannot take are named, the first of them, and nothing is applied."""

from __future__ import annotations

import numpy as np
import pytest
from memory import free

import graphdask as gd


def refused(D, reason, **batch):
    before = repr(D), dict(D.report)
    with pytest.raises(gd.InputError) as error:
        D.update(**batch)
    assert str(error.value).startswith(reason)
    assert (repr(D), D.report) == before


@pytest.mark.parametrize(
    ("dtype", "weights", "reason"),
    [
        (np.float32, [1.0, 1e300], "insert: weights[1] = 1e+300 does not fit float32, as the graph has"),
        (np.float32, [1.0, -(2**200)], "insert: weights has the dtype object"),
        (np.int32, [1, 2**40], "insert: weights[1] = 1099511627776 does not fit int32"),
        (np.int32, [np.inf, 2], "insert: weights[0] = inf does not fit int32"),
        (np.float64, [1.0, np.nan], "insert: weights[1] is NaN; every edge needs a weight"),
        (np.float64, [1.0], "insert: weights has the shape (1,); one for each of the 2 edges is needed"),
    ],
)
def test_weights_that_the_graph_cannot_hold_are_refused(dtype, weights, reason):
    D = gd.DynamicGraph(gd.from_edges([0, 1], [1, 2], np.ones(2, dtype)))
    assert D.num_edges == 2
    refused(D, reason, insert=([0, 1], [2, 0], weights), delete=([0], [1]))


def test_an_infinite_weight_is_kept():
    D = gd.DynamicGraph(gd.from_edges([0, 1], [1, 2], np.ones(2, np.float32)))
    D.update(insert=([0], [1], [np.inf]))
    assert D.edges().weights.tolist() == [1.0, np.inf]


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"src": ("Int64", [3, None]), "dst": ("Int64", [1, 2])}, "insert: src[1] is missing, or NaN"),
        ({"src": ("object", ["a", None]), "dst": ("object", ["b", "c"])}, "insert: src[1] = "),
        ({"src": ("float64", [3.0, 4.0]), "dst": ("int64", [1, 2])}, "insert: src has the dtype float64"),
    ],
)
@pytest.mark.parametrize("kind", ["pandas", "dask"])
def test_values_that_are_missing_in_a_data_frame_are_refused(columns, reason, kind):
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    framed = pytest.importorskip("dask.dataframe", reason="needs dask[dataframe]")
    frame = pandas.DataFrame({name: pandas.array(values, dtype) for name, (dtype, values) in columns.items()})
    if kind == "dask":
        frame = framed.from_pandas(frame, npartitions=1)
    D = gd.DynamicGraph(gd.from_edges([0, 1], [1, 2]))
    assert D.num_edges == 2
    refused(D, reason, insert=frame)


def test_a_data_frame_that_has_a_column_twice_is_refused():
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    D = gd.DynamicGraph(gd.from_edges([0, 1], [1, 2]))
    assert D.num_edges == 2
    frame = pandas.DataFrame([[1, 2, 3]], columns=["src", "src", "dst"])
    refused(D, "insert: the data frame has more than one column 'src'; rename the others", insert=frame)


def test_a_batch_that_outgrows_the_memory_is_refused_and_the_graph_stays():
    rng = np.random.default_rng(1)
    D = gd.DynamicGraph(gd.from_edges([0, 1], [1, 2], num_vertices=300).partition(2))
    many = rng.integers(0, 300, (2, 80_000))
    assert D.num_edges == 2
    refused = pytest.raises(gd.OverBudget, match=r"a batch of [\d,]+ edges needs .* GiB beside a dynamic .* divide it")
    with free(3_000_000), refused:
        D.update(insert=many)
    assert (D.version, D.num_edges, D.edges().src.tolist()) == (0, 2, [0, 1])
    assert D.update(insert=many).duplicates > 0
