"""Parquet files whose footer, pages or dictionaries state other than they hold are refused before memory is taken."""

from __future__ import annotations

import contextlib
import subprocess
import sys

import numpy as np
import pytest

import graphdask as gd
from graphdask.errors import FormatError, GraphdaskError, InputError
from graphdask.io import read_edges, spilled_edges

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

LITTLE = 48 << 20
ENCODINGS = {
    "int": (None, "PLAIN", "DELTA_BINARY_PACKED"),
    "str": (None, "PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"),
}


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
@pytest.mark.parametrize(("ids", "encoding"), [(ids, each) for ids in ENCODINGS for each in ENCODINGS[ids]])
def test_every_encoding_is_read_as_pyarrow_reads_it(ids, encoding, compression, version, tmp_path):
    random = np.random.default_rng(3)
    ends = random.integers(0, 200, (2, 5000))
    if ids == "str":
        ends = np.array([f"näme {i}" for i in range(200)], object)[ends]
    table = pa.table({"src": ends[0], "dst": ends[1], "weight": random.random(5000)})
    chosen = {"use_dictionary": False, "column_encoding": dict.fromkeys(("src", "dst"), encoding)} if encoding else {}
    parquet.write_table(
        table, tmp_path / "g.parquet", compression=compression, data_page_version=version, row_group_size=1700,
        data_page_size=4000, write_page_checksum=True, write_page_index=True, **chosen,
    )  # fmt: skip
    found, expected = read_edges(tmp_path / "g.parquet"), parquet.read_table(tmp_path / "g.parquet")
    for name, values in (("src", found.src), ("dst", found.dst), ("weight", found.weights)):
        assert list(values) == expected.column(name).to_pylist()


def varint(value):
    """A number as Thrift's compact protocol writes it: zigzag, seven bits a byte."""
    value *= 2
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


@pytest.mark.parametrize("dictionary", [True, False], ids=["dictionary", "plain"])
@pytest.mark.parametrize("ids", ["int", "str"])
@pytest.mark.parametrize("instead", [4999, 5001, 8100])
def test_a_number_of_rows_that_is_a_lie_anywhere_is_refused(instead, ids, dictionary, tmp_path):
    ends = np.arange(5000)
    if ids == "str":
        ends = np.array([f"v{i}" for i in ends], object)
    path = tmp_path / "g.parquet"
    parquet.write_table(
        pa.table({"src": ends, "dst": ends[::-1]}), path, use_dictionary=dictionary, compression="none",
        dictionary_pagesize_limit=1 << 20, store_schema=False,
    )  # fmt: skip
    whole = path.read_bytes()
    expected = [*ends, *ends[::-1]]
    place, places, refused = -1, 0, 0
    while (place := whole.find(varint(5000), place + 1)) >= 0:  # of pages, of dictionaries and of the footer
        path.write_bytes(whole[:place] + varint(instead) + whole[place + 2 :])
        places += 1
        try:
            edges = read_edges(path)
        except FormatError:
            refused += 1
        else:  # where it is what a statistic says, or a value itself
            differ = sum(a != b for a, b in zip([*edges.src, *edges.dst], expected, strict=True))
            assert differ <= 1
    assert places >= 5
    assert refused >= 5


def write_bomb(path, kind):
    """Under 200 KB that become several times `LITTLE`."""
    long = "a" * (1 << 20)
    if kind == "dictionary":
        table, options = pa.table({"src": [long] * 400, "dst": ["b"] * 400}), {"dictionary_pagesize_limit": 1 << 22}
    elif kind == "prefixes":
        table = pa.table({"src": [long] * 400, "dst": ["b"] * 400})
        options = {"use_dictionary": False, "column_encoding": {"src": "DELTA_BYTE_ARRAY", "dst": "PLAIN"}}
    elif kind == "a page":
        table, options = pa.table({"src": [long] * 200, "dst": ["b"] * 200}), {"use_dictionary": False}
        options |= {"data_page_size": 1 << 30, "write_batch_size": 1000}
    elif kind == "pages":
        table, options = pa.table({"src": [long] * 200, "dst": ["b"] * 200}), {"use_dictionary": False}
    else:
        table, options = pa.table({"src": np.zeros(4_000_000, np.int64), "dst": np.zeros(4_000_000, np.int64)}), {}
    parquet.write_table(table, path, compression="zstd", write_statistics=False, **options)


