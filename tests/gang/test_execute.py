"""The functions that `graphdask/execute.py` declares: each is defined, and reads as the function that it is."""

from __future__ import annotations

import inspect
import pydoc

import pytest

import graphdask  # noqa: F401
from graphdask import execute

DECLARED = {name: each for name, each in vars(execute).items() if hasattr(each, "defined") and inspect.isfunction(each)}


def test_the_functions_are_found():
    assert {"run", "sample", "persist", "verify"} <= DECLARED.keys()


@pytest.mark.parametrize("name", DECLARED)
def test_a_declared_function_has_a_definition_of_its_signature(name):
    definition = DECLARED[name].definition
    assert definition is not None, f"@execute.{name}.defined stands above no function of graphdask/gang/calls.py"
    assert definition.__name__ == name
    assert inspect.signature(definition) == inspect.signature(DECLARED[name])


@pytest.mark.parametrize("name", DECLARED)
def test_help_shows_a_function_with_its_parameters(name):
    text = pydoc.plain(pydoc.render_doc(DECLARED[name]))
    assert text.startswith(f"Python Library Documentation: function {name} in module graphdask.execute")
    assert f"{name}({next(iter(inspect.signature(DECLARED[name]).parameters))}" in text
    assert inspect.getdoc(DECLARED[name]).splitlines()[0] in text


def test_a_function_that_nothing_defines_says_so():
    @execute.declared
    def undefined(graph: object) -> object:
        """Do nothing yet."""

    with pytest.raises(NotImplementedError, match="undefined has no definition"):
        undefined(1)

    @undefined.defined
    def defined(graph: object) -> object:
        return graph, 2

    assert undefined(1) == (1, 2)
