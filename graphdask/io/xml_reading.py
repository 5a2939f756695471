"""GraphML and GEXF, read as they are parsed: one graph, its vertices, its edges with a weight and a time, and what
else is asked for.

Entities are refused, so that a small file does not become a large one. Ids are whole numbers if all are written so,
else strings.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any
from xml.parsers import expat

import numpy as np

from graphdask.errors import FormatError

from ._xml_columns import Attributes
from .asked import with_ids
from .columns import TIME_NAMES, WEIGHT_NAMES, Request, count_infinite
from .edges import EdgeList
from .opening import Source

BLOCK = 1 << 16
NUMBER = re.compile(r"0|[1-9][0-9]{0,18}")
TYPES = {"int": "int32", "integer": "int32", "long": "int64", "float": "float32", "double": "float64"}
"""The dtypes of GraphML's types; GEXF's weights have none."""
DIRECTED = {"directed": True, "true": True, "undirected": False, "false": False, "mutual": False}


def read_xml(path: str | os.PathLike[str], request: Request, name: str) -> EdgeList:
    """Read a GraphML or GEXF file; the vertices are those that it declares, and the ends of edges."""
    source = Source(path)
    found = _Parsed(source.path, request)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.EntityDeclHandler = found.refuse_entity
    parser.StartElementHandler, parser.EndElementHandler = found.begin, found.end
    parser.CharacterDataHandler = found.text
    found.line = lambda: parser.CurrentLineNumber
    try:
        with source.open() as stream:
            while block := stream.read(BLOCK):
                parser.Parse(block, False)
            parser.Parse(b"", True)
    except expat.ExpatError as error:
        reason = expat.errors.messages[error.code]
        raise FormatError(f"this is no well-formed XML: {reason}", source.path, error.lineno) from error
    return found.edges(name, source.size)


class _Parsed:
    """What has been read of a file."""

    line: Callable[[], int]
    """The line that is being parsed."""

    def __init__(self, path: Any, request: Request):
        self.path, self.request = path, request
        self.nodes: list[str] = []
        self.ends: tuple[list[str], list[str]] = [], []
        self.lines: list[int] = []
        """Of each edge."""
        self.values: dict[str, list[str | None]] = {"weight": [], "time": []}
        self.directions: set[bool] = set()
        self.graphs = 0
        self.default = False
        """Whether edges have a direction unless they say otherwise."""
        self.keys: dict[str, str] = {}
        """What the keys of edge attributes stand for: weight or time."""
        self.titles: dict[str, str] = {}
        """The names of these attributes."""
        self.types = {"weight": "float64", "time": "float64"}
        self.defaults: dict[str, str] = {}
        self._key = self._column = ""
        self._text: list[str] | None = None
        self._in_edge = self._in_node = False
        self._class = ""
        self.of_edges = Attributes("edge_columns", request.edge_columns)
        self.of_nodes = Attributes("vertex_columns", request.vertex_columns)
        self._declared: list[tuple[Attributes, str]] = []
        """What was declared by the key that is being parsed."""

    def error(self, reason: str, line: int | None = None) -> FormatError:
        return FormatError(reason, self.path, self.line() if line is None else line)

    def refuse_entity(self, *declaration: Any) -> None:
        raise self.error(f"the file declares the entity {declaration[0]!r}; entities are not read, write it without")

    def begin(self, tag: str, given: dict[str, str]) -> None:
        name = tag.rpartition(" ")[2]
        if name == "graph":
            self.graphs += 1
            if self.graphs > 1:
                raise self.error("the file has several graphs, or one in another; a file is one graph here")
            kind = given.get("edgedefault", given.get("defaultedgetype", "undirected"))
            self.default = self._direction(kind)
        elif name == "key":
            self._declare(
                given.get("id", ""), given.get("attr.name", ""), given.get("attr.type"), given.get("for", "all")
            )
        elif name == "attributes":
            self._class = given.get("class", "")
        elif name == "attribute":
            self._declare(given.get("id", ""), given.get("title", ""), given.get("type"), self._class)
        elif name == "default":
            self._text = []
        elif name == "node":
            self.nodes.append(self._id(given, "id"))
            self.of_nodes.rows += 1
            self._in_node = True
        elif name in ("hyperedge", "port"):
            raise self.error(f"the file has a {name}, which no edge between two vertices can stand for")
        elif name == "edge":
            self._edge(given)
        elif name == "data" and (self._in_edge or self._in_node):
            self._column, self._text = given.get("key", ""), []
        elif name == "attvalue" and (self._in_edge or self._in_node):
            self._put(given.get("for", ""), given.get("value", ""))

    def text(self, some: str) -> None:
        if self._text is not None:
            self._text.append(some)

    def end(self, tag: str) -> None:
        name = tag.rpartition(" ")[2]
        if name == "edge":
            self._in_edge = False
        elif name == "node":
            self._in_node = False
        elif name == "default" and self._text is not None:
            if self._key:
                self.defaults[self._key] = "".join(self._text).strip()
            for attributes, key in self._declared:
                attributes.default(key, "".join(self._text))
            self._text = None
        elif name == "data" and self._text is not None:
            self._put(self._column, "".join(self._text))
            self._text = None
        elif name in ("key", "attribute"):
            self._key = ""
            self._declared = []

    def _declare(self, key: str, title: str, kind: str | None, of: str) -> None:
        """Note a key of edges, of nodes, or of all."""
        if of in ("edge", "all"):
            self._name(key, title, kind or "double")
            self.of_edges.declare(key, title, kind or "string")
            self._declared.append((self.of_edges, key))
        if of in ("node", "all"):
            self.of_nodes.declare(key, title, kind or "string")
            self._declared.append((self.of_nodes, key))

    def _name(self, key: str, title: str, kind: str) -> None:
        """Note what a key of edges stands for."""
        lower = title.lower()
        self._key = "weight" if lower in WEIGHT_NAMES else "time" if lower in TIME_NAMES else ""
        if self._key:
            self.keys[key], self.titles[key] = self._key, title
            self.types[self._key] = TYPES.get(kind, "float64")

    def _put(self, key: str, value: str) -> None:
        """Note a value of the edge or the node that was begun last."""
        if not self._in_edge:
            self.of_nodes.put(key, value)
            return
        column = self.keys.get(key, "")
        if column:
            self.values[column][-1] = value.strip()
        self.of_edges.put(key, value)

    def _id(self, given: dict[str, str], name: str) -> str:
        if name not in given:
            raise self.error(f"an element has no {name}")
        return given[name]

    def _direction(self, word: str) -> bool:
        if word.lower() not in DIRECTED:
            raise self.error(f"{word[:40]!r} is no direction of edges; it is one of {', '.join(DIRECTED)}")
        return DIRECTED[word.lower()]

    def _edge(self, given: dict[str, str]) -> None:
        self._in_edge = True
        self.of_edges.rows += 1
        for ends, name in zip(self.ends, ("source", "target"), strict=True):
            ends.append(self._id(given, name))
        self.lines.append(self.line())
        word = given.get("directed", given.get("type"))
        self.directions.add(self.default if word is None else self._direction(word))
        self.values["weight"].append(given.get("weight", self.defaults.get("weight")))
        self.values["time"].append(self.defaults.get("time"))
        if "weight" in given:
            self.types["weight"] = ""

    def edges(self, name: str, size: int) -> EdgeList:
        """What the file holds."""
        if not self.graphs:
            raise FormatError(f"there is no graph in it; {name} has one", self.path)
        directed = self.request.directed
        if directed is None and len(self.directions) > 1:
            raise FormatError(
                "some edges have a direction and others have none; say directed=True or directed=False", self.path
            )
        if directed is None:
            directed = next(iter(self.directions), self.default)
        src, dst, nodes = self._ids([*self.ends, self.nodes])
        weights = None if self.request.weights is False else self._numbers("weight", bool(self.request.weights))
        times = self._numbers("time", True) if self.request.times else None
        report: dict[str, Any] = {"format": name, "bytes": size, **count_infinite(weights)}
        vertices = np.unique(np.concatenate([nodes, src, dst]))
        read = {"weight": weights is not None, "time": times is not None}
        taken = {title for key, title in self.titles.items() if read[self.keys[key]]}
        more = self.of_edges.table(taken, self.path)
        of_vertices = self.of_nodes.table(set(), self.path)
        if of_vertices is not None:
            of_vertices = with_ids(of_vertices, nodes)
        return EdgeList(src, dst, weights, times, vertices, directed, report, more, of_vertices)

    def _ids(self, columns: list[list[str]]) -> list[np.ndarray]:
        """Ids as whole numbers, if all are such and nobody asks for names; else as strings."""
        bad = None
        if self.request.ids != "str":
            bad = next((value for column in columns for value in column if not self._is_number(value)), None)
            if bad is None:
                return [np.array(column, np.int64) if column else np.zeros(0, np.int64) for column in columns]
        if self.request.ids == "int":
            raise FormatError(f"vertex id {bad!r} is not a number; pass ids='str' if the ids are names", self.path)
        return [np.array([*column, None], object)[:-1] for column in columns]

    @staticmethod
    def _is_number(value: str) -> bool:
        return NUMBER.fullmatch(value) is not None and int(value) < 2**63

    def _numbers(self, column: str, wanted: bool) -> np.ndarray | None:
        """A column of numbers; None if no edge has any."""
        values, kind = self.values[column], self.types[column]
        there = sum(value is not None for value in values)
        if not there:
            if wanted and values:
                raise FormatError(f"{column}s were asked for, but no edge has one", self.path)
            return None
        if there < len(values):
            line = next(line for line, value in zip(self.lines, values, strict=True) if value is None)
            raise self.error(f"the edge has no {column}, and others have one; weights=False ignores them", line)
        whole = kind.startswith("int") or (not kind and all(_is_whole(str(value)) for value in values))
        made: list[float | int] = []
        for line, value in zip(self.lines, values, strict=True):
            try:
                number = int(str(value)) if whole else float(str(value))
            except ValueError:
                raise self.error(f"{column} {str(value)[:40]!r} is not a number", line) from None
            if number != number or (whole and not -(2**63) <= number < 2**63):
                raise self.error(f"{column} {str(value)[:40]!r} is {'too large' if whole else 'not a number'}", line)
            made.append(number)
        array = np.array(made, np.int64 if whole else np.float64)
        narrow = kind in ("int32", "float32") and (not whole or bool((array == array.astype(np.int32)).all()))
        return array.astype(kind) if narrow else array


def _is_whole(text: str) -> bool:
    return re.fullmatch(r"[+-]?[0-9]+", text.strip()) is not None
