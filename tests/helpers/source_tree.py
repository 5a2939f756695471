"""The project's own files: which Python modules there are, under which name they are installed, what they import."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {"graphdask": "graphdask", "graphdask.kernels": "kernels", "graphdask.cluster": "cluster"}
"""Where each root of packages lies in the tree; the same table as `package-dir` in pyproject.toml."""


@dataclass(frozen=True)
class Import:
    """One imported module or name."""

    importer: str
    """Module that imports."""
    target: str
    """Dotted name, as far as it was written: `a.b` for `import a.b`, `a.b.c` for `from a.b import c`."""
    line: int
    where: str
    """`module`, `function`, or `typing` for what stands under `if TYPE_CHECKING`."""


def project() -> Path:
    """The folder of the project; what needs its files is skipped where the tests stand alone, as beside a wheel."""
    if not (ROOT / "graphdask").is_dir():
        pytest.skip(f"needs the project's own files, and {ROOT} holds only its tests", allow_module_level=True)
    return ROOT


def settings() -> dict:
    """The content of pyproject.toml."""
    return tomllib.loads((project() / "pyproject.toml").read_text())


@cache
def sources() -> dict[str, Path]:
    """File of every module, by the name under which it is installed; a package by its `__init__.py`."""
    found = {}
    for package, folder in FOLDERS.items():
        for path in sorted((project() / folder).rglob("*.py")):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            found[".".join((package, *(part for part in parts if part != "__init__")))] = path
    return found


def imports(module: str, path: Path) -> list[Import]:
    """Everything a file imports, also inside functions."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    tree = ast.parse(path.read_text(), filename=str(path))
    return [
        Import(module, target, node.lineno, where)
        for node, where in _walk(tree, "module")
        for target in _targets(node, package)
    ]


def _walk(node: ast.AST, where: str) -> Iterator[tuple[ast.AST, str]]:
    """Every import statement below a node, with where it stands."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):  # has no statements in it
            continue
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, where
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _walk(child, "function")
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from _walk(child, "typing")
        else:
            yield from _walk(child, where)


def _targets(node: ast.AST, package: str) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    assert isinstance(node, ast.ImportFrom)
    base = node.module or ""
    if node.level:
        above = package.split(".")[: len(package.split(".")) - node.level + 1]
        base = ".".join([*above, *([base] if base else [])])
    return [f"{base}.{alias.name}" for alias in node.names]
