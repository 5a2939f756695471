"""What the workers of a gang must have in common, judged before any work."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from graphdask.errors import GraphdaskWarning, InputError
from graphdask.version import VERSION


def check_versions(versions: Mapping[str, str]) -> None:
    """Raise InputError where workers have another graphdask than this process; `versions` is by address."""
    other = {address: version or "an older one" for address, version in versions.items() if version != VERSION}
    others = [f"{address} has {version}" for address, version in other.items()]
    if others:
        raise InputError(
            f"this process has graphdask {VERSION}, but {', '.join(others)}; install the same version everywhere "
            f"(graphdask doctor shows what each has) and start those workers again"
        )


def chosen_device(wanted: str, has_gpu: Mapping[str, bool]) -> str:
    """`cpu` or `cuda`, for a device that was asked for and the workers that have a GPU, by address.

    Raises
    ------
    InputError
        For `cuda` where a worker has none.

    Warns
    -----
    GraphdaskWarning
        Where `auto` leaves GPUs unused, because some workers have none.
    """
    lacking = ", ".join(address for address, has in has_gpu.items() if not has)
    mend = "start workers with dask cuda worker, or retire those without"
    if wanted == "cuda" and lacking:
        raise InputError(f'device "cuda" was asked for, but {lacking} has no usable GPU; {mend}')
    if wanted == "auto" and lacking and any(has_gpu.values()):
        warnings.warn(
            GraphdaskWarning(f"GPUs are not used, because {lacking} has none; {mend}, or ask for the device cpu"),
            stacklevel=2,
        )
    return wanted if wanted != "auto" else "cpu" if lacking else "cuda"
