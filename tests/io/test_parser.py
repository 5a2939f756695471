"""The compiled parser gives what the plain one gives, for every input; floats are those of Python.

Which of the two reads a file depends on its size alone, so that every file here is read by both.
"""

from __future__ import annotations

import gzip
import random
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphdask as gd
from graphdask.io import read_edges
from graphdask.io.tuning import FILES

pytestmark = pytest.mark.filterwarnings("ignore::graphdask.GraphdaskWarning")  # of what may be a header

ID, VALUE, SKIP = "id", "value", "skip"


@dataclass(frozen=True)
class Layout:
    """A text format: the name of a file, what its lines hold, and how it is read."""

    name: str
    columns: tuple[str, ...]
    delimiter: bytes = b""
    head: bytes = b""
    tag: bytes = b""
    options: dict[str, Any] = field(default_factory=dict)


LAYOUTS = {
    "edges": Layout("g.txt", (ID, ID)),
    "edges with weights": Layout("g.txt", (ID, ID, VALUE), options={"weights": True}),
    "columns, one of them left out": Layout("g.csv", (ID, SKIP, ID, VALUE), b",", b"src,kind,dst,weight\n"),
    "columns by tabs": Layout(
        "g.tsv", (ID, ID, VALUE, SKIP), b"\t", b"src\tdst\tweight\tkind\n", options={"format": "csv"}
    ),
    "arcs": Layout("g.gr", (ID, ID, VALUE), head=b"p sp 9223372036854775807 5\n", tag=b"a"),
    "entries": Layout("g.mtx", (ID, ID, VALUE), head=b"%%MatrixMarket matrix coordinate real general\n900 900 5\n"),
}


def outcome(path: Path, options: dict[str, Any]) -> Any:
    """The edges of a file, or how it is refused."""
    try:
        found = read_edges(path, progress=False, **options)
    except gd.GraphdaskError as error:
        return type(error), str(error)
    weights = None if found.weights is None else (found.weights.dtype.str, found.weights.tolist())
    return found.src.tolist(), found.dst.tolist(), weights


def both(path: Path, data: bytes, tuned, **options: Any) -> tuple[Any, Any]:
    """What the compiled parser makes of a file, and what the plain one does."""
    if path.suffix in (".txt", ".csv", ".tsv"):
        options["ids"] = "int"  # or a wrong id would be a name
    path.write_bytes(data)
    tuned(FILES, python_bytes=0)
    compiled = outcome(path, options)
    tuned(FILES, python_bytes=1 << 20)
    return compiled, outcome(path, options)


def random_lines(rng: random.Random, layout: Layout) -> bytes:
    """Mostly valid lines, with every kind of line end, white space and now and then a wrong token."""
    separators = [layout.delimiter, b" " + layout.delimiter] if layout.delimiter else [b" ", b"\t", b" \t "]
    numbers = [
        "0",
        "7",
        "-3",
        "+4",
        "1.5",
        ".5",
        "2.",
        "-1e3",
        "1E-7",
        "inf",
        "-Infinity",
        "1e400",
        "0.1",
        "123456789012345678901",
        "9223372036854775807",
        "0.30000000000000004",
        "-0",
        "1e-320",
    ]
    bad = [b"x", b"-1", b"1.5", b"", b"nan", b"9223372036854775808", b"1_0", b"0x1", b"\xff", b'"5"', b"1e", b"--1"]
    out = []
    for _ in range(rng.randrange(12)):
        kind = rng.random()
        if kind < 0.1:
            line = rng.choice([b"", b"  ", b"\t"])
        elif kind < 0.2:
            line = rng.choice([b"# a comment", b" % 1 2", b"c text"])
        else:
            tokens = []
            for column in layout.columns:
                if rng.random() < 0.01:
                    tokens.append(rng.choice(bad))
                elif column == VALUE:
                    tokens.append(rng.choice(numbers).encode())
                else:
                    some = rng.choice([0, 5, 2**31, 2**63 - 1, rng.randrange(10 ** rng.randrange(1, 19))])
                    tokens.append(str(some).encode().zfill(rng.choice([1, 1, 1, 25])))
            if rng.random() < 0.02:
                tokens = tokens[:-1] if rng.random() < 0.5 else [*tokens, b"1"]
            line = rng.choice(separators).join(tokens)
            if layout.tag:
                line = layout.tag + b" " + line
            line = rng.choice([b"", b"", b" "]) + line + rng.choice([b"", b"", b" ", b" # note"])
        out.append(line + rng.choice([b"\n", b"\n", b"\r\n", b"\r"]))
    return b"".join(out).rstrip(b"\r\n") if rng.random() < 0.3 else b"".join(out)


