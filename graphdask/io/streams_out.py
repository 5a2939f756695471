"""Edges written to a binary stream, such as standard output."""

from __future__ import annotations

from typing import IO

from .edges import EdgeList
from .streams import WRITES, stream_format
from .writers import text_writer


def write_stream(edges: EdgeList, stream: IO[bytes], format: str) -> None:
    """Write edges to a binary stream, once it is known that the format can hold them.

    Parameters
    ----------
    edges : EdgeList
    stream : binary file object
        It is flushed in the end, and not closed.
    format : str
        One of `WRITES`.

    Raises
    ------
    InputError
        As `write_edges`, before anything is written.

    Warns
    -----
    GraphdaskWarning
        As `write_edges`.
    """
    stream_format(format, WRITES, "a stream")
    text_writer(edges, format)(edges, stream)
    stream.flush()
