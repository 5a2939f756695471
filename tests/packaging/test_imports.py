"""Imports follow the direction of the layers, and files stay small."""

from __future__ import annotations

import ast

import pytest
from layers import EVERYWHERE, LAST, cycles, unknown, violations
from source_tree import ROOT, Import, imports, sources

LONGEST = 450
MOST_PLACES = 12
MODULES = sources()


@pytest.fixture(scope="module")
def imported() -> list[Import]:
    """Everything the package imports; read here, as every process that collects tests loads this file."""
    return [found for module, path in MODULES.items() for found in imports(module, path)]


def test_every_module_belongs_to_a_layer():
    assert unknown(MODULES) == []


def test_imports_follow_the_direction_of_the_layers(imported):
    assert violations(imported, MODULES) == []


def test_no_modules_import_each_other(imported):
    assert cycles(imported, MODULES) == []


def test_modules_that_other_packages_import_have_no_underscore(imported):
    private = {name for name in MODULES if name.rpartition(".")[2].startswith("_") and "__" not in name}
    packages = {name for name, path in MODULES.items() if path.name == "__init__.py"}

    def package(module):
        return module if module in packages else module.rpartition(".")[0]

    used = {
        (found.importer, name)
        for found in imported
        for name in (found.target, found.target.rpartition(".")[0])
        if name in private and package(found.importer) != package(name)
    }
    assert used == set()


def test_no_test_imports_the_folders_kernels_and_cluster_as_packages():
    tests = {f"tests.{path.stem}": path for path in (ROOT / "tests").rglob("*.py")}
    tops = [found for name, path in tests.items() for found in imports(name, path)]
    assert [found for found in tops if found.target.split(".")[0] in ("kernels", "cluster")] == []


def test_no_file_is_long():
    folders = ("graphdask", "kernels", "cluster", "tests")
    files = (path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".cu", ".cuh"))
    lines = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in files}
    assert {path: count for path, count in lines.items() if count > LONGEST} == {}


def test_no_function_takes_many_arguments_by_their_place():
    many = {}
    for module, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                places = len(node.args.posonlyargs) + len(node.args.args)
                if places > MOST_PLACES:
                    many[f"{module}.{node.name}"] = places
    assert many == {}, "give one object that describes them, or make them keywords"


NAMES = {
    "graphdask",
    "graphdask.errors",
    "graphdask.execute",
    "graphdask.gang",
    "graphdask.device.backend",
    "graphdask.comm",
    "graphdask.comm.ucx.plane",
    "graphdask.partition.part",
    "graphdask.partition.vertex_map",
    "graphdask.graph.graph",
    "graphdask.engine.loop",
    "graphdask.algorithms.bfs",
    "graphdask.cli",
}


@pytest.mark.parametrize(
    ("importer", "target", "reason"),
    [
        ("graphdask.comm.ucx.plane", "graphdask.graph.graph.Graph", "comm stands below graph"),
        ("graphdask.errors", "graphdask.graph.graph", "errors stands below graph"),
        ("graphdask.engine.loop", "graphdask.bfs", "only what users touch uses the public names"),
        ("graphdask.algorithms.bfs", "numba.njit", "algorithms leave this to the framework"),
        ("graphdask.algorithms.bfs", "graphdask.comm", "algorithms leave this to the framework"),
        ("graphdask.device.backend", "kernels.bfs", "the package is graphdask.kernels"),
        ("graphdask.commands.run", "graphdask.cli", "commands stands below cli"),
    ],
)
def test_an_import_against_the_direction_is_named(importer, target, reason):
    assert violations([Import(importer, target, 7, "function")], NAMES) == [f"{importer}:7 imports {target}: {reason}"]


@pytest.mark.parametrize(
    ("importer", "target"),
    [
        ("graphdask.graph.graph", "graphdask.comm.ucx.plane.Plane"),
        ("graphdask.graph.graph", "graphdask.partition.vertex_map.VertexMap"),
        ("graphdask.algorithms.bfs", "numpy"),
        ("graphdask.comm.ucx.plane", "distributed.get_worker"),
        ("graphdask.graph.graph", "graphdask.errors.InputError"),
        ("graphdask", "graphdask.cli"),
        ("graphdask.cli", "graphdask.bfs"),
    ],
)
def test_an_import_along_the_direction_is_allowed(importer, target):
    assert violations([Import(importer, target, 1, "module")], NAMES) == []


@pytest.mark.parametrize("where", ["module", "function", "typing"])
def test_no_place_excuses_an_import_of_what_stands_above(where):
    found = Import("graphdask.execute", "graphdask.gang", 9, where)
    assert violations([found], NAMES) == ["graphdask.execute:9 imports graphdask.gang: execute stands below gang"]


@pytest.mark.parametrize("where", ["module", "function", "typing"])
def test_a_cycle_is_found_wherever_its_imports_stand(where):
    there = Import("graphdask.partition.part", "graphdask.partition.vertex_map.VertexMap", 1, where)
    back = Import("graphdask.partition.vertex_map", "graphdask.partition.part.Csr", 1, "module")
    assert cycles([there, back], NAMES) == [["graphdask.partition.part", "graphdask.partition.vertex_map"]]
    assert cycles([back], NAMES) == []


def test_every_kind_of_import_is_read(tmp_path):
    path = tmp_path / "push.py"
    path.write_text(
        "import numpy as np\n"
        "from ..engine import run\n"
        "if TYPE_CHECKING:\n"
        "    from . import pull\n"
        "class Push:\n"
        "    def go(self):\n"
        "        import graphdask.gang\n"
    )
    assert [(found.target, found.line, found.where) for found in imports("graphdask.algorithms.push", path)] == [
        ("numpy", 1, "module"),
        ("graphdask.engine.run", 2, "module"),
        ("graphdask.algorithms.pull", 4, "typing"),
        ("graphdask.gang", 7, "function"),
    ]


def test_a_package_resolves_its_relative_imports_from_itself(tmp_path):
    path = tmp_path / "__init__.py"
    path.write_text("from .edges import EdgeList\n")
    assert [found.target for found in imports("graphdask.io", path)] == ["graphdask.io.edges.EdgeList"]


def test_the_root_holds_what_every_package_uses():
    root = {path.name for path in (ROOT / "graphdask").glob("*.py")}
    assert root == {f"{name}.py" for name in (*EVERYWHERE, *LAST, "__init__") if name != "interface"}
    assert len(root) <= 9
