"""By which method edges are chosen: what `select="auto"` means, by the text of the functions and how often edges are
drawn.

The edges that are chosen depend on the method, so it depends on nothing that a device, a partition or the memory has to
do with. Sums that are kept of biases that never change are no method of their own: what is drawn by them is what is
drawn by sums that are made for a choice.

Sources: Pandey et al., c-saw, Sections II-B (inverse transform sampling) and IV-B (repeated and updated sampling,
bipartite region search); Efraimidis, Spirakis, Weighted random sampling with a reservoir, Information Processing
Letters 97 (2006) (exponential keys); Yang et al., KnightKing (SOSP 2019), Section 4 (rejection with a bound); Vose, A
linear algorithm for generating random numbers with a given distribution (1991) (alias tables).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from graphdask.kernels.functions.functions_fields import OF_WALK, differs_between_edges
from graphdask.program.translated import Translated
from graphdask.sample.biases import REUSE
from graphdask.sample.fanouts import REDRAWN

METHODS = ("auto", "inverse", "alias", "rejection", "reservoir", "repeated", "updated", "bipartite")
DISTINCT = ("repeated", "updated", "bipartite")
"""Ways to draw without replacement."""
UNEVEN = 16
"""Times the least of the numbers that a bias can be, above which the greatest is no bound to draw by unasked."""


@dataclass(frozen=True)
class Method:
    """How edges are chosen."""

    name: str
    """uniform, inverse, alias, rejection, reservoir, repeated or bipartite; updated draws are what inverse makes."""
    bound: float | None = None
    """Of rejection."""
    static: bool = False
    """Whether an edge has the same bias whenever it is evaluated."""
    unasked: bool = False
    """Of alias: whether it is inverse where the function fails on some edge, or a vertex's biases are too large."""
    per_row: bool = False
    """Of uniform: whether a function says of a vertex whether it has candidates."""


def known_bound(bias: Translated | None) -> float | None:
    """The greatest number that a function of few constants returns."""
    numbers = None if bias is None else bias.numbers
    if not numbers or not all(number >= 0 and math.isfinite(number) for number in numbers) or max(numbers) == 0:
        return None
    return max(numbers)


def method_of(spec: Any, bias: Translated | None, reuse: float = 0.0) -> Method:
    """The method of a spec, of which `bias` is the function `edge_bias`, if it has one.

    `reuse`: about how many edges will be drawn for each edge of the graph.
    """
    if bias is None:
        return Method("uniform")
    fields = set(bias.fields)
    static = not fields & OF_WALK
    if spec.select in REDRAWN:
        return Method(spec.select, static=static and spec.per == "vertex")
    if spec.select in ("inverse", "updated") or spec.per == "layer":
        return Method("inverse", static=static)
    if spec.select == "reservoir":
        return Method("reservoir")
    if spec.select == "alias":
        return Method("alias", static=True)
    if spec.edge_bound is not None:
        return Method("rejection", spec.edge_bound)
    bound = known_bound(bias)
    if spec.select == "rejection":
        return Method("rejection", bound)
    if not differs_between_edges(fields) and bias.called is None:
        return Method("uniform", per_row=True)
    even = bound is not None and bias.numbers is not None and min(bias.numbers) * UNEVEN >= bound
    if even and spec.has_small_sizes:
        return Method("rejection", bound)
    if static and bias.called is None and spec.is_of_single_draws and reuse >= REUSE:
        return Method("alias", static=True, unasked=True)
    return Method("inverse", static=static)
