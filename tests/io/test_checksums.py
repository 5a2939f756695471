"""Damage anywhere in a native file is found when a column is first read; older files without checksums are read."""

from __future__ import annotations

import json
import zlib

import numpy as np
import pytest

import graphdask as gd
from graphdask.errors import FormatError, GraphdaskError
from graphdask.io import EdgeList, native, read_edges, slices, spilled_edges, write_edges


@pytest.fixture(params=[300])
def edges(rng, request):
    src, dst = rng.integers(0, 50, (2, request.param))
    return EdgeList(src, dst, rng.random(len(src)), vertices=np.arange(50), directed=True)


def arrays_of(path):
    data = path.read_bytes()
    length = int.from_bytes(data[12:16], "little")
    return data, length, json.loads(data[32 : 32 + length])["arrays"]


def same(a, b):
    return all(np.array_equal(x, y) for x, y in ((a.src, b.src), (a.dst, b.dst), (a.weights, b.weights)))


@pytest.mark.parametrize(("names", "edges", "bits"), [(False, 300, 600), (True, 300, 600), (False, 150_000, 150)],
                         ids=["numbers", "names", "several pages"], indirect=["edges"])  # fmt: skip
def test_one_bit_anywhere_is_found_or_changes_nothing(names, edges, bits, tmp_path, rng):
    if names:
        words = np.array([f"v\u00e9{i}" for i in range(50)], object)
        edges = EdgeList(words[edges.src], words[edges.dst], edges.weights, directed=True)
    path = tmp_path / "g.gdg"
    write_edges(edges, path)
    whole, _, arrays = arrays_of(path)
    padding = np.ones(len(whole), bool)
    padding[: 32 + arrays_of(path)[1]] = False
    for entry in arrays.values():
        begin = int(entry["offset"])
        padding[begin : begin + entry["length"] * np.dtype(entry["dtype"]).itemsize] = False
    refused = 0
    for at in rng.choice(len(whole), bits, replace=False):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            read = read_edges(path)
        except FormatError:
            refused += 1
            continue
        assert padding[at] or 28 <= at < 32, at  # zeros that are not read
        assert same(read, edges)
    assert refused > bits * 2 // 3


def test_parts_put_together_have_checksums(tmp_path, rng):
    G = gd.from_edges(*rng.integers(0, 10**9, (2, 200_000)), rng.random(200_000))
    G.write(tmp_path / "g.gdg")
    G.write(str(tmp_path / "g") + "/", format="native", files=3)
    damaged = [tmp_path / "g.gdg", tmp_path / "g" / "part-00001.gdg"]
    for path in damaged:
        data = bytearray(path.read_bytes())
        entry = arrays_of(path)[2]["weights"]
        data[int(entry["offset"]) + 8 * entry["length"] - 1] ^= 1
        path.write_bytes(data)
        with pytest.raises(FormatError, match=r"weights is damaged: the checksum of its bytes from [\d,]+ on"):
            read_edges(path)
        assert len(read_edges(path, weights=False).src)  # which reads no weights
    with pytest.raises(GraphdaskError, match="weights is damaged"):
        gd.stream.build(tmp_path / "g.gdg", tmp_path / "g.gdl", memory="32MiB")
    assert gd.stream.build(tmp_path / "g.gdg", tmp_path / "g.gdl", memory="32MiB", weights=False).num_edges == 200_000


def test_pages_are_checked_where_they_are_read(tmp_path, rng):
    path = tmp_path / "g.gdg"
    write_edges(EdgeList(*rng.integers(0, 9, (2, 400_000))), path)
    data = bytearray(path.read_bytes())
    data[int(arrays_of(path)[2]["dst"]["offset"]) + 3_000_000] ^= 1
    path.write_bytes(data)

    mapped = spilled_edges(path, tmp_path, 1 << 24)
    pieces = slices(mapped.dst, size=100_000)
    assert len(next(pieces)[1]) == 100_000
    assert sum(len(piece) for _, piece in slices(mapped.src, size=100_000)) == 400_000
    with pytest.raises(FormatError, match="dst is damaged"):
        list(pieces)


def test_a_file_of_the_first_version_is_read_and_says_that_it_has_no_checksums(edges, tmp_path):
    path = tmp_path / "g.gdg"
    write_edges(edges, path)
    data, length, arrays = arrays_of(path)
    header = json.loads(data[32 : 32 + length])
    del header["arrays"]["checksums"]
    text = json.dumps(header).encode().ljust(length)
    end = int(arrays["checksums"]["offset"])
    head = native._HEADER.pack(native.MAGIC, 1, length, end, zlib.crc32(text))
    path.write_bytes(head + text + data[32 + length : end])
    read = read_edges(path)
    assert same(read, edges)
    assert read.report["checksums"] is False
    path.write_bytes(data[:8] + b"\1" + data[9:])  # a version that a damaged byte says
    with pytest.raises(FormatError, match="the header is damaged"):
        read_edges(path)


def test_names_that_are_cut_elsewhere_are_refused(tmp_path, edges):
    path = tmp_path / "g.gdg"
    write_edges(EdgeList(np.array(["a", "b"], object), np.array(["c", "d"], object)), path)
    for cuts in ([0, 5, 2], [1, 1, 2], [0, 2, 1], [-1, 1, 2], []):
        with pytest.raises(FormatError, match="the names of src"):
            native._strings(np.array(cuts, np.int64), np.frombuffer(b"ab", np.uint8), "src", path)
    with pytest.raises(FormatError, match="not UTF-8"):
        native._strings(np.array([0, 1, 2]), np.frombuffer(b"\xff\xfe", np.uint8), "src", path)
