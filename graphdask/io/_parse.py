"""Compiled parsing of bytes to integers and floats, line by line, without the GIL.

Each kernel stops at the first line that it does not take and returns its offset; the caller reads that line
with `_lines.py` and calls again behind it. Floats with up to 18 digits are rounded correctly: exactly by one
division or product up to 2^53 (W. D. Clinger, How to read floating point numbers accurately, PLDI 1990),
above that by a quotient in double-double arithmetic (T. J. Dekker, 1971), and left to `_lines.py` where that
is too near a tie.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from graphdask.kernels.common.compiling import listen_to_numba

listen_to_numba()

OTHER, WHITE, LINE_END, COMMENT, DELIMITER = 0, 1, 2, 3, 4
LINES, COMMENTS, BLANKS = 0, 1, 2

LONGEST = 19
"""Digits of the largest id. A larger number of as many is below 2^64, so as int64 it is negative."""

_POWERS = 10.0 ** np.arange(23)


def byte_classes(delimiter: bytes, comment: bytes) -> np.ndarray:
    """The class of each of the 256 bytes, uint8."""
    classes = np.zeros(256, np.uint8)
    classes[list(b" \t")] = WHITE
    classes[list(comment)] = COMMENT
    classes[list(delimiter)] = DELIMITER
    classes[list(b"\r\n")] = LINE_END
    return classes


@njit(nogil=True, cache=True, inline="always")
def _digit(byte):
    return np.int64(byte) - 48


@njit(nogil=True, cache=True, inline="always")
def _next_line(buf, pos, end):
    """Behind the line end at or after pos."""
    while pos < end and buf[pos] != 10 and buf[pos] != 13:
        pos += 1
    if pos < end and buf[pos] == 13 and pos + 1 < end and buf[pos + 1] == 10:
        pos += 1
    return min(pos + 1, end)


@njit(nogil=True, cache=True)
def _quotient(m, p):
    """(m / p rounded correctly, True), or (_, False) near a tie; 2^53 < m < 2^63, p a power of ten up to
    1e22."""
    high = np.float64(m)
    low = np.float64(m - np.int64(high))
    q = high / p
    # r = high - q * p without error, by Veltkamp's split
    t = q * 134217729.0
    q1 = t - (t - q)
    q2 = q - q1
    t = p * 134217729.0
    p1 = t - (t - p)
    p2 = p - p1
    product = q * p
    error = ((q1 * p1 - product) + q1 * p2 + q2 * p1) + q2 * p2
    rest = (((high - product) - error) + low) / p
    above = q + rest * (1.0 + 2.0**-40)
    below = q + rest * (1.0 - 2.0**-40)
    return above, above == below


@njit(nogil=True, cache=True)
def _float(buf, pos, end):
    """(value, behind it, taken) of the decimal number at pos; -0 is a whole number and so 0, -0.0 is not."""
    negative = False
    if pos < end and (buf[pos] == 45 or buf[pos] == 43):
        negative = buf[pos] == 45
        pos += 1
    m = np.int64(0)
    digits = 0
    scale = 0
    seen = False
    point = False
    while pos < end:
        byte = buf[pos]
        d = _digit(byte)
        if 0 <= d <= 9:
            seen = True
            if m != 0 or d != 0:
                digits += 1
            if digits > 18:
                return 0.0, pos, False
            m = m * 10 + d
            if point:
                scale -= 1
        elif byte == 46 and not point:
            point = True
        else:
            break
        pos += 1
    if not seen:
        return 0.0, pos, False
    whole = not point
    if pos < end and (buf[pos] == 101 or buf[pos] == 69):
        pos += 1
        whole = False
        minus = False
        if pos < end and (buf[pos] == 45 or buf[pos] == 43):
            minus = buf[pos] == 45
            pos += 1
        first = pos
        e = 0
        while pos < end and 0 <= _digit(buf[pos]) <= 9 and pos - first < 5:
            e = e * 10 + _digit(buf[pos])
            pos += 1
        if pos == first or pos - first == 5:
            return 0.0, pos, False
        scale += -e if minus else e
    value = np.float64(m)
    if m == 0 or scale == 0:
        pass
    elif scale < -22 or scale > 22:
        return 0.0, pos, False
    elif m <= 9007199254740992:
        value = value / _POWERS[-scale] if scale < 0 else value * _POWERS[scale]
    elif scale < 0:
        value, sure = _quotient(m, _POWERS[-scale])
        if not sure:
            return 0.0, pos, False
    else:
        return 0.0, pos, False
    if whole and m == 0:
        negative = False
    return (-value if negative else value), pos, True


@njit(nogil=True, cache=True)
def parse_rows(buf, pos, end, classes, tag, delimited, kinds, floating, ints, floats, row, counts):
    """Rows of fixed columns.

    Parameters
    ----------
    buf : uint8[n], read-only
    pos, end : int
        The part to read; `pos` stands at the start of a line.
    classes : uint8[256]
    tag : int
        Byte that stands alone before the columns, or 0.
    delimited : bool
        Columns end at a DELIMITER, not at white space.
    kinds : int8[columns]
        0 skip, 1 vertex id, 2 number.
    floating : bool[columns]
        Whether a number column is read as float64; if not, a float stops the kernel.
    ints, floats : int64[wanted, capacity] and the same memory as float64
    row : int
        Rows already stored.
    counts : int64[3]
        Lines, comment lines and blank lines; increased.

    Returns
    -------
    pos, row : int
        Where it stopped, `end` or the start of a line that it does not take; rows stored.
    """
    columns = len(kinds)
    while pos < end:
        line = pos
        while pos < end and classes[buf[pos]] == WHITE:
            pos += 1
        if pos == end or classes[buf[pos]] == LINE_END:
            counts[LINES] += 1
            counts[BLANKS] += 1
            pos = _next_line(buf, pos, end)
            continue
        if classes[buf[pos]] == COMMENT:
            counts[LINES] += 1
            counts[COMMENTS] += 1
            pos = _next_line(buf, pos, end)
            continue
        if tag != 0:
            if buf[pos] != tag or pos + 1 >= end or classes[buf[pos + 1]] != WHITE:
                return line, row
            pos += 1
            while pos < end and classes[buf[pos]] == WHITE:
                pos += 1
        slot = 0
        for column in range(columns):
            start = pos
            if kinds[column] == 1:
                value = np.int64(0)
                while pos < end:
                    d = _digit(buf[pos])
                    if d < 0 or d > 9:
                        break
                    value = value * 10 + d
                    pos += 1
                if pos == start or pos - start > LONGEST or value < 0:
                    return line, row
                ints[slot, row] = value
                slot += 1
            elif kinds[column] == 2:
                if floating[column]:
                    number, pos, taken = _float(buf, pos, end)
                    if not taken:
                        return line, row
                    floats[slot, row] = number
                else:
                    negative = pos < end and buf[pos] == 45
                    if negative:
                        pos += 1
                        start = pos
                    value = np.int64(0)
                    while pos < end:
                        d = _digit(buf[pos])
                        if d < 0 or d > 9:
                            break
                        value = value * 10 + d
                        pos += 1
                    if pos == start or pos - start > 18:
                        return line, row
                    ints[slot, row] = -value if negative else value
                slot += 1
            else:
                while pos < end:
                    kind = classes[buf[pos]]
                    if kind in (LINE_END, DELIMITER) or (kind == WHITE and not delimited):
                        break
                    if buf[pos] == 34 or (kind == COMMENT and pos == start and not delimited):
                        return line, row
                    pos += 1
                if pos == start and not delimited:
                    return line, row
            # to the start of the next column
            if pos < end and classes[buf[pos]] != WHITE and classes[buf[pos]] < LINE_END:
                return line, row
            if pos < end and classes[buf[pos]] == COMMENT:
                return line, row
            while pos < end and classes[buf[pos]] == WHITE:
                pos += 1
            if delimited and column + 1 < columns:
                if pos == end or classes[buf[pos]] != DELIMITER:
                    return line, row
                pos += 1
                while pos < end and classes[buf[pos]] == WHITE:
                    pos += 1
        if pos < end:
            kind = classes[buf[pos]]
            if kind != LINE_END and (kind != COMMENT or delimited):
                return line, row
            if kind == LINE_END and buf[pos] == 10:
                pos += 1
            else:
                pos = _next_line(buf, pos, end)
        counts[LINES] += 1
        row += 1
    return pos, row


@njit(nogil=True, cache=True)
def parse_ragged(buf, pos, end, classes, values, used, lengths, numbers, row, counts):
    """Lines of any number of non-negative integers; a blank line is a row of length 0, a comment is none.

    Stores the integers in `values` from `used` on, the length of each row in `lengths` and its line, counted
    from 1 within this buffer, in `numbers`. Returns (pos, used, row) as `parse_rows` does.
    """
    while pos < end:
        line = pos
        stored = used
        while pos < end and classes[buf[pos]] == WHITE:
            pos += 1
        if pos < end and classes[buf[pos]] == COMMENT:
            counts[LINES] += 1
            counts[COMMENTS] += 1
            pos = _next_line(buf, pos, end)
            continue
        while pos < end and classes[buf[pos]] < LINE_END:
            start = pos
            value = np.int64(0)
            while pos < end:
                d = _digit(buf[pos])
                if d < 0 or d > 9:
                    break
                value = value * 10 + d
                pos += 1
            if pos == start or pos - start > LONGEST or value < 0:
                return line, stored, row
            if pos < end and classes[buf[pos]] != WHITE and classes[buf[pos]] != LINE_END:
                return line, stored, row
            values[used] = value
            used += 1
            while pos < end and classes[buf[pos]] == WHITE:
                pos += 1
        pos = _next_line(buf, pos, end)
        counts[LINES] += 1
        if used == stored:
            counts[BLANKS] += 1
        lengths[row] = used - stored
        numbers[row] = counts[LINES]
        row += 1
    return pos, used, row
