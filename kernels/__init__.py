"""Kernels: a folder for each family, with the CUDA C++ (`.cu`, `.cuh`) and the Numba twins (`.py`) of the same names.

A file is found by its name alone, which no two folders share. CUDA files include each other by folder and name.
"""

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable


@cache
def folders() -> dict[str, Traversable]:
    """Every file with kernels or with what they share, by its name."""
    found: dict[str, Traversable] = {}
    for folder in files(__name__).iterdir():
        if folder.is_dir():
            found |= {each.name: each for each in folder.iterdir() if each.name.endswith((".py", ".cu", ".cuh"))}
    found.pop("__init__.py", None)
    return dict(sorted(found.items()))


@cache
def module_name(family: str) -> str:
    """The full name of the module with the twins of a family."""
    return f"{__name__}.{_folder(f'{family}.py')}.{family}"


def text_of(name: str) -> str:
    """The text of a file, such as `bfs.cu`."""
    return folders()[name].read_text(encoding="utf-8")


def _folder(name: str) -> str:
    if name not in folders():
        raise ModuleNotFoundError(f"no folder of {__name__} has {name}")
    return next(each.name for each in files(__name__).iterdir() if each.is_dir() and each.joinpath(name).is_file())
