"""What is installed: every package is listed, and the wheel built from the source distribution is complete."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import PurePosixPath

import pytest
from source_tree import FOLDERS, ROOT, settings, sources

pytest.importorskip("build", reason="needs the package build, which the extra 'test' installs")

SHIPPED = (".py", ".cu", ".cuh", ".yaml", ".typed")


def installed_files() -> set[str]:
    """Where every shipped file of the tree stands once installed."""
    return {
        PurePosixPath(package.replace(".", "/"), path.relative_to(ROOT / folder)).as_posix()
        for package, folder in FOLDERS.items()
        for path in (ROOT / folder).rglob("*")
        if path.suffix in SHIPPED
    }


def test_every_folder_with_modules_is_a_listed_package():
    packages = {name if path.name == "__init__.py" else name.rpartition(".")[0] for name, path in sources().items()}
    assert packages == set(settings()["tool"]["setuptools"]["packages"])


def test_the_folders_of_packages_are_those_of_the_build():
    assert settings()["tool"]["setuptools"]["package-dir"] == FOLDERS


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of the source distribution of a copy of the tree, and of the wheel that is built from that."""
    copy, dist = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("dist")
    for folder in (*FOLDERS.values(), "tests", "docs"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, copy)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(dist), str(copy)]
    said = subprocess.run(command, capture_output=True, text=True, cwd=copy)
    assert said.returncode == 0, said.stdout + said.stderr
    return dist


@pytest.fixture(scope="module")
def wheel(built):
    """Names in the wheel."""
    with zipfile.ZipFile(next(built.glob("graphdask-*.whl"))) as archive:
        return archive.namelist()


@pytest.mark.slow
def test_the_source_distribution_holds_every_page_of_docs(built):
    (path,) = built.glob("graphdask-*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"docs/{page.name}" for page in (ROOT / "docs").iterdir()} <= names


@pytest.mark.slow
def test_the_wheel_holds_every_file_of_the_packages_and_no_other(wheel):
    assert {name for name in wheel if ".dist-info/" not in name} == installed_files()


@pytest.mark.slow
def test_the_wheel_has_one_top_level_package(wheel):
    assert {name.split("/")[0] for name in wheel if ".dist-info/" not in name} == {"graphdask"}


@pytest.mark.slow
def test_the_wheel_holds_the_licence(wheel):
    assert [name for name in wheel if name.endswith("/LICENSE")]
