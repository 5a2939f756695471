"""What NetworkX says of the backend in its documentation; loaded with NetworkX, so nothing heavy is imported."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

OFFERED = re.compile(r"^@offered\((.*?)\)\ndef (\w+)\(", re.MULTILINE | re.DOTALL)


def notes() -> dict[str, str]:
    """Return for each function that is `offered` what its `note` says; read from the text of this package."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("*.py"))]
    return {
        name: "".join(re.findall(r'note="(.*?)"', arguments))
        for text in texts
        for arguments, name in OFFERED.findall(text)
    }


def get_info() -> dict[str, Any]:
    """The facts of the entry point `networkx.backend_info`."""
    return {
        "backend_name": "graphdask",
        "project": "graphdask",
        "package": "graphdask",
        "short_summary": "CPU cores, GPUs or the workers of the open Dask client; the same answer on each.",
        "default_config": {},
        "functions": {name: {"additional_docs": note} if note else {} for name, note in notes().items()},
    }
