"""Damage to the bytes of a file: bits, cuts, copies, numbers that are too large, lines of text that are odd."""

from __future__ import annotations

import re

from graphdask.selftest.choices import Choices

NUMBERS = (
    b"0", b"1", b"-1", b"", b"1.5", b"+5", b"1e3", b"nan", b"inf", b"-inf", b"1e308", b"1e999", b"2147483648",
    b"4294967296", b"1000000000", b"1000000000000", b"9223372036854775807", b"9223372036854775808",
    b"18446744073709551616", b"1" * 400, b"0x10", b"1_000", b"true", b"null", b"None", b"NaN", b"Infinity", b'"', b"'",
    b"\r", b"%", b"#", b"[]", b"{}", b"../x", b"\0", b"\xff\xfe", "\u0663\u0664".encode(), "\u202e7".encode(),
)  # fmt: skip
"""What may stand where a number stood."""
SIZES = (0, 1, -1, 10**9, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1, -(2**63))
"""Numbers that a header of bytes may say."""
LINES = (b"", b"\n", b"1 " * 20_000 + b"\n", b"9" * 30_000 + b"\n", b"a" * 30_000 + b"\n", b"," * 10_000 + b"\n")
MORE = (b"\n", b"x", b"1 2\n", b"\0" * 100)
ODD = "\u2028\u00a0\ufeff\ud7ff".encode()
LENGTHS = (1, 3, 4, 8, 64, 500)


def damaged(data: bytes, choices: Choices, text: bool) -> bytes:
    """Return the bytes with a few places damaged.

    Parameters
    ----------
    data : bytes
    choices : Choices
    text : bool
        Whether these are lines of text.
    """
    kinds = TEXT if text else BYTES
    for _ in range(choices.among((1, 1, 1, 1, 1, 2, 3, 10))):
        if data:
            data = choices.among(kinds)(data, choices)
    return data


def _flip(data: bytes, choices: Choices) -> bytes:
    at = choices.below(len(data))
    return data[:at] + bytes([data[at] ^ 1 << choices.below(8)]) + data[at + 1 :]


def _byte(data: bytes, choices: Choices) -> bytes:
    at = choices.below(len(data))
    return data[:at] + bytes([choices.below(256)]) + data[at + 1 :]


def _cut(data: bytes, choices: Choices) -> bytes:
    return data[: choices.below(len(data))]


def _insert(data: bytes, choices: Choices) -> bytes:
    at = choices.below(len(data))
    return data[:at] + bytes(choices.below(256) for _ in range(choices.among((1, 3, 8)))) + data[at:]


def _twice(data: bytes, choices: Choices) -> bytes:
    at = choices.below(len(data))
    return data[:at] + data[at : at + choices.among(LENGTHS)] + data[at:]


def _without(data: bytes, choices: Choices) -> bytes:
    at = choices.below(len(data))
    return data[:at] + data[at + choices.among(LENGTHS) :]


def _filled(data: bytes, choices: Choices) -> bytes:
    at, what = choices.below(len(data)), choices.among((b"\0", b"\xff"))
    return data[:at] + what * len(data[at : at + 8]) + data[at + 8 :]


def _append(data: bytes, choices: Choices) -> bytes:
    return data + choices.among((*MORE, data))


def _swap(data: bytes, choices: Choices) -> bytes:
    one, other = sorted((choices.below(len(data)), choices.below(len(data))))
    if other - one < 8:
        return data
    return data[:one] + data[other : other + 8] + data[one + 8 : other] + data[one : one + 8] + data[other + 8 :]


def _number(data: bytes, choices: Choices) -> bytes:
    at, width = choices.below(len(data)), choices.among((4, 8))
    return data[:at] + (choices.among(SIZES) & (256**width - 1)).to_bytes(width, "little") + data[at + width :]


def _line(data: bytes, choices: Choices) -> bytes:
    """Change one line; the first ones, which may be a header, more often than others."""
    lines = data.splitlines(keepends=True)
    at = choices.below(len(lines)) if choices.one_in(2) else min(choices.below(4), len(lines) - 1)
    line = lines[at]
    ways = (
        lambda: b"", lambda: line * 2, lambda: choices.among(LINES), lambda: line.replace(b"1", b"\0", 1),
        lambda: line[:2] + ODD + line[2:], lambda: line.replace(b"\n", b"\r\n"), lambda: line.replace(b"\n", b"\r"),
        lambda: b"\xef\xbb\xbf" + line, lambda: line.rstrip(b"\n"), lambda: line.replace(b" ", b"\t"),
    )  # fmt: skip
    lines[at] = choices.among(ways)()
    return b"".join(lines)


def _written_number(data: bytes, choices: Choices) -> bytes:
    """Replace a number of a line."""
    lines = data.splitlines(keepends=True)
    at = choices.below(len(lines)) if choices.one_in(2) else min(choices.below(4), len(lines) - 1)
    parts = re.split(rb"([0-9.]+)", lines[at])
    if len(parts) > 1:
        parts[1 + 2 * choices.below(len(parts) // 2)] = choices.among(NUMBERS)
    lines[at] = b"".join(parts)
    return b"".join(lines)


BYTES = (_flip, _byte, _cut, _insert, _twice, _without, _filled, _append, _swap, _number, _number, _number)
TEXT = (*BYTES[:9], _line, _line, _line, _written_number, _written_number, _written_number, _written_number)
