"""Whatever is given for an argument of a function of the backend, the answer is NetworkX's, or so is the exception.

Each argument of a valid call is replaced by each odd value. A run of the tests draws some of these pairs, by its seed;
GRAPHDASK_FUZZ=all runs all of them. What the backend refuses goes to NetworkX, by its own rules.
"""

from __future__ import annotations

import inspect
import itertools
import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import numpy as np
import pytest
from networkx_names import function_of
from odd_options import ODD

from graphdask.errors import GraphdaskError, shown
from graphdask.nx import backend
from graphdask.nx.offered import OFFERS

PAIRS = 40
"""Drawn of each function."""
ENDLESS = {"an endless iterator", "an endless sequence", "a long range", "10**5000"}
"""What NetworkX goes through to its end, or shows in its message."""
OF_HOSTILE = "this object does nothing"
"""What an odd object raises by itself."""
BASE = {"n": 0, "source": 0, "target": 2, "distance": 1, "k": 1, "communities": [{0, 1}, {2, 3}]}
"""Arguments that have no default."""
DIRECTED = {"weakly", "strongly", "attracting", "directed", "ancestors"}

pytestmark = [pytest.mark.timeout(600), pytest.mark.filterwarnings("ignore")]


def graph(name: str) -> Any:
    if any(word in name for word in DIRECTED):
        return nx.DiGraph([(0, 1), (1, 2), (2, 0), (2, 3)])
    G = nx.Graph([(0, 1), (1, 2), (2, 0), (2, 3)])
    nx.set_edge_attributes(G, 2.0, "weight")
    return G


def varied(name: str) -> list[str]:
    """The arguments that the installed version of NetworkX has and so has the backend."""
    return [each for each in inspect.signature(function_of(name).orig_func).parameters if each != "G"]


def outcome(call: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, BaseException | None]:
    """The answer, an iterator's in full, or the exception."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = call(*args, **kwargs)
            return (list(found) if isinstance(found, Iterator) else found), None
    except Exception as error:
        return None, error


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, nx.Graph):
        return sorted(ours.nodes) == sorted(theirs.nodes) and sorted(ours.edges) == sorted(theirs.edges)
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[key], value) for key, value in theirs.items())
    if isinstance(theirs, float | np.floating):
        return bool(np.isclose(float(ours), float(theirs), rtol=1e-5, atol=1e-7, equal_nan=True))
    if isinstance(theirs, list | tuple):
        if not isinstance(ours, list | tuple) or len(ours) != len(theirs):
            return False
        if theirs and isinstance(theirs[0], set):
            return sorted(map(sorted, ours)) == sorted(map(sorted, theirs))
        return all(map(same, ours, theirs))
    return bool(ours == theirs)


def fault(name: str, argument: str, odd: str) -> str:
    """What is wrong with how an odd value of an argument is met; empty for nothing."""
    given = {each: BASE[each] for each in varied(name) if each in BASE}
    needs = {each.name for each in OFFERS[name].signature.parameters.values() if each.default is each.empty}
    given = {each: value for each, value in given.items() if each in needs}
    given |= {"seed": 0} if "seed" in varied(name) else {}
    G, usual = graph(name), function_of(name)
    where = f"{name}({argument}={odd})"
    theirs, their_error = outcome(usual, G, **given | {argument: ODD[odd]()}, backend="networkx")
    arguments = given | {argument: ODD[odd]()}
    try:
        answers = backend.can_run(name, (G,), arguments)
    except Exception as error:
        return f"{where}: can_run raises {type(error).__name__}: {shown(error)}"
    if answers is not True:
        return ""
    ours, error = outcome(usual, G, **given | {argument: ODD[odd]()}, backend="graphdask")
    if error is None:
        if their_error is not None:
            return f"{where}: {shown(ours)} where NetworkX raises {type(their_error).__name__}: {shown(their_error)}"
        return "" if same(ours, theirs) else f"{where}: {shown(ours)} in place of {shown(theirs)}"
    if (
        isinstance(error, GraphdaskError | nx.NetworkXException | NotImplementedError)
        or OF_HOSTILE in str(error)
        or type(error) is type(their_error)
    ):
        return ""
    return f"{where}: {type(error).__name__}: {shown(error)} where NetworkX has {shown(their_error or theirs)}"


@pytest.mark.parametrize("name", [name for name in OFFERS if varied(name)])
def test_an_odd_value_is_met_as_networkx_meets_it(name, rng):
    assert set(varied(name)) < set(OFFERS[name].signature.parameters)
    every = list(itertools.product(varied(name), [odd for odd in ODD if odd not in ENDLESS]))
    if os.environ.get("GRAPHDASK_FUZZ") != "all" and len(every) > PAIRS:
        every = [every[place] for place in rng.choice(len(every), PAIRS, replace=False)]
    faults = [found for pair in every if (found := fault(name, *pair))]
    assert not faults, "\n".join(faults)
