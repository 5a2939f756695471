"""Programs of a batch system of ours, and what `graphdask submit` says."""

from __future__ import annotations

from pathlib import Path

from click.testing import Result


def said(result: Result) -> str:
    """Standard error without the line breaks of its width."""
    return " ".join(result.stderr.split())


def program(folder: Path, name: str, text: str) -> None:
    path = folder / "bin" / name
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)
