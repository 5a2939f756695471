"""GEXF 1.2 and GraphML 1.0, written for drawing programs such as Gephi; small graphs only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any
from xml.sax.saxutils import quoteattr

import numpy as np

from graphdask.errors import Unsupported

from ._kept import is_text
from .edges import EdgeList

MAX_EDGES = 1_000_000


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
    if edges.times is not None:
        _lines(
            stream,
            [
                '<attributes class="edge">',
                f'<attribute id="0" title="time" type="{_kind(edges.times)}"/>',
                "</attributes>",
            ],
        )
    _lines(stream, ["<nodes>"])
    _lines(stream, (f"<node id={_quoted(v)} label={_quoted(v)}/>" for v in vertices))
    _lines(stream, ["</nodes>", "<edges>"])
    _lines(stream, _gexf_edges(edges))
    _lines(stream, ["</edges>", "</graph>", "</gexf>"])


def _gexf_edges(edges: EdgeList) -> Iterator[str]:
    for i, (u, v, weight, time) in enumerate(_rows(edges)):
        value = "" if weight is None else f' weight="{weight!r}"'
        inside = "" if time is None else f'<attvalues><attvalue for="0" value="{time!r}"/></attvalues>'
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
    _lines(stream, [f'<graph edgedefault="{direction}">'])
    _lines(stream, (f"<node id={_quoted(v)}/>" for v in vertices))
    _lines(stream, _graphml_edges(edges))
    _lines(stream, ["</graph>", "</graphml>"])


def _graphml_edges(edges: EdgeList) -> Iterator[str]:
    for i, (u, v, weight, time) in enumerate(_rows(edges)):
        data = "".join(
            f'<data key="{key}">{value!r}</data>'
            for key, value in (("weight", weight), ("time", time))
            if value is not None
        )
        yield f'<edge id="e{i}" source={_quoted(u)} target={_quoted(v)}>{data}</edge>'


def _small(edges: EdgeList, name: str) -> list[Any]:
    """The vertices, once the graph is known to be small enough."""
    if edges.num_edges > MAX_EDGES:
        raise Unsupported(
            f"{name} is for graphs that are drawn: {edges.num_edges:,} edges are more than {MAX_EDGES:,}; "
            "sample the graph first, or write .gdg, Parquet or an edge list"
        )
    vertices = edges.vertices
    if vertices is None:
        vertices = np.unique(np.concatenate([edges.src, edges.dst]))
    return vertices.tolist()


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
