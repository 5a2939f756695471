"""Files that are made to take long, to fill memory or to lead elsewhere are refused, in time linear in their size."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import shutil
import subprocess
import sys
import time
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from scipy import sparse

import graphdask as gd
from graphdask.errors import FormatError, GraphdaskError, InputError, OverBudget
from graphdask.io import read_edges
from graphdask.io.opening import Source

TOKENS = {
    "digits": lambda n: b"9" * n + b"x",
    "digits and a point": lambda n: b"1." + b"0" * n + b"x",
    "a point and digits": lambda n: b"." + b"1" * n + b"x",
    "an exponent": lambda n: b"1e" + b"9" * n + b"x",
    "zeros": lambda n: b"0" * n + b"x",
    "a whole number": lambda n: b"9" * n,
    "a whole number, with zeros": lambda n: b"-" + b"0" * n + b"5",
    "signs": lambda n: b"+" * n,
    "points": lambda n: b"." * n,
    "missing": lambda n: b"n" * n,
}


def seconds(call, *arguments):
    """Of the processor, the least of three."""
    took = []
    for _ in range(3):
        begin = time.process_time()
        with suppress(GraphdaskError):
            call(*arguments)
        took.append(time.process_time() - begin)
    return min(took)


@pytest.mark.parametrize("name", ["g.txt", "g.csv", "g.mtx", "g.graph", "g.gr", "g.adjlist", "g.e"])
@pytest.mark.parametrize("kind", TOKENS)
def test_a_text_file_is_read_in_time_linear_in_its_size(name, kind, tmp_path):
    begin = {
        "g.mtx": b"%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 ",
        "g.graph": b"2 1\n2\n",
        "g.gr": b"p sp 3 1\na 1 2 ",
        "g.e": b"1 2 ",
    }.get(name, b"0 1\n1 ")

    def read(n):
        (tmp_path / name).write_bytes(begin + TOKENS[kind](n) + b"\n")
        (tmp_path / "g.v").write_bytes(b"1\n2\n")
        read_edges(tmp_path / name)

    few, many = (seconds(read, n) for n in (10_000, 100_000))
    assert many < 50 * max(few, 2e-3)


def test_numbers_of_thousands_of_digits_are_what_python_makes_of_them_or_are_refused(tmp_path):
    def read(token, end=b"1"):
        (tmp_path / "g.txt").write_bytes(b"12 " + end + b" " + token + b"\n")
        return read_edges(tmp_path / "g.txt", weights=True, ids="int")

    long = 10**5000 + 7
    sys.set_int_max_str_digits(0)
    try:
        digits = str(long).encode()
    finally:
        sys.set_int_max_str_digits(4300)
    assert read(digits).weights.tolist() == [float("inf")]
    assert read(b"-" + digits).weights.tolist() == [-float("inf")]
    zeros = read(b"0" * 5000 + b"12", b"0" * 5000 + b"34")
    assert (zeros.dst.tolist(), zeros.weights.tolist()) == ([34], [12])
    for value in (2**63 - 1, 2**63, 10**19 - 1, 10**19, -(2**63), -(2**63) - 1, -(10**19)):
        (given,) = read(str(value).encode()).weights.tolist()
        assert given == (value if -(2**63) <= value < 2**63 else float(value))
        assert isinstance(given, int) == (-(2**63) <= value < 2**63)
    with pytest.raises(gd.FormatError, match=r"is above 2\^63 - 1"):
        read(b"1", digits)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("g.gr", "p sp {} 1\na 1 2 3\n"),
        ("g.gr", "p sp 3 {}\na 1 2 3\n"),
        ("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n{0} {0} 1\n1 2\n"),
        ("g.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n{0} {0} 2\n1 2\n2 3\n"),
        ("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 {}\n1 2\n"),
        ("g.graph", "{} 1\n2\n1\n"),
        ("g.txt", "# Vertices: {}, counted from 0\n1 2\n"),
        ("g.txt", "# Vertices: 3, counted from {}\n1 2\n"),
    ],
)
@pytest.mark.parametrize("count", ["9" * 5000, str(2**63), str(10**30)])
def test_a_header_of_any_number_of_digits_is_refused_by_name(name, content, count, tmp_path):
    (tmp_path / name).write_text(content.format(count))
    with pytest.raises((FormatError, OverBudget), match=f"g\\.{name[2:]}"):
        gd.read_graph(tmp_path / name)


def test_a_comment_of_thousands_of_digits_only_warns(tmp_path):
    (tmp_path / "g.txt").write_text(f"# Nodes: {'9' * 5000} Edges: {'8' * 5000}\n1 2\n")
    with pytest.warns(gd.GraphdaskWarning, match="declares"):
        assert gd.read_graph(tmp_path / "g.txt").num_edges == 1


BOMBS = {
    "edges": b"1 2\n" * 12_000_000,
    "digits": b"1 2\n" * 9 + b"5" * 40_000_000,
    "names": b"a b\n" * 1_000_000,
}
LITTLE = 48 << 20


@pytest.mark.slow
@pytest.mark.parametrize(("module", "ending"), [(gzip, "gz"), (bz2, "bz2"), (lzma, "xz")], ids=["gz", "bz2", "xz"])
def test_decompression_ends_where_the_announced_memory_does(module, ending, tmp_path):
    options = {"preset": 0} if module is lzma else {"compresslevel": 1}
    for kind, text in BOMBS.items():
        with module.open(tmp_path / f"{kind}.txt.{ending}", "wb", **options) as stream:
            stream.write(text)
    program = f"""if True:
        import sys
        import graphdask as gd
        from graphdask.device import backend
        gd.read_graph(sys.argv[1])  # loads the parser
        backend.CpuBackend.free_memory = lambda self: {LITTLE}
        def peak():
            return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
        for path in sys.argv[2:]:
            open("/proc/self/clear_refs", "w").write("5")
            before = peak()
            try:
                gd.read_graph(path, progress=False)
            except gd.OverBudget as error:
                print(peak() - before, error)
    """
    some = tmp_path / "some.txt"
    some.write_bytes(b"1 2\n" * 100_000)
    paths = [tmp_path / f"{kind}.txt.{ending}" for kind in BOMBS]
    ran = subprocess.run([sys.executable, "-c", program, some, *paths], capture_output=True, text=True, timeout=100)
    lines = ran.stdout.splitlines()
    assert len(lines) == len(BOMBS), ran.stderr
    for line in lines:  # blocks that are parsed ahead count too; the whole takes 200 MiB to 1 GiB
        assert "GiB may be used" in line
        assert int(line.split()[0]) < 3 * LITTLE >> 10, line


def test_an_announced_line_bounds_what_is_streamed(tmp_path):
    path = tmp_path / "g.txt.gz"
    with gzip.open(path, "wb", 1) as stream:
        stream.write(b"1 2\n" * 9 + b"5" * (24 << 20))
    with pytest.raises(GraphdaskError, match="a line of more than"):
        gd.stream.build(path, tmp_path / "g.gdl", memory="16MiB")


def test_a_line_of_many_blocks_is_copied_once(tmp_path):
    text = b"1 2\n" + b"7" * 1000 + b"\r\n3 4\r5 6\n" + b"8" * 50
    (tmp_path / "g.txt").write_bytes(text)
    with gzip.open(tmp_path / "g.txt.gz", "wb") as stream:
        stream.write(text)
    for size in (1, 2, 3, 7, 64, 999, 1004, 1005, 1006, 5000):
        for name, mapped in (("g.txt", True), ("g.txt", False), ("g.txt.gz", True)):
            blocks = [block.tobytes() for block in Source(tmp_path / name).blocks(0, size, mapped)]
            assert b"".join(blocks) == text
            assert [line for block in blocks for line in block.splitlines()] == text.splitlines()


@pytest.mark.slow
def test_text_whose_edges_begin_far_down_is_refused(tmp_path):
    (tmp_path / "g.txt").write_bytes(b"\n" * (3 << 20) + b"1 2\n")
    with pytest.raises(FormatError, match="the first 2 MiB hold neither two edges"):
        gd.read_graph(tmp_path / "g.txt")


def test_an_archive_larger_than_memory_is_refused_before_it_is_read(tmp_path, free_memory):
    path = tmp_path / "g.npz"
    np.savez_compressed(path, src=np.zeros(10**6, np.int64), dst=np.zeros(10**6, np.int64))
    free_memory(10 << 20)
    with pytest.raises(OverBudget, match=r"its arrays take .* GiB, and .* may be used"):
        read_edges(path)


def test_an_array_that_says_it_is_larger_than_its_file_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "g.npz", "w") as archive:
        for name in ("src", "dst"):
            with archive.open(f"{name}.npy", "w") as stream:
                head = {"descr": "<i8", "fortran_order": False, "shape": (10**12,)}
                np.lib.format.write_array_header_1_0(stream, head)
                stream.write(bytes(80))
    with pytest.raises(FormatError, match=r"src\.npy has \d+ bytes, too few"):
        read_edges(tmp_path / "g.npz")


@pytest.mark.parametrize("spoil", [{"indices": [9, 0, 1]}, {"indices": [-1, 0, 1]}, {"indptr": [0, 5, 1, 3]}])
def test_a_sparse_matrix_with_bad_indices_is_refused(spoil, tmp_path):
    matrix = sparse.csr_matrix(np.eye(3))
    arrays = {"indices": matrix.indices, "indptr": matrix.indptr, "data": matrix.data}
    arrays |= {name: np.array(values, np.int32) for name, values in spoil.items()}
    np.savez(tmp_path / "g.npz", format=b"csr", shape=(3, 3), **arrays)
    with pytest.raises(FormatError, match="NPZ"):
        read_edges(tmp_path / "g.npz")


def test_weights_of_any_width_and_order_keep_their_values(tmp_path):
    weights = np.array([0.1, 1e300, 5.5])
    for dtype in (">f8", "<f8", np.longdouble):
        np.savez(tmp_path / "g.npz", src=np.arange(3), dst=np.arange(3), weights=weights.astype(dtype))
        np.testing.assert_array_equal(read_edges(tmp_path / "g.npz").weights, weights)


@pytest.fixture
def folder(tmp_path):
    G = gd.from_edges(np.arange(20), (np.arange(20) * 7 + 1) % 20, np.arange(20) + 0.5)
    G.write(str(tmp_path / "g") + "/", format="csv", files=2)
    return tmp_path / "g"


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../other.csv", "a/b.csv", "..", ".", "", "\0", "x" * 300, "a\\b", 7, None, ["part"]]
)
def test_a_manifest_names_only_files_in_its_folder(name, folder):
    record = json.loads((folder / "_graph.json").read_text())
    shutil.copy(folder / record["parts"][0]["file"], folder.parent / "other.csv")
    record["parts"][0]["file"] = name
    (folder / "_graph.json").write_text(json.dumps(record))
    with pytest.raises(FormatError, match=r"_graph\.json"):
        gd.read_graph(folder)


def test_a_part_that_is_a_link_out_of_the_folder_is_refused(folder):
    name = json.loads((folder / "_graph.json").read_text())["parts"][0]["file"]
    (folder / name).rename(folder.parent / "elsewhere.csv")
    (folder / name).symlink_to(folder.parent / "elsewhere.csv")
    with pytest.raises(FormatError, match="a link that leads out of the folder"):
        gd.read_graph(folder)
    (folder.parent / "link").symlink_to(folder)  # one to the folder itself is a way into it
    (folder / name).unlink()
    (folder.parent / "elsewhere.csv").rename(folder / name)
    assert gd.read_graph(folder.parent / "link").num_edges == 20


@pytest.mark.parametrize("value", [None, True, -1, 1.5, 2**64, "x", [], {}, float("nan")])
@pytest.mark.parametrize("key", ["format", "directed", "vertices", "ids", "edges", "weights", "parts"])
def test_a_manifest_of_other_types_is_refused(key, value, folder):
    record = json.loads((folder / "_graph.json").read_text())
    if record[key] == value and type(record[key]) is type(value):
        return
    record[key] = value
    (folder / "_graph.json").write_text(json.dumps(record))
    if key == "weights" and value is None:
        return
    with pytest.raises((FormatError, InputError), match="g"):
        gd.read_graph(folder)


def test_a_manifest_of_brackets_is_refused(folder):
    (folder / "_graph.json").write_text("[" * 100_000)
    with pytest.raises(FormatError, match="does not describe a graph"):
        gd.read_graph(folder)


@pytest.mark.parametrize("path", ["a\0b", "\ud800", "x" * 5000, b"bytes", 7, None, "~nobody-of-this-name/x", [], 1.5])
def test_what_is_no_path_is_refused(path):
    for call in (gd.read_graph, read_edges, gd.io.detect_format):
        with pytest.raises(InputError):
            call(path)


@pytest.mark.parametrize("name", ["g.txt", "g.txt.gz", "g.csv", "g.npz", "g.gdg", "g.gdl", "g.parquet", "g.mtx", "g"])
@pytest.mark.parametrize("kind", ["pipe", "device", "pipe in a folder"])
def test_pipes_and_devices_are_refused_and_never_waited_for(name, kind, tmp_path):
    path = tmp_path / name
    place = path
    if kind == "pipe in a folder":
        path.mkdir()
        place = path / {"g": "_graph.json", "g.parquet": "a.parquet"}.get(name, "part")
    if kind == "device":
        place.symlink_to("/dev/zero")
    else:
        os.mkfifo(place)
    program = "import sys, graphdask as gd\ntry:\n gd.{}(sys.argv[1])\nexcept gd.GraphdaskError as e:\n print(e)\n"
    calls = ["stream.open"] if name == "g.gdl" else ["read_graph"]
    for call in calls:
        ran = subprocess.run(
            [sys.executable, "-c", program.format(call), path], capture_output=True, text=True, timeout=30
        )
        assert ran.returncode == 0, ran.stderr
        assert name in ran.stdout
        assert not ran.stderr


def test_vertices_that_a_header_declares_are_held_to_memory_with_what_each_takes(tmp_path, free_memory):
    free_memory(100 << 20)
    for name, text in (
        ("g.gr", "p sp {} 1\na 1 2 1\n"),
        ("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n{0} {0} 1\n1 2\n"),
        ("g.txt", "# Vertices: {}, counted from 0\n1 2\n"),
    ):
        (tmp_path / name).write_text(text.format(6_000_000))
        with pytest.raises(OverBudget, match=r"declares 6,000,000 vertices, which without edges need 0\.1 GiB"):
            gd.read_graph(tmp_path / name)
        (tmp_path / name).write_text(text.format(300_000))
        assert gd.read_graph(tmp_path / name).num_vertices == 300_000


@pytest.mark.slow
def test_lists_of_neighbours_may_be_longer_than_what_is_looked_at_for_a_header(tmp_path):
    path = tmp_path / "g.adjlist"
    many = 400_000
    lists = " ".join(map(str, range(1, many)))
    for text in (f"0 {lists}\n1 2\n", f"5 6\n0 {lists}\n", f"# a hub\n\n0 {lists}"):
        path.write_text(text)
        edges = read_edges(path)
        assert (edges.src == 0).sum() == many - 1


@pytest.mark.parametrize(("module", "ending"), [(gzip, "gz"), (bz2, "bz2"), (lzma, "xz")], ids=["gz", "bz2", "xz"])
def test_damage_to_a_later_member_of_a_compressed_file_is_missed_nowhere(module, ending, tmp_path):
    members = [module.compress(f"{k} {k + 1}\n".encode() * 20) for k in range(1, 4)]
    path = tmp_path / f"g.txt.{ending}"
    path.write_bytes(b"".join(members))
    expected = read_edges(path).src
    assert len(expected) == 60
    whole = b"".join(members)
    begin, end = len(members[0]), len(members[0]) + len(members[1])
    for place in range(begin, end):
        for bit in (0, 3, 7):
            data = bytearray(whole)
            data[place] ^= 1 << bit
            path.write_bytes(data)
            try:
                found = read_edges(path).src
            except FormatError:
                continue
            np.testing.assert_array_equal(found, expected)  # bits that mean nothing, such as a time in gzip's header
    for cut in range(begin + 1, end):
        path.write_bytes(whole[:cut])
        with pytest.raises(FormatError, match=r"truncated|corrupt"):
            read_edges(path)
    for rest in (b"garbage", b"\n", b"1 2\n", members[1][:5]):
        path.write_bytes(whole + rest)
        with pytest.raises(FormatError, match=r"truncated|corrupt"):
            read_edges(path)
    path.write_bytes(members[0] + bytes(512) + members[1] + bytes(4096))  # as tapes and tar pad them
    assert len(read_edges(path).src) == 40


def test_the_dictionary_of_xz_is_held_to_the_memory(tmp_path, free_memory):
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 256 << 20}]
    (tmp_path / "g.txt.xz").write_bytes(lzma.compress(b"1 2\n" * 9, lzma.FORMAT_XZ, filters=filters))
    assert read_edges(tmp_path / "g.txt.xz").num_edges == 9
    free_memory(64 << 20)
    with pytest.raises(GraphdaskError, match=r"g\.txt\.xz.*[Mm]emory"):
        read_edges(tmp_path / "g.txt.xz")


@pytest.mark.parametrize("skip", [0, 1, 2, 3, 4, 7])
@pytest.mark.parametrize("ending", ["gz", "bz2", "xz"])
def test_compressed_text_begins_where_the_option_says(skip, ending, tmp_path):
    module = {"gz": gzip, "bz2": bz2, "xz": lzma}[ending]
    for mark in (b"", b"\xef\xbb\xbf"):
        for text in (b"", b"1", b"1 2", b"1 2\n3 4\n"):
            (tmp_path / f"g.txt.{ending}").write_bytes(module.compress(mark + text))
            blocks = Source(tmp_path / f"g.txt.{ending}").blocks(skip)
            assert b"".join(block.tobytes() for block in blocks) == text[skip:]
