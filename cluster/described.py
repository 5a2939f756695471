"""What stands at the head of records: the machine, the versions, the commit and the arguments."""

from __future__ import annotations

import platform
import subprocess
import time
from pathlib import Path
from typing import Any


def header(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Describe the machine, the versions and the commit of a measurement."""
    from graphdask.cluster.doctor import examine

    seen = examine()
    return {
        "record": "header",
        "benchmark": name,
        "arguments": arguments,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "system": platform.platform(),
        "commit": commit(),
    } | {key: seen[key] for key in ("processor", "cores", "memory", "gpus", "cuda", "python", "versions")}


def commit() -> str | None:
    """The commit of the source tree that runs, `+` where it was changed; None where it is no git checkout."""
    folder = Path(__file__).parents[1]
    if not (folder / ".git").exists():
        return None

    def git(*arguments: str) -> str:
        call = ["git", "-c", f"safe.directory={folder}", "-C", str(folder), *arguments]
        return subprocess.run(call, capture_output=True, text=True, check=True, timeout=10).stdout.strip()

    try:
        return git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain") else "")
    except (OSError, subprocess.SubprocessError):
        return None
