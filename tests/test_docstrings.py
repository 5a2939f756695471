"""The examples in docstrings run and print what they say; public functions state parameters and errors."""

from __future__ import annotations

import doctest
import inspect
from importlib import import_module
from pathlib import Path

import dask
import pytest

import graphdask as gd

HOME = Path(gd.__file__).parent
MODULES = sorted(
    ".".join(("graphdask", *file.relative_to(HOME).with_suffix("").parts)).removesuffix(".__init__")
    for file in HOME.rglob("*.py")
    if ">>>" in file.read_text()
)

FUNCTIONS = {
    f"{owner.__name__}.{name}": value
    for owner in (gd, gd.generate, gd.sample, gd.stream, gd.Graph)
    for name in (owner.__all__ if hasattr(owner, "__all__") else vars(owner))
    if not name.startswith("_") and inspect.isfunction(value := getattr(owner, name))
}

RAISES_NOTHING = {"from_networkx", "persist", "verify"}


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_say(name):
    with dask.config.set({"graphdask.device": "cpu"}):
        assert doctest.testmod(import_module(name), raise_on_error=False).failed == 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_functions_state_parameters_and_errors(name):
    function = FUNCTIONS[name]
    text = inspect.getdoc(function) or ""
    assert "Raises\n" in text or function.__name__ in RAISES_NOTHING
    assert "Parameters\n" in text or not set(inspect.signature(function).parameters) - {"self", "client", "progress"}
