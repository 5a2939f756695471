"""Kernels: a folder for each family, with the CUDA C++ (`.cu`, `.cuh`) and the Numba twins (`.py`) of the same names.

A file is found by its name alone, which no two folders share. CUDA files include each other by folder and name.
"""

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable


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
    return f"{__name__}.{folder_of(f'{family}.py')}.{family}"


def text_of(name: str) -> str:
    """The text of a file, such as `bfs.cu`."""
    return kernel_files()[name].read_text(encoding="utf-8")
