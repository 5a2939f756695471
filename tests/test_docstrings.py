"""The examples in docstrings run and print what they say; public functions state parameters and errors."""

from __future__ import annotations

import doctest
import inspect
import re
from importlib import import_module
from pathlib import Path

import dask
import pytest

import graphdask as gd
from graphdask.graph.queries import GraphQueries
from graphdask.interface import parameters

HOME = Path(gd.__file__).parent
MODULES = sorted(
    ".".join(("graphdask", *file.relative_to(HOME).with_suffix("").parts)).removesuffix(".__init__")
    for file in HOME.rglob("*.py")
    if ">>>" in file.read_text()
)

FUNCTIONS = {
    f"{owner.__name__}.{name}": value
    for owner in (gd, gd.generate, gd.sample, gd.stream, gd.Graph, GraphQueries)
    for name in (owner.__all__ if hasattr(owner, "__all__") else vars(owner))
    if not name.startswith("_") and inspect.isfunction(value := getattr(owner, name))
}

RAISES_NOTHING = {"from_networkx", "persist", "reverse", "verify"}


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_say(name):
    with dask.config.set({"graphdask.device": "cpu"}):
        assert doctest.testmod(import_module(name), raise_on_error=False).failed == 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_functions_state_parameters_and_errors(name):
    function = FUNCTIONS[name]
    text = inspect.getdoc(function) or ""
    assert "Raises\n" in text or function.__name__ in RAISES_NOTHING
    taken = set(inspect.signature(function).parameters) - {"self"}
    assert "Parameters\n" in text or not taken - {"client", "progress"}
    for parameter in taken if "Parameters\n" in text and function.__name__ != "in_chunks" else ():
        assert re.search(rf"^(.+, )?{parameter}(, .+)?( : .+)?$", text, re.MULTILINE), parameter


LOADERS = [name for name in gd.sample.__all__ if name.endswith("Loader")]


@pytest.mark.parametrize("name", LOADERS)
def test_loaders_state_each_parameter_once(name):
    text = inspect.getdoc(getattr(gd.sample, name)).partition("Attributes\n")[0]
    described = [
        each for line in re.findall(r"^(\w+(?:, \w+)*)(?: : .+)?$", text, re.MULTILINE) for each in line.split(", ")
    ]
    taken = list(inspect.signature(getattr(gd.sample, name)).parameters)
    assert [each for each in described if each in taken] == sorted(taken, key=described.index)
    assert [each for each in described if each not in taken] == ["Parameters"]


@pytest.mark.parametrize("name", LOADERS)
def test_loaders_state_the_errors_of_runs(name):
    text = inspect.getdoc(getattr(gd.sample, name))
    for error in ("InputError", "MissingDependency", "OverBudget", "PeerLost"):
        assert len(re.findall(rf"^{error}$", text, re.MULTILINE)) == 1, error


def test_of_two_shared_entries_the_first_is_taken_and_self_is_none():
    class Search:
        def of(self, start, client=None):
            """Search.

            Parameters
            ----------
            start : int
            """

    made = parameters.described(Search.of, "client : Client\n    Ours.\nclient : Client\n    Theirs.\n")
    expected = ["Search.", "", "Parameters", "----------", "start : int", "client : Client", "    Ours."]
    assert inspect.getdoc(made).split("\n") == expected


def test_a_docstring_is_completed_from_the_table():
    def search(G, start, *, exchange=None, client=None, progress=None):
        """Search a graph.

        Parameters
        ----------
        G, start
            A graph,

            and a vertex.
        client : Client
            Its own words.

        Raises
        ------
        InputError
            If there is no such vertex.

        Notes
        -----
        None.
        """

    shared = parameters.SHARED.strip().split("\n")
    assert shared[0] == 'exchange : {"selective", "broadcast"}, optional'
    exchange = shared[: next(i for i, line in enumerate(shared) if i and line[0] != " ")]
    progress = ["progress : bool, optional", "    Show a progress bar. Default: in a terminal or a notebook."]
    errors = ["InputError", "    If there is no such vertex.", *parameters.ERRORS.strip().split("\n")]
    expected = [
        "Search a graph.", "", "Parameters", "----------", "G, start", "    A graph,", "", "    and a vertex.",
        *exchange, "client : Client", "    Its own words.", *progress, "", "Raises", "------", *errors, "", "Notes",
        "-----", "None.",
    ]  # fmt: skip
    assert inspect.getdoc(parameters.documented(search)).split("\n") == expected


def test_sections_that_are_missing_are_put_in_their_places():
    def overlap(G, pairs=None):
        """Compare vertices.

        Notes
        -----
        None.
        """

    shared = "G : Graph\n    Any.\npairs : array\n    Which."
    made = parameters.described(overlap, shared, "InputError, Unsupported\n    If not.\nPeerLost", "Result\n    Rows.")
    assert inspect.getdoc(made).split("\n") == [
        "Compare vertices.", "", "Parameters", "----------", *shared.split("\n"), "", "Returns", "-------", "Result",
        "    Rows.", "", "Raises", "------", "InputError, Unsupported", "    If not.", "PeerLost", "", "Notes", "-----",
        "None.",
    ]  # fmt: skip


def test_a_parameter_that_nobody_describes_is_an_error():
    def search(G, client=None):
        """Search a graph.

        Parameters
        ----------
        client : Client

        Raises
        ------
        InputError
        """

    with pytest.raises(KeyError, match="G"):
        parameters.documented(search)
