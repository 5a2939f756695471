"""What every communicator does before an exchange: check the arguments, fill in defaults, wait for the device."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphdask.comm.protocol import META
from graphdask.device.backend import Array, Backend
from graphdask.errors import InputError

NO_CONTROL = np.empty(0, np.int64)
UINT8 = np.dtype(np.uint8)


def checked(
    size: int, sends: Sequence[Array | None], meta: np.ndarray | None, control: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return meta of shape (size, META) and control of shape (c,), both int64, or raise InputError."""
    if len(sends) != size:
        raise InputError(f"exchange wants {size} payloads, one per rank, and got {len(sends)}")
    for part in sends:
        if part is not None and (part.dtype != UINT8 or part.ndim != 1 or not part.flags.c_contiguous):
            raise InputError(f"a payload must be contiguous 1-D uint8, not {part.dtype} of shape {part.shape}")
    if meta is None:
        meta = np.zeros((size, META), np.int64)
    elif meta.shape != (size, META) or meta.dtype != np.int64:
        raise InputError(f"meta must be int64 of shape {(size, META)}, not {meta.dtype} of shape {meta.shape}")
    if control is None:
        control = NO_CONTROL
    elif control.ndim != 1 or control.dtype != np.int64:
        raise InputError(f"control must be 1-D int64, not {control.dtype} of shape {control.shape}")
    return meta, control


def settle(backend: Backend) -> None:
    """Wait for the current stream of a GPU; on a CPU for nothing.

    Cheaper than `Backend.synchronize`, which also asks every kernel family for its status; that one is called only to
    name the kernels when something failed.
    """
    if backend.name == "cpu":
        return
    try:
        backend.xp.cuda.get_current_stream().synchronize()
    except Exception:
        backend.synchronize()
        raise
