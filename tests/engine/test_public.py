"""The engine's public names are explained, and the page names nothing else of it."""

from __future__ import annotations

import inspect
import re

import pytest
from source_tree import project

from graphdask import engine

PAGE = (project() / "docs" / "engine.md").read_text()
CODED = [name for name in engine.__all__ if callable(getattr(engine, name))]


@pytest.mark.parametrize("name", CODED)
def test_a_public_name_and_its_methods_have_docstrings(name):
    value = getattr(engine, name)
    assert inspect.getdoc(value)
    methods = vars(value).items() if inspect.isclass(value) else ()
    plain = {"nbytes", "num_rows", "num_edges", "num_vertices", "num_owned", "num_slots", "first_position", "grows"}
    without = [
        method
        for method, code in methods
        if not method.startswith("_") and (inspect.isfunction(code) or isinstance(code, property))
        if not (code.fget if isinstance(code, property) else code).__doc__ and method not in plain
    ]
    assert without == []


def test_what_the_page_imports_from_the_engine_is_public():
    names = re.findall(r"^from graphdask\.engine import (.*)$", PAGE, re.MULTILINE)
    assert names
    assert {name for line in names for name in line.split(", ")} <= set(engine.__all__)
