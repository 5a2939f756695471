"""The compiled parser gives what the plain one gives, for every input; floats are those of Python."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest

from graphdask.io import _table
from graphdask.io._lines import ID, SKIP, VALUE, Columns
from graphdask.io._open import Source
from graphdask.io._table import (
    Reading,
    _ragged_compiled,
    _ragged_in_python,
    _rows_compiled,
    _rows_in_python,
    read_table,
)

LAYOUTS = [
    Columns((ID, ID)),
    Columns((ID, ID, VALUE)),
    Columns((ID, SKIP, ID, VALUE), b","),
    Columns((ID, ID, VALUE, SKIP), b"\t"),
    Columns((ID, ID, VALUE), comment=b"c", tag=b"a"),
    Columns((ID,), comment=b""),
]


def same(a, b):
    assert a.error == b.error
    if a.error is None:
        assert (a.lines, a.comments, a.blank_lines) == (b.lines, b.comments, b.blank_lines)
        for x, y in zip(a.columns, b.columns, strict=True):
            assert x.dtype == y.dtype
            np.testing.assert_array_equal(x, y)


def block(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.uint8)


def random_lines(rng: random.Random, columns: Columns) -> bytes:
    """Mostly valid lines, with every kind of line end, white space and now and then a wrong token."""
    separators = [columns.delimiter, b" " + columns.delimiter] if columns.delimiter else [b" ", b"\t", b" \t "]
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
            for column in columns.kinds:
                if rng.random() < 0.01:
                    tokens.append(rng.choice(bad))
                elif column == VALUE:
                    tokens.append(rng.choice(numbers).encode())
                else:
                    tokens.append(
                        str(rng.choice([0, 5, 2**31, 2**63 - 1, rng.randrange(10 ** rng.randrange(1, 19))]))
                        .encode()
                        .zfill(rng.choice([1, 1, 1, 25]))
                    )
            if rng.random() < 0.02:
                tokens = tokens[:-1] if rng.random() < 0.5 else [*tokens, b"1"]
            line = rng.choice(separators).join(tokens)
            if columns.tag:
                line = columns.tag + b" " + line
            line = rng.choice([b"", b"", b" "]) + line + rng.choice([b"", b"", b" ", b" # note"])
        out.append(line + rng.choice([b"\n", b"\n", b"\r\n", b"\r"]))
    return b"".join(out).rstrip(b"\r\n") if rng.random() < 0.3 else b"".join(out)


@pytest.mark.parametrize("columns", LAYOUTS, ids=range(len(LAYOUTS)))
def test_compiled_rows_are_the_plain_rows(columns):
    rng = random.Random(1)
    good = 0
    for _ in range(1500):
        data = random_lines(rng, columns)
        plain = _rows_in_python(block(data), columns)
        same(_rows_compiled(block(data), columns), plain)
        good += plain.error is None
    assert good > 300


@pytest.mark.parametrize("columns", LAYOUTS[:5], ids=range(5))
def test_compiled_rows_are_the_plain_rows_on_random_bytes(columns):
    rng = random.Random(2)
    alphabet = b'0123456789    \t\n\n\r,#%.-+eac"\xffn'
    for _ in range(3000):
        data = bytes(rng.choices(alphabet, k=rng.randrange(30)))
        same(_rows_compiled(block(data), columns), _rows_in_python(block(data), columns))


def test_compiled_ragged_lines_are_the_plain_ones():
    rng = random.Random(3)
    for _ in range(3000):
        data = bytes(rng.choices(b"0123456789    \t\n\n\n\r%x", [3] * 10 + [4] * 9 + [0.2] * 2, k=rng.randrange(60)))
        same(_ragged_compiled(block(data), b"%"), _ragged_in_python(block(data), b"%"))


@pytest.mark.parametrize("ragged", [False, True])
def test_ids_of_19_digits_are_parsed_compiled(ragged, fault):
    rng = random.Random(5)
    most = 2**63 - 1
    ids = [10**18, most, most - 1, most - 7, most - 10, *(rng.randrange(10**18, most) for _ in range(95))]
    data = "".join(f"{u} {v}\n" for u, v in zip(ids[::2], ids[1::2], strict=True)).encode()
    fault(_table, "parse_integers" if ragged else "parse_line", AssertionError("a line was given to Python"))
    found = _ragged_compiled(block(data), b"%") if ragged else _rows_compiled(block(data), Columns((ID, ID)))
    values = found.columns[0] if ragged else np.stack(found.columns, axis=1).ravel()
    assert values.tolist() == ids
    for above in (most + 1, most + 3, 9999999999999999999, 10**19, 2**64 + 5):
        line = block(f"1 {above}\n".encode())
        with pytest.raises(AssertionError, match="given to Python"):
            _ragged_compiled(line, b"%") if ragged else _rows_compiled(line, Columns((ID, ID)))


def test_floats_are_rounded_as_python_rounds_them():
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
    data = "".join(f"1 2 {token}\n" for token in tokens).encode()
    part = _rows_compiled(block(data), Columns((ID, ID, VALUE)))
    np.testing.assert_array_equal(part.columns[2], np.array([float(token) for token in tokens]))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("size", [7, 64, 1000])
def test_blocks_of_any_size_hold_the_same_rows(tmp_path, size, end, monkeypatch):
    path = tmp_path / "g.txt"
    rows = np.random.default_rng(5).integers(0, 10**6, (400, 2))
    path.write_text("".join(f"{u} {v}{end}" for u, v in rows), newline="")
    for compressed in (False, True):
        if compressed:
            import gzip

            path.with_suffix(".gz").write_bytes(gzip.compress(path.read_bytes()))
        source = Source(path.with_suffix(".gz") if compressed else path)
        blocks = list(source.blocks(size=size))
        assert b"".join(b.tobytes() for b in blocks) == path.read_bytes()
        parts = [_rows_compiled(b, Columns((ID, ID))) for b in blocks]
        np.testing.assert_array_equal(np.concatenate([part.columns[0] for part in parts]), rows[:, 0])
        assert sum(part.lines for part in parts) == 400


def test_an_error_far_inside_a_large_file_names_its_line(tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("1 2\n" * 400_000 + "1 x\n" + "1 2\n" * 400_000)  # several blocks of a MiB
    for threads in (1, 3):
        with pytest.raises(ValueError, match=r"g.txt:400001: vertex id 'x' is not a number"):
            read_table(Source(path), Columns((ID, ID)), Reading(threads, compiled=True))
