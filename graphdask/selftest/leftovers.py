"""Folders that processes which were killed could not remove: the next run removes them."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

NAME = re.compile(r"graphdask-fuzz-(\d+)-(\d+)-(\d+)-\w+")
"""The system of processes, the process and the time of its start, of which no other folder has all."""


def new_folder() -> Path:
    """Remove what earlier runs have left, and make a folder for this process, which removes it by itself."""
    system = _system()
    for path in Path(tempfile.gettempdir()).glob("graphdask-fuzz-*"):
        found = NAME.fullmatch(path.name)
        if found is not None and int(found[1]) == system and _started(int(found[2])) != int(found[3]):
            shutil.rmtree(path, ignore_errors=True)
    pid = os.getpid()
    return Path(tempfile.mkdtemp(prefix=f"graphdask-fuzz-{system}-{pid}-{_started(pid)}-"))


def _system() -> int:
    """What numbers of processes are of: those of a container are others."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0


def _started(pid: int) -> int:
    """When a process started, in ticks since the host did; 0 if it has ended, or nobody knows."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return 0
    return 0 if fields[0] == "Z" else int(fields[19])
