"""Sizes that Python and CUDA share are defined once in Python, and the macros of CUDA have the same values."""

from __future__ import annotations

import re

import pytest
from source_tree import sources

from graphdask.kernels.common import tuning

KERNELS = sources()["graphdask.kernels"].parent
DEFINE = r"^#define +{} +([\w.]+)"
ALIASES = {name for name in vars(tuning) if re.fullmatch(r"[A-Z][A-Z_]+", name) and name != "MACROS_OF"}


@pytest.mark.parametrize("name", tuning.MACROS_OF)
def test_macros_have_the_values_of_python(name):
    text = (KERNELS / name).read_text()
    for macro, value in tuning.MACROS_OF[name].items():
        (found,) = re.findall(DEFINE.format(macro), text, re.MULTILINE)
        assert float(found) == value, macro


def test_a_shared_size_is_defined_nowhere_else():
    """A module that takes a size from `tuning` does not define another one of that name."""
    twice = []
    for module, path in sources().items():
        text = path.read_text()
        for line in re.findall(r"^from graphdask\.kernels\.common\.tuning import ([^\n]+)", text, re.MULTILINE):
            names = [part.split(" as ")[-1].strip() for part in line.split(",")]
            twice += [f"{module}.{name}" for name in names if re.search(rf"^{name} = ", text, re.MULTILINE)]
    assert twice == []


def test_every_shared_size_is_used():
    text = "\n".join(path.read_text() for path in sources().values())
    taken = re.findall(r"^from graphdask\.kernels\.common\.tuning import ([^\n]+)", text, re.MULTILINE)
    used = {part.split(" as ")[0].strip() for line in taken for part in line.split(",")}
    assert used == ALIASES