@pytest.mark.parametrize("name", LAYOUTS)
def test_lines_are_read_alike(name, tmp_path, tuned, free_memory):
    free_memory(1 << 30)  # which errors name
    layout, rng, read = LAYOUTS[name], random.Random(1), 0
    for _ in range(150):
        data = layout.head + random_lines(rng, layout)
        compiled, plain = both(tmp_path / layout.name, data, tuned, **layout.options)
        assert compiled == plain, data
        read += len(plain) == 3
    assert read > 30 or b" 5\n" in layout.head  # of a header that says how many lines there are


@pytest.mark.parametrize("name", LAYOUTS)
def test_random_bytes_are_read_alike(name, tmp_path, tuned):
    layout, rng = LAYOUTS[name], random.Random(2)
    for _ in range(100):
        data = layout.head + bytes(rng.choices(b'0123456789    \t\n\n\r,#%.-+eac"\xffn', k=rng.randrange(30)))
        compiled, plain = both(tmp_path / layout.name, data, tuned, **layout.options)
        assert compiled == plain, data


def test_lines_of_any_length_are_read_alike(tmp_path, tuned):
    rng = random.Random(3)
    for _ in range(150):
        data = bytes(rng.choices(b"0123456789    \t\n\n\n\r#x", [3] * 10 + [4] * 9 + [0.2] * 2, k=rng.randrange(60)))
        compiled, plain = both(tmp_path / "g.adjlist", data, tuned)
        assert compiled == plain, data
        assert plain[0] is not gd.InputError


@pytest.mark.parametrize("name", ["g.txt", "g.adjlist"])
def test_ids_of_19_digits_are_whole_and_larger_ones_refused(name, tmp_path, tuned):
    rng, most = random.Random(5), 2**63 - 1
    ids = [10**18, most, most - 1, most - 7, most - 10, *(rng.randrange(10**18, most) for _ in range(95))]
    data = "".join(f"{u} {v}\n" for u, v in zip(ids[::2], ids[1::2], strict=True)).encode()
    for src, dst, _ in both(tmp_path / name, data, tuned):
        assert (src, dst) == (ids[::2], ids[1::2])
    for above in (most + 1, most + 3, 9999999999999999999, 10**19, 2**64 + 5):
        for kind, said in both(tmp_path / name, f"1 {above}\n".encode(), tuned):
            assert kind is gd.FormatError
            assert "is above 2^63 - 1" in said


def test_floats_are_rounded_as_python_rounds_them(tmp_path, tuned):
    rng = random.Random(4)
    tokens = []
    for _ in range(20000):
        tokens.append(repr(struct.unpack("<d", rng.randbytes(8))[0]))
        tokens.append(repr(rng.random()))
        tokens.append(f"{rng.randrange(10**18)}e-{rng.randrange(24)}")
        # half-way cases: an odd multiple of half a unit in the last place above 2^53
        tokens.append(f"{2 * rng.randrange(2**53, 2**54) + 1}.0")
        tokens.append(f"{rng.randrange(2**53, 2**54) * 5}e-1")
    tokens = [token for token in tokens if token != "nan"]
    (tmp_path / "g.txt").write_text("".join(f"1 2 {token}\n" for token in tokens))
    tuned(FILES, python_bytes=0)
    found = read_edges(tmp_path / "g.txt", weights=True)
    np.testing.assert_array_equal(found.weights, np.array([float(token) for token in tokens]))


def test_a_negative_zero_is_one_only_as_a_float_in_files_of_any_size(tmp_path):
    texts, values = ("-0", "1.5", "-0", "-0.0", "-0e0", "0"), (0.0, 1.5, 0.0, -0.0, -0.0, 0.0)
    for times in (1, 60_000):
        path = tmp_path / f"{times}.txt"
        path.write_text("".join(f"{row} {row + 1} {text}\n" for row, text in enumerate(texts * times)))
        found = read_edges(path, weights=True).weights
        np.testing.assert_array_equal(found.view(np.int64), np.array(values * times).view(np.int64))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "compressed"])
def test_files_of_many_blocks_hold_the_same_rows(tmp_path, packed, end, tuned):
    rows = np.random.default_rng(5).integers(0, 10**6, (60_000, 2))
    data = "".join(f"{u} {v}{end}" for u, v in rows.tolist()).encode()
    path = tmp_path / ("g.txt.gz" if packed else "g.txt")
    path.write_bytes(gzip.compress(data) if packed else data)
    tuned(FILES, python_bytes=0, least_block=1 << 12)
    found = read_edges(path)
    np.testing.assert_array_equal(np.column_stack([found.src, found.dst]), rows)


def test_an_error_far_inside_a_large_file_names_its_line(tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("1 2\n" * 400_000 + "1 x\n" + "1 2\n" * 400_000)  # several blocks of a MiB
    for threads in (1, 3):
        with pytest.raises(gd.FormatError, match=r"g.txt:400001: vertex id 'x' is not a number"):
            read_edges(path, ids="int", threads=threads)
