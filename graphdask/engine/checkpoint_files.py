"""Checkpoints in a folder: a file for each rank with the values of its vertices, and a manifest that makes them whole.

`FOLDER/superstep-000000001200/` holds the files of the ranks and `manifest.json`, which is written last, under another
name first. So what has a manifest is complete. The manifest names what the run is of, the numbers of its state, and of
each file its length and checksum; it has a checksum of its own. Values stand by vertex id, so that any number of ranks
can read them. A folder is a path, or an address that fsspec opens.
"""

from __future__ import annotations

import json
import logging
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

NAME = "superstep-{:012d}"
NAMED = re.compile(r"superstep-(\d{12,})")
MANIFEST = "manifest.json"

_logger = logging.getLogger("graphdask")


class Damaged(Exception):
    """A checkpoint is not what was written."""


@dataclass(frozen=True)
class RankFile:
    """The file of one rank."""

    name: str
    nbytes: int
    checksum: int
    """CRC-32 of the file."""
    count: int
    """Of its vertices."""
    first: int
    """The smallest of their ids."""
    last: int
    """The largest."""
    ranged: bool
    """Whether they are all from the smallest to the largest; else the ids stand before the columns, as int64."""


@dataclass(frozen=True)
class Manifest:
    """A complete checkpoint."""

    superstep: int
    """How many supersteps are done."""
    facts: Mapping[str, Any]
    """What the run is of: algorithm, arguments, graph, version."""
    numbers: Mapping[str, str]
    """Of the state: whole numbers, and floats as `float.hex` has them."""
    dtypes: Mapping[str, str]
    """Of the columns, which are in order of their names in the files."""
    files: tuple[RankFile, ...]

    def encoded(self) -> bytes:
        """The file of the manifest."""
        body = json.dumps(asdict(self), sort_keys=True)
        return json.dumps({"checkpoint": body, "checksum": zlib.crc32(body.encode())}, indent=1).encode()

    @classmethod
    def decoded(cls, data: bytes) -> Manifest:
        """Raise Damaged where the file is not whole."""
        try:
            outer = json.loads(data)
            body = outer["checkpoint"]
            if zlib.crc32(body.encode()) != outer["checksum"]:
                raise Damaged("the checksum of the manifest differs")
            inner = json.loads(body)
            return cls(**{**inner, "files": tuple(RankFile(**each) for each in inner["files"])})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Damaged(f"the manifest cannot be read: {error}") from error


def encoded_number(value: float) -> str:
    """A number of a state as text that keeps every bit."""
    return str(int(value)) if isinstance(value, int | np.integer) else float(value).hex()


def decoded_number(text: str) -> float | int:
    """The number of `encoded_number`."""
    return int(text) if re.fullmatch(r"-?\d+", text) else float.fromhex(text)