KINDS = ("dictionary", "prefixes", "a page", "pages", "rows")


@pytest.mark.slow
def test_what_small_files_become_is_refused_before_memory_is_taken(tmp_path):
    paths = [tmp_path / f"{kind.replace(' ', '-')}.parquet" for kind in KINDS]
    for path, kind in zip(paths, KINDS, strict=True):
        write_bomb(path, kind)
        assert path.stat().st_size < 200_000
    some = tmp_path / "some.parquet"
    gd.from_edges(["a", "b"], ["b", "c"]).write(some)
    program = f"""if True:
        import sys
        import graphdask as gd
        from graphdask.device import backend
        from graphdask.io import estimates
        gd.read_graph(sys.argv[1])  # loads the libraries
        backend.CpuBackend.free_memory = lambda self: {LITTLE}
        estimates.rows_stated = lambda path: 0  # an estimate that knows nothing
        def peak():
            return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
        for path in sys.argv[2:]:
            for read in (gd.read_graph, lambda path: gd.stream.build(path, path + ".gdl", memory="16MiB")):
                if "rows" in path and read is not gd.read_graph:
                    continue  # numbers go to disk
                open("/proc/self/clear_refs", "w").write("5")
                before = peak()
                try:
                    read(path)
                except gd.OverBudget as error:
                    print(peak() - before, error)
    """
    ran = subprocess.run([sys.executable, "-c", program, some, *paths], capture_output=True, text=True, timeout=200)
    lines = ran.stdout.splitlines()
    assert len(lines) == 2 * len(KINDS) - 1, ran.stderr
    for line in lines:
        assert "may be used" in line
        assert int(line.split()[0]) < 2 * LITTLE >> 10, line


@pytest.mark.parametrize("column", [[[1], [2]], [{"a": 1}, {"a": 2}], [1.5, 2.5], [True, False], [b"a", b"b"]])
def test_columns_that_are_no_ids_or_numbers_are_refused_by_their_type(column, tmp_path):
    parquet.write_table(pa.table({"src": column, "dst": [1, 2]}), tmp_path / "g.parquet")
    with pytest.raises(FormatError, match=r"column 'src' is of type .*vertex ids are integers or strings"):
        read_edges(tmp_path / "g.parquet")
    if isinstance(column[0], float):
        return
    parquet.write_table(pa.table({"src": [1, 2], "dst": [1, 2], "weight": column}), tmp_path / "g.parquet")
    with pytest.raises(InputError, match=r"column 'weight' is of type .*weights and times are numbers"):
        read_edges(tmp_path / "g.parquet")


@pytest.mark.parametrize("ids", ["int", "str"])
def test_damage_anywhere_raises_typed_errors_only(ids, tmp_path):
    ends = np.arange(300) if ids == "int" else np.array([f"v{i % 50}" for i in range(300)], object)
    path = tmp_path / "g.parquet"
    parquet.write_table(pa.table({"src": ends, "dst": ends[::-1]}), path, data_page_size=400, store_schema=False)
    whole = path.read_bytes()
    random = np.random.default_rng(11)
    for _ in range(400):
        data = bytearray(whole)
        for place in random.integers(4, len(data) - 8, random.integers(1, 4)):
            data[place] = random.integers(256)
        path.write_bytes(data)
        with contextlib.suppress(GraphdaskError):
            read_edges(path)


@pytest.mark.parametrize("streamed", [False, True], ids=["read", "streamed"])
@pytest.mark.parametrize("ids", ["int", "str"])
def test_a_bit_of_the_data_that_graphdask_wrote_is_missed_nowhere(ids, streamed, tmp_path):
    path = tmp_path / "g.parquet"
    ends = np.random.default_rng(5).integers(0, 40, (2, 300))
    ends = ends if ids == "int" else np.array([f"v{i}" for i in range(40)], object)[ends]
    gd.from_edges(*ends, np.arange(300) + 0.5).write(path)
    whole = path.read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    expected = read_edges(path)
    for place in range(4, footer, 29):
        data = bytearray(whole)
        data[place] ^= 1 << place % 8
        path.write_bytes(data)
        try:
            edges = spilled_edges(path, tmp_path, 1 << 26) if streamed else read_edges(path)
        except FormatError:
            continue
        for name in ("src", "dst", "weights"):  # statistics in the header of a page are not read
            np.testing.assert_array_equal(getattr(edges, name), getattr(expected, name))
