"""Kernels: a folder for each family, with the CUDA C++ (`.cu`, `.cuh`) and the Numba twins (`.py`) of the same names.

A file is found by its name alone, which no two folders share. CUDA files include each other by folder and name. A
family of another distribution is named by its module: `degrees.kernels.higher` stands for the files `higher.py` and
`higher.cu` of the package `degrees.kernels`, which are included as `degrees/kernels/higher_pack.py`.
"""

from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import ModuleType

from graphdask.errors import KernelError, MissingDependency


@cache
def _found() -> dict[str, tuple[str, Traversable]]:
    """The folder and the file of each name, in the order of the names."""
    found = {
        each.name: (folder.name, each)
        for folder in files(__name__).iterdir()
        if folder.is_dir()
        for each in folder.iterdir()
        if each.name.endswith((".py", ".cu", ".cuh")) and each.name != "__init__.py"
    }
    return dict(sorted(found.items()))


@cache
def kernel_files() -> dict[str, Traversable]:
    """Every file with kernels or with what they share, by its name."""
    return {name: file for name, (_, file) in _found().items()}


def folder_of(name: str) -> str:
    """The folder of a file, such as `bfs` of `bfs.cu`."""
    if name not in _found():
        raise ModuleNotFoundError(f"no folder of {__name__} has {name}")
    return _found()[name][0]


@cache
def module_name(family: str) -> str:
    """The full name of the module with the twins of a family."""
    return family if "." in family else f"{__name__}.{folder_of(f'{family}.py')}.{family}"


def module_of(family: str) -> ModuleType:
    """The module of a family, or of its pack.

    Raises
    ------
    MissingDependency
        If its package is not installed here.
    KernelError
        If its package has no such module.
    """
    name = module_name(family)
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name == family:
            raise _no_file(family, "py") from error
        if error.name and family.startswith(f"{error.name}."):
            raise _no_package(family, error.name) from error
        raise


def text_of(name: str) -> str:
    """The text of a file, such as `bfs.cu`, or `degrees.kernels.higher.cu` of another distribution.

    Raises
    ------
    MissingDependency
        If its package is not installed here.
    KernelError
        If its package has no such file.
    """
    stem, _, ending = name.rpartition(".")
    package, _, bare = stem.rpartition(".")
    if not package:
        return kernel_files()[name].read_text(encoding="utf-8")
    try:
        file = files(package).joinpath(f"{bare}.{ending}")
    except ModuleNotFoundError as error:
        raise _no_package(stem, error.name or package) from error
    if not file.is_file():
        raise _no_file(stem, ending)
    return file.read_text(encoding="utf-8")


def name_at(path: str) -> str:
    """The name of a file that is included by folder and name: `rows.cuh` of `common/rows.cuh`."""
    folder, _, name = path.rpartition("/")
    if name in _found() and folder_of(name) == folder:
        return name
    return f"{folder.replace('/', '.')}.{name}"


def _no_package(family: str, package: str) -> MissingDependency:
    return MissingDependency(
        f"the kernels {family} need the package {package}, which is not installed here; install the distribution that "
        f"has it, on every worker of a Dask cluster too"
    )


def _no_file(family: str, ending: str) -> KernelError:
    package, _, name = family.rpartition(".")
    return KernelError(
        f"the kernels {family} need the file {name}.{ending}, which the package {package} does not have; let its "
        f'distribution ship it, with the package data "*.cu" and "*.cuh"'
    )