class Folder:
    """Where the checkpoints of a run are."""

    def __init__(self, address: str):
        from fsspec.core import url_to_fs

        self.address = address
        self.fs, self.root = url_to_fs(address)

    def complete(self) -> Iterator[Manifest]:
        """The checkpoints that have a whole manifest, the latest first."""
        self.fs.invalidate_cache()
        for superstep in sorted(self._supersteps(), reverse=True):
            try:
                manifest = Manifest.decoded(self._read(f"{NAME.format(superstep)}/{MANIFEST}"))
            except FileNotFoundError:  # it never became complete
                continue
            except (Damaged, OSError) as error:
                _logger.warning("the checkpoint of superstep %d is left out: %s", superstep, error)
                continue
            yield manifest

    def write(self, superstep: int, name: str, ids: np.ndarray, columns: list[np.ndarray]) -> RankFile:
        """Write the values of a rank's vertices."""
        count = len(ids)
        first, last = (int(ids.min()), int(ids.max())) if count else (0, -1)
        ranged = last - first + 1 == count and bool((ids[1:] > ids[:-1]).all())
        arrays = columns if ranged else [ids.astype(np.int64), *columns]
        nbytes = checksum = 0
        self.fs.makedirs(f"{self.root}/{NAME.format(superstep)}", exist_ok=True)
        with self.fs.open(f"{self.root}/{NAME.format(superstep)}/{name}", "wb") as file:
            for array in arrays:
                data = np.ascontiguousarray(array).view(np.uint8).data if count else b""
                checksum, nbytes = zlib.crc32(data, checksum), nbytes + len(data)
                file.write(data)
            _synced(file)
        return RankFile(name, nbytes, checksum, count, first, last, ranged)

    def commit(self, manifest: Manifest) -> None:
        """Make a checkpoint complete."""
        folder = f"{self.root}/{NAME.format(manifest.superstep)}"
        unfinished = f"{folder}/unfinished-{os.urandom(4).hex()}"
        with self.fs.open(unfinished, "wb") as file:
            file.write(manifest.encoded())
            _synced(file)
        self.fs.mv(unfinished, f"{folder}/{MANIFEST}")

    def forget(self, keep: set[int]) -> None:
        """Remove the checkpoints of other supersteps, and what is left of those that were never complete. Later ones
        stay: faster ranks may be writing the next one."""
        with suppress(OSError):
            for superstep in [each for each in self._supersteps() - keep if each < max(keep)]:
                self.remove(superstep)

    def remove(self, superstep: int) -> None:
        """Remove a checkpoint, or what there is of one."""
        with suppress(OSError):
            self.fs.rm(f"{self.root}/{NAME.format(superstep)}", recursive=True)

    def values(self, manifest: Manifest, ids: np.ndarray) -> dict[str, np.ndarray]:
        """The columns of some vertices, ascending or not.

        Raises
        ------
        Damaged
            Where a file that has some of them is gone, or is not what was written.
        """
        dtypes = {name: np.dtype(dtype) for name, dtype in manifest.dtypes.items()}
        found = {name: np.zeros(len(ids), dtype) for name, dtype in dtypes.items()}
        missing = np.ones(len(ids), bool)
        low, high = (int(ids.min()), int(ids.max())) if len(ids) else (0, -1)
        for each in manifest.files:
            if not each.count or each.last < low or each.first > high:
                continue
            there, columns = self._columns(manifest.superstep, each, dtypes)
            (wanted,) = np.nonzero((ids >= each.first) & (ids <= each.last))
            if there is None:
                places = ids[wanted].astype(np.int64) - each.first
            else:
                order = np.argsort(there)
                places = order[np.minimum(np.searchsorted(there, ids[wanted], sorter=order), len(there) - 1)]
                same = there[places] == ids[wanted]
                wanted, places = wanted[same], places[same]
            missing[wanted] = False
            for name, column in columns.items():
                found[name][wanted] = column[places]
        if missing.any():
            raise Damaged(f"the files lack the vertex {int(ids[missing][0])}")
        return found

    def _columns(
        self, superstep: int, file: RankFile, dtypes: Mapping[str, np.dtype]
    ) -> tuple[np.ndarray | None, dict[str, np.ndarray]]:
        """The ids of a file, if it has some, and its columns."""
        try:
            data = self._read(f"{NAME.format(superstep)}/{file.name}")
        except OSError as error:
            raise Damaged(f"{file.name} cannot be read: {error}") from error
        if len(data) != file.nbytes or zlib.crc32(data) != file.checksum:
            raise Damaged(f"{file.name} is not what was written")
        at, ids, columns = 0, None, {}
        if not file.ranged:
            ids, at = np.frombuffer(data, np.int64, file.count), 8 * file.count
        for name, dtype in dtypes.items():
            columns[name] = np.frombuffer(data, dtype, file.count, at)
            at += dtype.itemsize * file.count
        return ids, columns

    def _read(self, name: str) -> bytes:
        data: bytes = self.fs.cat_file(f"{self.root}/{name}")
        return data

    def _supersteps(self) -> set[int]:
        try:
            names = [str(each).rstrip("/").rpartition("/")[2] for each in self.fs.ls(self.root, detail=False)]
        except FileNotFoundError:
            return set()
        return {int(found[1]) for each in names if (found := NAMED.fullmatch(each))}


def _synced(file: Any) -> None:
    """Bring a file of this host to its disk; one elsewhere is whole when it is closed."""
    with suppress(AttributeError, OSError, ValueError):
        file.flush()
        os.fsync(file.fileno())
