"""Sizes are defined once. Those that CUDA shares have macros of the same values; what tests vary is in tables."""

from __future__ import annotations

import ast
import importlib
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import FrozenInstanceError, dataclass, fields
from pathlib import Path

import pytest
from source_tree import sources

from graphdask.errors import InputError
from graphdask.kernels.common import tuning
from graphdask.tuning import Tuning, per_device

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


@dataclass(frozen=True)
class Sizes(Tuning):
    batch: int = 100
    launch: Mapping[str, int] = per_device(cpu=10, cuda=1000)


def test_sizes_vary_in_a_block_for_all_threads_and_devices():
    sizes, seen = Sizes(), []
    with sizes.varied(batch=3, launch=7):
        thread = threading.Thread(target=lambda: seen.append((sizes.batch, dict(sizes.launch))))
        thread.start()
        thread.join()
        with sizes.varied(batch=4, launch={"cpu": 1}):
            assert (sizes.batch, sizes.launch) == (4, {"cpu": 1})
        assert sizes.batch == 3
    assert seen == [(3, {"cpu": 7, "cuda": 7})]
    assert sizes == Sizes()


def test_sizes_are_the_same_after_an_error():
    sizes = Sizes()
    with pytest.raises(ZeroDivisionError), sizes.varied(batch=0):
        1 // sizes.batch
    with pytest.raises(InputError, match="Sizes has no size 'batches'; it has batch, launch"), sizes.varied(batches=1):
        pass
    with pytest.raises(FrozenInstanceError):
        sizes.batch = 1
    assert sizes == Sizes()


def tables() -> dict[str, Tuning]:
    """The table of each package, by the name under which code reads it."""
    modules = (importlib.import_module(name) for name in sources() if re.fullmatch(r"graphdask\.\w+\.tuning", name))
    return {name: value for module in modules for name, value in vars(module).items() if isinstance(value, Tuning)}


TABLES = tables()


@pytest.mark.parametrize("table", TABLES)
def test_every_size_has_a_reason_and_is_read_and_varied_by_a_test(table):
    """A size that no test varies stands beside the code that uses it."""
    known = sources()
    code = "\n".join(path.read_text() for path in known.values())
    tests = "\n".join(path.read_text() for path in Path(__file__).parents[1].rglob("*.py"))
    text = known[type(TABLES[table]).__module__].read_text()
    for size in (each.name for each in fields(TABLES[table])):
        assert re.search(rf'^    {size}: [^\n]+ = [^\n]+\n    """', text, re.MULTILINE), f"{size} has no reason"
        assert re.search(rf"\b{table}\.{size}\b", code), f"{size} is read nowhere"
        assert re.search(rf"[(, ]{size}=|\"{size}\": ", tests), f"no test varies {size}"


def at_import(node: ast.AST) -> Iterator[ast.AST]:
    """What runs when a module is imported: everything but the bodies of functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            for part in (*child.decorator_list, *child.args.defaults, *filter(None, child.args.kw_defaults)):
                yield from (part, *at_import(part))
        elif not isinstance(child, ast.Lambda):
            yield from (child, *at_import(child))


def test_sizes_are_read_when_code_runs():
    """A module that keeps a size when it is imported does not follow a test that varies it."""
    kept = [
        f"{module}:{node.lineno}"
        for module, path in sources().items()
        if re.search(rf"\b({'|'.join(TABLES)})\.[a-z]", text := path.read_text())
        for node in at_import(ast.parse(text))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in TABLES
    ]
    assert kept == []
