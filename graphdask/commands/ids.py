"""Vertex ids on the command line, as the options of algorithms and samplers give them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from graphdask.errors import InputError, VertexNotFound


def vertex(text: str, G: Any, option: str = "source") -> int | str:
    """A vertex id from the command line, as an option gave it: a number where the graph's ids are."""
    if not G.ids.are_numbers:
        return text
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise InputError(f"--{option} {text!r} is not a whole number, but the ids of this graph are")
    if abs(int(text)) >= 2**63:
        raise VertexNotFound(f"{option} {text} is not in the graph; {G.ids.describe()}")
    return int(text)


def weights_of(texts: Iterable[str], G: Any) -> dict[int | str, float] | None:
    """Weights by vertex, from texts `ID` or `ID=WEIGHT`; None where there are no texts."""
    weights: dict[int | str, float] = {}
    for text in texts:
        name, _, given = text.rpartition("=") if "=" in text else (text, "", "1")
        try:
            weight = float(given)
        except ValueError:
            raise InputError(f"--personalize {text!r} ends in {given!r}, which is no number; write ID=WEIGHT") from None
        key = vertex(name, G, "personalize")
        if key in weights:
            raise InputError(f"--personalize names the vertex {name} twice")
        weights[key] = weight
    return weights or None
