"""VertexIds: any ids become 0..n-1 in their own order and come back."""

from __future__ import annotations

import numpy as np
import pytest

from graphdask.errors import InputError, VertexNotFound
from graphdask.partition.ids import VertexIds, number_vertices


def numbered(src, dst, vertices=None, num_vertices=None):
    src, dst = np.asarray(src), np.asarray(dst)
    vertices = None if vertices is None else np.asarray(vertices)
    return number_vertices(src, dst, vertices, num_vertices)


@pytest.mark.parametrize("spread", [1, 7, 10**6, 2**55])
def test_numbers_are_ranks_in_the_order_of_the_ids(rng, spread):
    pool = rng.permutation(100) * spread + 3
    src, dst = rng.choice(pool, 400), rng.choice(pool, 400)
    ids, s, d = numbered(src, dst)
    expected = np.unique([src, dst])
    np.testing.assert_array_equal(ids.values, expected)
    np.testing.assert_array_equal(s, np.searchsorted(expected, src))
    np.testing.assert_array_equal(d, np.searchsorted(expected, dst))
    np.testing.assert_array_equal(ids.to_caller(s), src)
    np.testing.assert_array_equal(ids.to_internal(dst), d)


def test_consecutive_ids_need_no_table():
    for low in (0, 1, 5, 2**40, 2**63 - 4):
        ids, s, d = numbered([low, low + 1], [low + 2, low + 3])
        assert (ids.table, ids.start, ids.count) == (None, low, 4)
        assert ids.values.tolist() == [low, low + 1, low + 2, low + 3]
        assert (s.tolist(), d.tolist()) == ([0, 1], [2, 3])


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_ids_that_do_not_fit_32_bits_come_back_whole(dtype):
    ids = VertexIds(3, 2**31 - 2)
    back = ids.to_caller(np.array([0, 1, 2, -1], dtype))
    assert back.dtype == np.int64
    assert back.tolist() == [2**31 - 2, 2**31 - 1, 2**31, -1]
    assert VertexIds(3, 5).to_caller(np.array([2, -1], np.int32)).dtype == np.int32


def test_strings_are_ordered_as_python_orders_them():
    ids, s, d = numbered(np.array(["b", "", "é"], object), np.array(["a", "B", "b"], object))
    assert ids.values.tolist() == sorted(["b", "", "é", "a", "B"])
    assert ids.to_caller(s).tolist() == ["b", "", "é"]
    assert ids.to_caller(np.array([-1, 0])).tolist() == [None, ""]
    assert ids.to_internal("é") == 4
    assert d.dtype == np.int64


def test_declared_vertices_are_kept_and_others_refused():
    ids, s, _ = numbered([5], [9], vertices=[9, 1, 5, 5])
    assert ids.values.tolist() == [1, 5, 9]
    assert s.tolist() == [1]
    with pytest.raises(VertexNotFound, match=r"edge destination 8 is not in the graph; it has 3 vertices"):
        numbered([5], [8], vertices=[1, 5, 9])
    with pytest.raises(VertexNotFound, match=r"edge source 4 is not in the graph; its vertices are 0 to 3"):
        numbered([1, 4], [0, 0], num_vertices=4)
    with pytest.raises(InputError, match="strings"):
        numbered(np.array(["a"], object), np.array(["b"], object), num_vertices=4)


def test_one_kind_of_id_in_a_graph():
    with pytest.raises(InputError, match="sources such as 1 and destinations such as 'a' are not of one kind"):
        numbered([1], np.array(["a"], object))
    with pytest.raises(InputError, match="edge source 1 is not a string"):
        numbered([1], [2], vertices=np.array(["a"], object))


@pytest.mark.parametrize("value", [True, "2", 2.5, -1, np.nan, None])
def test_the_number_of_vertices_is_a_whole_number(value):
    if value is None:
        assert numbered([3], [4])[0].count == 2
        return
    with pytest.raises(InputError, match="num_vertices"):
        numbered([0], [1], num_vertices=value)


def test_no_ids_at_all():
    none = np.zeros(0, np.int64)
    for ids, s, d in (numbered(none, none), numbered(none, none, vertices=none)):
        assert ids.count == len(s) == len(d) == 0
        assert ids.values.shape == (0,)
        with pytest.raises(VertexNotFound, match="no vertices"):
            ids.to_internal(0)


def test_an_empty_lookup_finds_nothing():
    for ids in (VertexIds(3), VertexIds(2, 0, np.array([4, 9])), VertexIds(2, 0, np.array(["a", "b"], object))):
        assert ids.to_internal([]).shape == (0,)
        assert ids.to_caller(np.zeros(0, np.int32)).shape == (0,)
