"""Damaged files and odd arguments give a graph or an error of graphdask.errors, and nothing else."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import time
import warnings

import numpy as np
import pytest
from scipy import sparse

import graphdask as gd
from graphdask.errors import GraphdaskError

SECONDS = 10.0
"""That each of the two may take."""
NUMBERS = [
    b"-1", b"0", b"1e999", b"nan", b"-inf", b"9223372036854775808", b"18446744073709551616", b"4294967296", b"1" * 5000,
    b"1000000000000", b"0x10", b"1.5", b"", b"\xff\xfe", b"\0", "\u0663".encode(), b"null", b"1_000", b"+5", b'"',
    b"\r", b"%", b"#", b"[]", b"{}", b"../x", b"1e308", b"NaN", b"Infinity", b"true",
]  # fmt: skip
SIZES = [0, 1, -1, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1, -(2**63)]


def write_all(folder):
    """One small file of each kind; the file that is damaged, and the path that is read."""
    rng = np.random.default_rng(0)
    src, dst = rng.integers(1, 40, (2, 120))
    G = gd.from_edges(src, dst, rng.integers(1, 9, 120) + 0.5, vertices=np.arange(1, 41))
    names = np.array([f"v\u00e9{i}" for i in range(41)], object)
    N = gd.from_edges(names[src], names[dst])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("e.txt", "e.csv", "e.parquet", "e.npz", "e.gdg", "e.txt.gz", "e.csv.bz2", "e.txt.xz"):
            G.write(folder / name)
        for name in ("n.txt", "n.csv", "n.parquet", "n.gdg", "n.npz"):
            N.write(folder / name)
        G.write(str(folder / "f") + "/", format="csv", files=2)
        N.write(str(folder / "fn") + "/", format="parquet", files=1)
    for name, of in (("g.gdl", G), ("n.gdl", N)):
        gd.stream.build(of, folder / name, memory="64MiB")
    sparse.save_npz(folder / "s.npz", sparse.csr_matrix((np.ones(120), (src, dst)), (41, 41)))
    (folder / "e.gr").write_text("p sp 41 120\n" + "".join(f"a {a} {b} 3\n" for a, b in zip(src, dst, strict=True)))
    rows = "".join(f"{a} {b} 1.5\n" for a, b in zip(src, dst, strict=True))
    (folder / "e.mtx").write_text(f"%%MatrixMarket matrix coordinate real general\n41 41 120\n{rows}")
    (folder / "e.graph").write_text("4 3 1\n2 5\n1 5 3 2\n2 2 4 1\n3 1\n")
    (folder / "e.adjlist").write_text("1 2 3\n2 1\n3\n")
    (folder / "l.v").write_text("".join(f"{i}\n" for i in range(1, 41)))
    (folder / "l.e").write_text(rows)
    read = {name: name for name in (path.name for path in folder.iterdir() if path.is_file())}
    read |= {"l.v": "l.e", "f/_graph.json": "f", "fn/_graph.json": "fn", "fn/_vertices.parquet": "fn"}
    return {folder / damaged: folder / path for damaged, path in read.items()}


def damaged(data: bytes, r: random.Random) -> bytes:
    b = bytearray(data)
    for _ in range(r.choice([1, 1, 1, 2, 20])):
        i = r.randrange(len(b) or 1)
        kind = r.randrange(9)
        if not b:
            break
        if kind == 0:
            b[i] ^= 1 << r.randrange(8)
        elif kind == 1:
            del b[i:]
        elif kind == 2:
            b[i:i] = bytes(r.randrange(256) for _ in range(r.choice([1, 3, 8])))
        elif kind == 3:
            b[i:i] = b[i : i + r.choice([1, 8, 64, 500])]
        elif kind == 4:
            del b[i : i + r.choice([1, 4, 8, 64])]
        elif kind == 5:
            b[i : i + 8] = r.choice([bytes, lambda n: b"\xff" * n])(len(b[i : i + 8]))
        elif kind == 6:
            width = r.choice([4, 8])
            b[i : i + width] = (r.choice(SIZES) & (256**width - 1)).to_bytes(width, "little")
        elif kind == 7:
            b[i : i + r.choice([0, 1, 3])] = r.choice(NUMBERS)
        else:
            lines = bytes(b).splitlines(keepends=True)
            at = r.randrange(len(lines))
            lines[at] = r.choice([b"", lines[at] * 2, b"9" * 30_000 + b"\n", b"1 " * 9_000 + b"\n", NUMBERS[8]])
            b = bytearray(b"".join(lines))
    return bytes(b)


def read(path):
    if path.suffix == ".gdl":
        gd.bfs(gd.stream.open(path, memory="64MiB"), gd.stream.open(path, memory="64MiB").vertex_ids[0])
    else:
        gd.read_graph(path)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_damaged_files_give_a_graph_or_a_typed_error(tmp_path, rng):
    files = write_all(tmp_path)
    whole = {path: path.read_bytes() for path in files}
    for path in files.values():
        read(path)
    packers = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
    openers = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
    end, tried = time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        seed = int(rng.integers(2**63))
        r = random.Random(seed)
        path = r.choice(sorted(files))
        pack = packers.get(path.suffix) if r.random() < 0.5 else None
        data = damaged(openers[path.suffix](whole[path]) if pack else whole[path], r)
        path.unlink()
        path.write_bytes(pack(data) if pack else data)
        try:
            read(files[path])
        except GraphdaskError:
            pass
        except Exception as error:
            raise AssertionError(
                f"{path.name}, seed {seed}: {type(error).__name__}: {error}; {data[:2000]!r}"
            ) from error
        finally:
            path.unlink(missing_ok=True)
            path.write_bytes(whole[path])
        tried += 1
    assert tried > 100


def odd_values():
    matrix, far, long = (sparse.csr_matrix(np.eye(3)) for _ in range(3))
    far.indices[0], long.indptr[1] = 9, 7
    return [
        None, True, -1, 0, 1.5, float("nan"), 10**12, 2**62, 2**63, 2**64, 10**400, "x", "", "\ud800", "a\0b", b"x", [],
        [1], [[1]], ["a", 1], {}, {"a": 1}, set(), object(), np.zeros(3), np.zeros((2, 2)), np.array(5),
        np.zeros(3, "M8"), np.array([1, 2, 3]).view("m8"), np.array(["NaT"] * 3, "M8[s]"), np.zeros(3, complex),
        np.array([None] * 3), np.array([object()] * 3), np.zeros(3, [("a", int)]), np.array([b"a"] * 3),
        np.array([2**64 - 1] * 3, np.uint64), np.array([10**30] * 3, object), [10**400] * 3, [2**63] * 3, len, gd,
        np.float64("inf"), np.ma.masked_array([1, 2, 3], [0, 1, 0]), range(3), matrix, far, long,
        np.ones(3, np.longdouble), np.array(["a", "b", "c"]), [1, 2, "3"], [float("inf")] * 3, np.datetime64("NaT"),
        np.int64(5).view("m8"),
    ]  # fmt: skip


def constructors(tmp_path):
    import networkx

    (tmp_path / "g.txt").write_text("0 1\n1 2\n")
    (tmp_path / "t.txt").write_text("".join(f"{i} {i + 1} {i}\n" for i in range(10)))
    how = {"self_loops": "keep", "multi_edges": "keep"}
    text = {"header": None, "skip_rows": 0, "na_values": None, "ids": None}
    ends = {"src": [0, 1, 2], "dst": [1, 2, 0]}
    calls = [
        (gd.from_edges, ends | {"weights": [1.0, 2.0, 3.0], "num_vertices": 3, "directed": True} | how),
        (gd.from_edges, ends | {"vertices": [0, 1, 2]}),
        (gd.from_scipy, {"A": sparse.csr_matrix(np.eye(3)), "directed": True} | how),
        (gd.from_networkx, {"g": networkx.path_graph(3), "weight": None} | how),
        (gd.DynamicGraph, {"G": gd.from_edges([0, 1], [1, 2])}),
        (gd.stream.open, {"path": tmp_path / "none.gdl", "memory": "64MiB"}),
        (gd.read_graph, {"path": tmp_path / "g.txt", "format": "edgelist", "directed": True, "weights": None,
                         "num_vertices": 3, "comment": None, "delimiter": None, "columns": None, "progress": False}
         | how | text),
        (gd.read_stream, {"path": tmp_path / "t.txt", "preload": 0.5, "batch": 0.1, "batches": 2, "directed": True,
                          "appear": False} | text),
    ]  # fmt: skip
    pandas = pytest.importorskip("pandas")
    frames = pytest.importorskip("dask.dataframe")
    frame = frames.from_pandas(pandas.DataFrame({"s": [0, 1], "d": [1, 0], "w": [1.0, 2.0]}), npartitions=1)
    of_frame = {"ddf": frame, "src": "s", "dst": "d", "weight": "w", "directed": True, "num_vertices": 2}
    return [*calls, (gd.from_dask_dataframe, of_frame)]


@pytest.mark.filterwarnings("ignore")
def test_odd_arguments_give_a_graph_or_a_typed_error(tmp_path, rng):
    values = odd_values()
    tries = [(call, given, name, v) for call, given in constructors(tmp_path) for name in given for v in values]
    end = time.monotonic() + SECONDS
    for number in rng.permutation(len(tries)).tolist():
        call, given, name, value = tries[number]
        try:
            call(**given | {name: value})
        except GraphdaskError:
            pass
        except Exception as error:
            raise AssertionError(
                f"{call.__name__}({name}=<{type(value).__name__}>), try {number}: {error!r}"
            ) from error
        if time.monotonic() > end:
            break


def test_more_vertices_than_ids_are_refused_and_too_many_ids_are_not_made():
    with pytest.raises(gd.InputError, match=r"num_vertices=9223372036854775808 is above 2\*\*63 - 1"):
        gd.from_edges([0], [1], num_vertices=2**63)
    G = gd.from_edges([0], [1], num_vertices=2**62)
    with pytest.raises(gd.OverBudget, match=r"the ids of 4,611,686,018,427,387,904 vertices need"):
        G.vertex_ids  # noqa: B018
