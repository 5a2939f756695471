"""What `graphdask fuzz` runs: targets by their names, each a class that is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from graphdask.errors import InputError, shown

TARGETS = {
    "readers": ("graphdask.selftest.readers", "Readers"),
    "constructors": ("graphdask.selftest.constructors", "Constructors"),
    "functions": ("graphdask.selftest.functions", "Functions"),
    "programs": ("graphdask.selftest.programs", "Programs"),
    "verifiers": ("graphdask.selftest.planted", "Planted"),
}


def target_of(name: str) -> Any:
    """Return the class of a target, by its name or, if it is not graphdask's, by `MODULE:CLASS`."""
    module, found, kind = name.partition(":")
    if name in TARGETS:
        module, kind = TARGETS[name]
    elif not found:
        raise InputError(f"{shown(name)} is not fuzzed; what is: {', '.join(TARGETS)}")
    try:
        return getattr(import_module(module), kind)
    except (ImportError, AttributeError) as error:
        raise InputError(f"{name} is no target MODULE:CLASS: {error}") from error
