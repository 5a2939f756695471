"""What a process has to work with, as plain values: it runs here and, sent with `Client.run`, on every worker.

`examine` looks, `problems` judges what it saw, `skew` compares what several processes saw.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = (
    "graphdask", "numpy", "numba", "scipy", "dask", "distributed", "click", "tqdm", "pyarrow", "matplotlib",
    "cupy", "dask-cuda", "ucxx", "distributed-ucxx", "nvidia-nccl", "pymetis", "pandas",
)  # fmt: skip
MUST_AGREE = ("python", "graphdask", "dask", "distributed", "numpy", "numba", "cupy", "ucxx")
"""Versions that have to be the same in every process of a cluster."""
MIN_SHARED_MEMORY = 1 << 30
MIN_OPEN_FILES = 1024


def examine() -> dict[str, Any]:
    """Look at this process and its host.

    Returns
    -------
    dict
        Only strings, numbers, lists and dicts: `host`, `python`, `os`, `kernel`, `versions`, `gpus`, `cuda`, `ucx`,
        `nccl`, `cores`, `memory`, `shared_memory`, `limits`, `environment`. Sizes in bytes.
    """
    from graphdask.cluster.local import core_count

    environment = {k: v for k, v in sorted(os.environ.items()) if k.startswith(("UCX_", "NCCL_", "CUDA_VIS"))}
    return {
        "host": platform.node(),
        "pid": os.getpid(),
        "python": platform.python_version(),
        "executable": sys.executable,
        "os": _os_name(),
        "kernel": platform.release(),
        "processor": _processor(),
        "cores": core_count(),
        "memory": _memory(),
        "shared_memory": _shared_memory(),
        "limits": _limits(),
        "versions": versions(),
        "gpus": _gpus(),
        "cuda": _cuda(),
        "ucx": _ucx(),
        "nccl": _nccl(),
        "environment": environment,  # as it was before UCX set its own
    }


def versions() -> dict[str, str]:
    """Versions of the packages that matter here; CUDA wheels by their plain name, `cupy` for `cupy-cuda13x`."""
    found = {}
    for distribution in metadata.distributions():
        name = (distribution.metadata["Name"] or "").lower().replace("_", "-")
        plain = name
        for suffix in ("-cuda11x", "-cuda12x", "-cuda13x", "-cu11", "-cu12", "-cu13"):
            plain = plain.removesuffix(suffix)
        if plain in PACKAGES and plain not in found:
            found[plain] = distribution.version
    return {name: found[name] for name in PACKAGES if name in found}


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        return platform.system()


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.machine()


def _memory() -> dict[str, int]:
    from graphdask.device.backend import get_backend

    return {
        "total": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "available": get_backend("cpu").free_memory(),
    }


def _shared_memory() -> dict[str, int]:
    try:
        usage = shutil.disk_usage("/dev/shm")
    except OSError:
        return {"total": 0, "free": 0}
    return {"total": usage.total, "free": usage.free}


def _limits() -> dict[str, int]:
    """Soft limits of the process; -1 is none."""
    import resource

    return {
        "open_files": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        "locked_memory": resource.getrlimit(resource.RLIMIT_MEMLOCK)[0],
        "processes": resource.getrlimit(resource.RLIMIT_NPROC)[0],
    }


def _gpus() -> list[dict[str, Any]]:
    """Devices with `name`, `memory`, `driver`: what nvidia-smi sees, whether or not this process can use them."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    query = [program, "--query-gpu=name,memory.total,memory.used,driver_version", "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    found = []
    for line in answer.splitlines():
        name, total, used, driver = (cell.strip() for cell in line.split(","))
        megabytes = [int(cell) << 20 if cell.isdigit() else 0 for cell in (total, used)]
        found.append({"name": name, "memory": megabytes[0], "used": megabytes[1], "driver": driver})
    return found


def _cuda() -> dict[str, Any]:
    """What CuPy can use: `devices`, the CUDA versions of `driver` and `runtime`, and the `reason` where it cannot."""
    try:
        import cupy
    except Exception as error:  # not installed, or a library of CUDA that does not load: either way not usable
        return {"usable": False, "devices": [], "reason": f"CuPy cannot be loaded: {error}"}
    runtime = cupy.cuda.runtime
    found: dict[str, Any] = {"usable": False, "devices": [], "cupy": cupy.__version__, "reason": ""}
    try:
        found["driver"] = _dotted(runtime.driverGetVersion())
        found["runtime"] = _dotted(cupy.cuda.get_local_runtime_version())
        for number in range(runtime.getDeviceCount()):
            properties = runtime.getDeviceProperties(number)
            found["devices"].append(
                {
                    "name": properties["name"].decode(),
                    "memory": int(properties["totalGlobalMem"]),
                    "capability": f"{properties['major']}.{properties['minor']}",
                }
            )
        found["usable"] = bool(found["devices"])
    except Exception as error:  # the driver is missing, too old, or refuses: the reason is what the reader needs
        found["reason"] = str(error)
    return found


