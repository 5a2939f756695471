"""What the backend offers, and the two questions that NetworkX asks first: can it run a call, and should it?"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.errors import shown

BACKEND = "graphdask"


@dataclass(frozen=True)
class Offer:
    """A function of NetworkX's that graphdask has."""

    function: Callable[..., Any]
    signature: inspect.Signature
    refuses: Callable[[Mapping[str, Any]], str]
    """Why it cannot run with these arguments; empty where it can."""
    edges: int | None
    """From how many edges on it is faster than NetworkX, the conversion included; None: it need not be."""
    converted: int | None
    """The same of a graph that is converted already."""
    leaves: Callable[[Any], str]
    """Why NetworkX is faster for this graph of its own, however large; empty if it is not."""


OFFERS: dict[str, Offer] = {}


def _any(value: Any) -> bool:
    return True


def _number(value: Any) -> bool:
    """Whether a value is None or a number that floats hold, and not NaN."""
    if value is None:
        return True
    if isinstance(value, bool | np.bool_ | np.timedelta64) or not isinstance(value, int | float | np.number):
        return False
    if isinstance(value, int) and abs(value) > MOST:
        return False
    number = complex(value)
    return number.imag == 0 and (abs(number.real) <= MOST or abs(number.real) == np.inf)


def _flag(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def _word(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _by_node(value: Any) -> bool:
    return value is None or isinstance(value, dict)


def _key(value: Any) -> bool:
    """Whether a value may be the name of edge data; False is none, and names no data either."""
    return not isinstance(value, bool)


MOST = 2**53
"""Above it floats do not hold every whole number."""
KINDS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("alpha", "cutoff", "k", "max_iter", "radius", "resolution", "tol"), _number),
    **dict.fromkeys(
        (
            "center",
            "count_zeros",
            "endpoints",
            "ignore_nan",
            "keys",
            "normalized",
            "undirected",
            "usebounds",
            "wf_improved",
        ),
        _flag,
    ),
    **dict.fromkeys(("dangling", "nstart", "personalization"), _by_node),
    "data": lambda value: isinstance(value, bool),  # for np.True_ NetworkX keeps no attributes
    "distance": _key,
    **dict.fromkeys(("algorithm", "method"), _word),
    "weight": _key,
}
"""What the backend takes for options that have one meaning; NetworkX itself does with others what it does with them."""


def offered(
    edges: int | None,
    converted: int | None,
    refuses: Callable[[Mapping[str, Any]], str] | None = None,
    note: str = "",
    leaves: Callable[[Any], str] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function, which has NetworkX's name and signature, among those that the backend has.

    `note`, a literal, is what is to be known besides NetworkX's own documentation; `info.py` reads it in the text.
    """

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        OFFERS[function.__name__] = Offer(
            function, inspect.signature(function), refuses or (lambda arguments: ""), edges, converted,
            leaves or (lambda G: ""),
        )  # fmt: skip
        return function

    return enter


def _bound(name: str, args: Any, kwargs: Any) -> Mapping[str, Any] | None:
    """The arguments by name; None if they do not fit, for which NetworkX raises."""
    try:
        bound = OFFERS[name].signature.bind(*args, **kwargs)
    except TypeError:
        return None
    bound.apply_defaults()
    return bound.arguments


def can_run(name: str, args: Any, kwargs: Any) -> bool | str:
    """Return True, or why graphdask has no answer that is NetworkX's."""
    if name not in OFFERS:
        return f"graphdask has no {name}"
    arguments = _bound(name, args, kwargs)
    if arguments is None:
        return True
    for option, value in arguments.items():
        if not KINDS.get(option, _any)(value):
            return f"{option}={shown(value)} is left to NetworkX"
    try:
        return OFFERS[name].refuses(arguments) or True
    except Exception:  # of an object that cannot be compared, for one
        return "the arguments are left to NetworkX"


def should_run(name: str, args: Any, kwargs: Any) -> bool | str:
    """Return True, or why NetworkX is as fast by itself; asked where no backend is named in the call."""
    arguments = _bound(name, args, kwargs)
    if arguments is None:
        return True
    G, offer = arguments["G"], OFFERS[name]
    cache = getattr(G, "__networkx_cache__", None) or {}
    is_converted = getattr(G, "__networkx_backend__", "") == BACKEND or bool(cache.get("backends", {}).get(BACKEND))
    least = offer.converted if is_converted else offer.edges
    if least is None:
        return "NetworkX may be as fast: it searches from both ends, has few pairs, or calls what is dispatched itself"
    if G.number_of_nodes() > least or G.number_of_edges() >= least:
        return (offer.leaves(G) if getattr(G, "__networkx_backend__", "") != BACKEND else "") or True
    state = "converted already" if is_converted else "not yet converted"
    return f"the graph, {state}, has fewer than {least:,} edges, and NetworkX is as fast"


def undirected_only(what: str) -> Callable[[Mapping[str, Any]], str]:
    """A refusal of directed graphs, of which NetworkX counts something else."""

    def refuses(arguments: Mapping[str, Any]) -> str:
        if arguments["G"].is_directed():
            return f"of a directed graph NetworkX's {what} counts edges that go both ways twice; graphdask does not"
        return ""

    return refuses


def no_function(weight: str = "weight") -> Callable[[Mapping[str, Any]], str]:
    """A refusal of weights that a function makes, in the argument of this name."""

    def refuses(arguments: Mapping[str, Any]) -> str:
        return "weights are an edge attribute for graphdask, not a function" if callable(arguments[weight]) else ""

    return refuses
