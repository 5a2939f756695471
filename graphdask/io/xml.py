"""GEXF 1.2 and GraphML 1.0, written for drawing programs such as Gephi; small graphs only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from graphdask.errors import Unsupported

from ._xml_columns import texts_of
from .asked import VERTEX
from .edges import EdgeList
from .kept import is_text

MAX_EDGES = 1_000_000
CARRIAGE_RETURN = {"\r": "&#13;"}
"""Which a reader takes for a line end otherwise."""
Written = tuple[str, str, list[str | None]]
"""A column: its name, type and values."""


def write_gexf(edges: EdgeList, stream: IO[bytes]) -> None:
    """Write GEXF; weights are GEXF's own, times an edge attribute `time`."""
    vertices = _small(edges, "GEXF")
    direction = "undirected" if edges.directed is False else "directed"
    kind = "string" if is_text(edges.src) else "integer"
    _lines(
        stream,
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2">',
            f'<graph mode="static" defaultedgetype="{direction}" idtype="{kind}">',
        ],
    )
    of_nodes, of_edges = _columns(edges, vertices)
    times = [] if edges.times is None else [f'<attribute id="0" title="time" type="{_kind(edges.times)}"/>']
    _lines(stream, _gexf_attributes("node", of_nodes, []))
    _lines(stream, _gexf_attributes("edge", of_edges, times))
    _lines(stream, ["<nodes>"])
    _lines(stream, (
        f"<node id={_quoted(v)} label={_quoted(v)}" + (f">{more}</node>" if (more := _gexf_row(of_nodes, i)) else "/>")
        for i, v in enumerate(vertices)
    ))  # fmt: skip
    _lines(stream, ["</nodes>", "<edges>"])
    _lines(stream, _gexf_edges(edges, of_edges))
    _lines(stream, ["</edges>", "</graph>", "</gexf>"])


def _gexf_attributes(kind: str, columns: list[Written], more: list[str]) -> Iterator[str]:
    """The declaration of the attributes of one kind of elements."""
    if columns or more:
        yield f'<attributes class="{kind}">'
        yield from more
        for place, (name, of, _) in enumerate(columns, 1):
            yield f'<attribute id="{place}" title={_quoted(name)} type="{"integer" if of == "int" else of}"/>'
        yield "</attributes>"


def _gexf_row(columns: list[Written], row: int, more: str = "") -> str:
    """The attributes of an element; empty without any."""
    inside = more + "".join(
        f'<attvalue for="{place}" value={_quoted(texts[row])}/>'
        for place, (_, _, texts) in enumerate(columns, 1)
        if texts[row] is not None
    )
    return f"<attvalues>{inside}</attvalues>" if inside else ""


def _columns(edges: EdgeList, vertices: list[Any]) -> tuple[list[Written], list[Written]]:
    """The columns of the vertices, in their order, and those of the edges."""
    table = edges.vertex_columns
    if table is not None:
        rows = {vertex: row for row, vertex in enumerate(table[VERTEX].to_pylist())}
        import pyarrow as pa

        table = table.drop_columns([VERTEX]).take(pa.array([rows.get(vertex) for vertex in vertices], pa.int64()))
    return list(texts_of(table, "vertex_columns")), list(texts_of(edges.edge_columns, "edge_columns"))


def _gexf_edges(edges: EdgeList, columns: list[Written]) -> Iterator[str]:
    for i, (u, v, weight, time) in enumerate(_rows(edges)):
        value = "" if weight is None else f' weight="{weight!r}"'
        inside = _gexf_row(columns, i, "" if time is None else f'<attvalue for="0" value="{time!r}"/>')
        yield f'<edge id="{i}" source={_quoted(u)} target={_quoted(v)}{value}>{inside}</edge>'


def write_graphml(edges: EdgeList, stream: IO[bytes]) -> None:
    """Write GraphML with edge data `weight` and `time`."""
    vertices = _small(edges, "GraphML")
    direction = "undirected" if edges.directed is False else "directed"
    _lines(
        stream,
        ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'],
    )
    for key, values in (("weight", edges.weights), ("time", edges.times)):
        if values is not None:
            _lines(stream, [f'<key id="{key}" for="edge" attr.name="{key}" attr.type="{_kind(values)}"/>'])
    of_nodes, of_edges = _columns(edges, vertices)
    for kind, columns in (("node", of_nodes), ("edge", of_edges)):
        _lines(stream, (
            f'<key id="{kind}{place}" for="{kind}" attr.name={_quoted(name)} attr.type="{of}"/>'
            for place, (name, of, _) in enumerate(columns)
        ))  # fmt: skip
    _lines(stream, [f'<graph edgedefault="{direction}">'])
    _lines(stream, (
        f"<node id={_quoted(v)}" + (f">{inside}</node>" if (inside := _graphml_row("node", of_nodes, i)) else "/>")
        for i, v in enumerate(vertices)
    ))  # fmt: skip
    _lines(stream, _graphml_edges(edges, of_edges))
    _lines(stream, ["</graph>", "</graphml>"])


def _graphml_row(kind: str, columns: list[Written], row: int) -> str:
    """The further data of an element."""
    return "".join(
        f'<data key="{kind}{place}">{escape(text, CARRIAGE_RETURN)}</data>'
        for place, (_, _, texts) in enumerate(columns)
        if (text := texts[row]) is not None
    )


def _graphml_edges(edges: EdgeList, columns: list[Written]) -> Iterator[str]:
    for i, (u, v, weight, time) in enumerate(_rows(edges)):
        data = "".join(
            f'<data key="{key}">{value!r}</data>'
            for key, value in (("weight", weight), ("time", time))
            if value is not None
        )
        data += _graphml_row("edge", columns, i)
        yield f'<edge id="e{i}" source={_quoted(u)} target={_quoted(v)}>{data}</edge>'


def _small(edges: EdgeList, name: str) -> list[Any]:
    """The vertices, once the graph is known to be small enough."""
    refuse_many(edges.num_edges, name)
    vertices = edges.vertices
    if vertices is None:
        vertices = np.unique(np.concatenate([edges.src, edges.dst]))
    return vertices.tolist()


def refuse_many(edges: int, name: str) -> None:
    """Raise Unsupported for more edges than are written in a format."""
    if edges > MAX_EDGES:
        raise Unsupported(
            f"{name} is for graphs that are drawn: {edges:,} edges are more than {MAX_EDGES:,}; "
            "sample the graph first, or write .gdg, Parquet or an edge list"
        )


def _rows(edges: EdgeList) -> Iterator[tuple[Any, Any, Any, Any]]:
    nothing = [None] * edges.num_edges
    weights = nothing if edges.weights is None else edges.weights.tolist()
    times = nothing if edges.times is None else edges.times.tolist()
    return zip(edges.src.tolist(), edges.dst.tolist(), weights, times, strict=True)


def _kind(values: np.ndarray) -> str:
    return {"float32": "float", "int32": "int"}.get(values.dtype.name, "double" if values.dtype.kind == "f" else "long")


def _quoted(value: Any) -> str:
    return quoteattr(str(value))


def _lines(stream: IO[bytes], lines: Any) -> None:
    stream.writelines(f"{line}\n".encode() for line in lines)