def _dotted(version: int) -> str:
    """CUDA's number of a version: 12090 is 12.9."""
    return f"{version // 1000}.{version % 1000 // 10}"


def _ucx() -> dict[str, Any]:
    """Whether the UCX data plane works here, with which `transports`."""
    from graphdask.comm.ucx.communicator import ucx_available, ucx_transports

    usable, words = ucx_available()
    return {"usable": usable, "found": words, "transports": ucx_transports() if usable else []}


def _nccl() -> dict[str, Any]:
    from graphdask.comm.nccl import nccl_available

    usable, words = nccl_available()
    return {"usable": usable, "found": words}


def problems(seen: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What is wrong or missing in one process, and what to do about it."""
    found = []
    gpus, cuda = seen["gpus"], seen["cuda"]
    if gpus and not cuda["usable"]:
        driver = gpus[0]["driver"]
        found.append((
            f"{len(gpus)} GPU{'s' if len(gpus) > 1 else ''} (driver {driver}), but not usable: {cuda['reason']}",
            'pip install "graphdask[cuda13]" for a driver of 580 or newer, else "graphdask[cuda12]"',
        ))  # fmt: skip
    if cuda["usable"] and "dask-cuda" not in seen["versions"]:
        found.append(("no dask-cuda: no worker for each GPU", 'pip install "graphdask[cuda13]" (or cuda12)'))
    if cuda["usable"] and not seen["nccl"]["usable"]:
        found.append((seen["nccl"]["found"], "NCCL is the faster data plane between GPUs; UCX is used without it"))
    if not seen["ucx"]["usable"] and (cuda["usable"] or "ucxx" in seen["versions"]):  # else TCP does
        found.append((
            "UCX is not usable, so data between processes goes over TCP", seen["ucx"]["found"]
        ))  # fmt: skip
    elif cuda["usable"] and not any(name.startswith("cuda") for name in seen["ucx"]["transports"]):
        found.append((
            "UCX opens no CUDA transport",
            "look whether UCX_TLS leaves cuda_copy and cuda_ipc out, and whether libucx was built with CUDA",
        ))  # fmt: skip
    if seen["shared_memory"]["total"] < MIN_SHARED_MEMORY and (seen["ucx"]["usable"] or seen["nccl"]["usable"]):
        megabytes = seen["shared_memory"]["total"] >> 20
        found.append((
            f"/dev/shm has {megabytes} MiB",
            "UCX and NCCL exchange through it within a host: 1 GiB or more; in a container --shm-size=8g",
        ))  # fmt: skip
    if 0 <= seen["limits"]["open_files"] < MIN_OPEN_FILES:
        found.append((
            f"only {seen['limits']['open_files']} open files are allowed", "ulimit -n 65536 before starting workers"
        ))  # fmt: skip
    if any(name.startswith("rc_") for name in seen["ucx"]["transports"]) and seen["limits"]["locked_memory"] != -1:
        found.append(("locked memory is limited, InfiniBand needs it", "ulimit -l unlimited before starting workers"))
    return found


def skew(processes: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Versions that differ between processes.

    Parameters
    ----------
    processes : mapping of str to mapping
        What `examine` returned, or at least `python` and `versions`, by the name of the process.

    Returns
    -------
    list of dict
        `package`, `versions` (by process; "missing" where it has none) and `matters`: whether they must agree.
    """
    seen = {name: {"python": process["python"], **process["versions"]} for name, process in processes.items()}
    found = []
    for package in ("python", *PACKAGES):
        by_process = {name: have.get(package, "missing") for name, have in seen.items()}
        if len(set(by_process.values())) > 1:
            found.append({"package": package, "versions": by_process, "matters": package in MUST_AGREE})
    return found


def examine_scheduler(dask_scheduler: Any = None) -> dict[str, Any]:
    """What the scheduler's process has; it needs no graph, so only versions are asked."""
    return {"host": platform.node(), "python": platform.python_version(), "versions": versions()}
