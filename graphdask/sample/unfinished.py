"""Chunks of samples in a folder that is not complete yet, and those that a call broke off after.

Beside the files of a chunk, `part-CHUNK-WORKER.parquet`, stands `chunk-CHUNK.json` once all of them are written, with
their lengths and what was drawn. What has none is removed before a call goes on. A folder that is complete has the
files alone, whose metadata say what was drawn.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from graphdask.errors import InputError
from graphdask.io.outputs import FolderOutput, readable_write
from graphdask.io.put import UNFINISHED, exists, new_name
from graphdask.sample.result import EDGES

ENDING = ".unfinished"
"""Of the name of the folder beside the one that is to be written."""
AGAIN = "again"
"""Before the names of the files of a chunk that is drawn a second time."""


class Unfinished:
    """The chunks of a call in their folder.

    Attributes
    ----------
    done : list of (int, int)
        Of each complete chunk, in order, its rows and the edges that the run went along.
    """

    def __init__(self, folder: Path, out: FolderOutput, digits: int):
        self.folder, self.out, self.digits = folder, out, digits
        self.done: list[tuple[int, int]] = []
        self._found = 0

    def find(self) -> None:
        """Find the chunks that are complete, from the first one on, and remove what is left of others."""
        while (mark := self._mark(len(self.done))).exists():
            try:
                known = json.loads(mark.read_text())
                files = {file.name: file.stat().st_size for file in self._files(len(self.done))}
                if files != known["files"]:
                    break
                self.done.append((known["rows"], known["edges"]))
            except (OSError, ValueError, KeyError, TypeError):
                break
        self._found = len(self.done)
        kept = {file for number in range(self._found) for file in (*self._files(number), self._mark(number))}
        for file in set(self.folder.iterdir()) - kept:
            file.unlink()

    def take(self, number: int, samples: Any) -> None:
        """Write a chunk; compare one that is complete."""
        if number < self._found:
            self._compare(number, samples)
            return
        rows = samples.write_into(self.folder, self._name(number), self.out)
        self.done.append((rows, samples.stats.edges))
        files = {file.name: file.stat().st_size for file in self._files(number)}
        known = {"rows": rows, "edges": samples.stats.edges, "files": files}
        with readable_write(self.out.path, self.out.left):
            half = self.folder / "half"
            half.write_text(json.dumps(known))
            os.replace(half, self._mark(number))

    def finish(self) -> None:
        """Leave only the files of samples."""
        for mark in self.folder.glob("chunk-*.json"):
            mark.unlink()

    def find_complete(self, count: int) -> bool:
        """Whether the folder has each of so many chunks, and nothing else."""
        import pyarrow
        import pyarrow.parquet

        others = {name for name in os.listdir(self.folder) if not UNFINISHED.fullmatch(name)}
        for number in range(count):
            files = self._files(number)
            try:
                found = [pyarrow.parquet.read_metadata(file) for file in files]
                rows, edges = sum(each.num_rows for each in found), int(found[0].metadata[EDGES])
            except (OSError, pyarrow.ArrowException, LookupError, TypeError, ValueError):
                return False
            self.done.append((rows, edges))
            others -= {file.name for file in files}
        return not others

    def holds(self, number: int, samples: Any, into: Path) -> bool:
        """Whether the files of a chunk hold these samples, which are written to a folder for that."""
        import pyarrow
        import pyarrow.parquet

        samples.write_into(into, AGAIN, self.out)
        again = sorted(into.glob(f"{AGAIN}-*.parquet"))
        found, expected = (
            pyarrow.concat_tables([pyarrow.parquet.read_table(file) for file in files]).combine_chunks()
            for files in (again, self._files(number))
        )
        for file in again:
            file.unlink()
        return bool(found.equals(expected))

    def _compare(self, number: int, samples: Any) -> None:
        if not self.holds(number, samples, self.folder):
            raise InputError(
                f"{self.folder} holds chunks of another call: of chunk {number} the rows differ; remove that folder, "
                f"or repeat the call that it is of"
            )

    def _name(self, number: int) -> str:
        return f"part-{number:0{self.digits}d}"

    def _files(self, number: int) -> list[Path]:
        return sorted(self.folder.glob(f"{self._name(number)}-*.parquet"))

    def _mark(self, number: int) -> Path:
        return self.folder / f"chunk-{number:0{self.digits}d}.json"


def complete(out: FolderOutput, count: int, digits: int, last: Callable[[], Any]) -> tuple[Unfinished, Any] | None:
    """The chunks of an output that is complete, and the last of them drawn again; None if there is more to do.

    Parameters
    ----------
    out : FolderOutput
    count : int
        Chunks of the call.
    digits : int
        Of their numbers in names of files.
    last : callable
        Draws the last chunk.

    Raises
    ------
    OutputExists
        If the output holds samples of another call, and may not be replaced.
    """
    broken_off = out.target.with_name(out.target.name + ENDING).exists()
    if not out.target.exists() or not os.listdir(out.target):
        return None
    chunks = Unfinished(out.target, out, digits)
    if not broken_off and chunks.find_complete(count):
        samples, into = last(), new_name(out.target)
        with readable_write(out.path, ""):
            into.mkdir()
        try:
            if chunks.holds(count - 1, samples, into):
                return chunks, samples
        finally:
            shutil.rmtree(into, ignore_errors=True)
    if not out.overwrite:
        raise exists(out.path)
    return None


@contextmanager
def unfinished(out: FolderOutput, resume: bool, digits: int) -> Iterator[Unfinished]:
    """The folder that becomes the output when the block ends well; where it does not, `resume` keeps it."""
    if not resume:
        with out.filling() as folder:
            chunks = Unfinished(folder, out, digits)
            yield chunks
            chunks.finish()
        return
    folder = out.target.with_name(out.target.name + ENDING)
    chunks = Unfinished(folder, out, digits)
    with readable_write(out.path, ""):
        folder.mkdir(exist_ok=True)
        chunks.find()
    yield chunks
    with readable_write(out.path, out.left):
        chunks.finish()
        out.put(folder)
    with suppress(OSError):
        shutil.rmtree(folder)
