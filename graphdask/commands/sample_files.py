"""Files that `graphdask sample` writes: arrays, text, or a folder of Parquet files, as the name says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphdask.commands import streams
from graphdask.commands.options import refuse_alone, writable
from graphdask.errors import InputError


def check_output(path: Path | None, overwrite: bool, resume: bool = False) -> None:
    """Raise InputError, before any work, where the output cannot be written, or is there."""
    refuse_alone(overwrite, "--output", path)
    if path is None:
        return
    if path.suffix.lower() not in ("", *WRITERS):
        raise InputError(
            f"{path}: an output is a file whose name ends in one of {', '.join(WRITERS)}, or a folder, whose name has "
            f"no ending; {path.suffix!r} is neither"
        )
    if streams.refuse_existing(path, overwrite):
        return
    if path.suffix:
        writable(path, overwrite)
        return
    from graphdask.sample.result import sample_folder

    sample_folder(path, overwrite or resume)  # what is there may be the whole output


def write(result: Any, path: Path, overwrite: bool) -> None:
    """Write samples as the name says, at an address too."""
    import numpy as np

    from graphdask.io.kept import is_text, refuse_names

    walks = result.columns[0] == "walks"
    for name in result.columns:
        values = np.asarray(getattr(result, name))
        if is_text(values):
            names = (value for value in values.reshape(-1).tolist() if value is not None)
            format = {".npz": "npz", ".txt": "walks" if walks else "table"}.get(path.suffix.lower(), "parquet")
            refuse_names(dict.fromkeys(names), format)
    with streams.written(path, overwrite) as place:
        if path.suffix:
            WRITERS[path.suffix.lower()](result, place, overwrite)
        else:
            result.to_parquet(place, overwrite=overwrite)


def _write_npz(result: Any, path: Path, overwrite: bool) -> None:
    import numpy as np

    from graphdask.io.outputs import file_output

    columns = {name: getattr(result, name) for name in result.columns}
    for name, values in columns.items():
        if values.dtype.kind in "OT":
            filled = ["" if value is None else value for value in values.reshape(-1)]
            columns[name] = np.array(filled, np.str_).reshape(values.shape)
    with file_output(path, overwrite).stream() as file:
        np.savez(file, allow_pickle=False, **columns)


def _write_txt(result: Any, path: Path, overwrite: bool) -> None:
    """A walk a line, without what is past its end; or an edge a line, its columns named in the first."""
    import io

    from graphdask.io.outputs import file_output

    with file_output(path, overwrite).stream() as out, io.TextIOWrapper(out, "utf-8") as file:
        if result.columns[0] == "walks":
            for walk, length in zip(result.walks.tolist(), result.lengths.tolist(), strict=True):
                file.write(" ".join(map(str, walk[: length + 1])) + "\n")
            return
        columns = _of_pools(result) if "lengths" in result.columns else {
            name: getattr(result, name) for name in result.columns
        }  # fmt: skip
        file.write("# " + "\t".join(columns) + "\n")
        for row in zip(*(values.tolist() for values in columns.values()), strict=True):
            file.write("\t".join(map(str, row)) + "\n")


def _of_pools(result: Any) -> dict[str, Any]:
    """The edges of all pools, one after the other."""
    import numpy as np

    made = np.arange(result.src.shape[1]) < result.lengths[:, None]
    instance = np.repeat(np.arange(len(made)), result.lengths)
    columns = ("src", "dst", "edge") if "edge" in result.columns else ("src", "dst")
    return {"instance": instance, **{name: getattr(result, name)[made] for name in columns}}


WRITERS: dict[str, Callable[[Any, Path, bool], None]] = {".npz": _write_npz, ".txt": _write_txt}
"""By the ending of the name."""
