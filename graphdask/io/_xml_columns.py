"""More columns of edges and vertices in GraphML and GEXF, whose attributes have a name and a type.

Both formats have truth values, whole numbers, floats and strings; dates, times and decimal numbers are strings there. A
null is an attribute that an element does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from graphdask.errors import FormatError, InputError, shown

from .asked import Asked, picked

KINDS = {
    "boolean": "bool", "int": "int32", "integer": "int32", "short": "int32", "byte": "int32", "long": "int64",
    "float": "float32", "double": "float64",
}  # fmt: skip
"""The types of both formats that are not strings, as Arrow calls them."""
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


class Attributes:
    """Attributes of one kind of elements, as they are read."""

    def __init__(self, what: str, asked: Asked):
        self._what, self._asked = what, asked
        self.rows = 0
        self._names: dict[str, str] = {}
        """Of keys."""
        self._kinds: dict[str, str] = {}
        self._defaults: dict[str, str] = {}
        self._values: dict[str, dict[int, str]] = {}
        """By name and row."""

    def declare(self, key: str, title: str, kind: str) -> None:
        """Note a key, the name and the type of its attribute."""
        if self._asked:
            self._names[key] = title or key
            self._kinds.setdefault(title or key, kind)

    def default(self, key: str, value: str) -> None:
        """Note what elements have that do not say another value."""
        if key in self._names:
            self._defaults[self._names[key]] = value

    def put(self, key: str, value: str) -> None:
        """Note a value of the element that was begun last."""
        if key in self._names:
            self._values.setdefault(self._names[key], {})[self.rows - 1] = value

    def table(self, taken: set[str], path: Any) -> Any:
        """Return the columns that are asked for, a row for each element; None where none are."""
        import pyarrow as pa

        if not self._asked:
            return None
        names = picked(self._what, self._asked, list(self._kinds), taken, path)
        if not names:
            return None
        return pa.table({name: self._column(name, path) for name in names})

    def _column(self, name: str, path: Any) -> Any:
        import pyarrow as pa

        given, default = self._values.get(name, {}), self._defaults.get(name)
        texts = [given.get(row, default) for row in range(self.rows)]
        kind = KINDS.get(self._kinds[name], "string")
        if kind == "string":
            return pa.array(texts, pa.string())
        parse: Callable[[str], Any] = _truth if kind == "bool" else int if kind.startswith("int") else float
        values: list[Any] = []
        for text in texts:
            try:
                values.append(None if text is None else parse(text.strip()))
            except (ValueError, KeyError):
                raise FormatError(
                    f"{self._what}: {shown(text)[:80]} of the column {name!r} is no {self._kinds[name]}", path
                ) from None
        wide = kind == "int32" and any(value is not None and not -(2**31) <= value < 2**31 for value in values)
        try:
            return pa.array(values, pa.int64() if wide else getattr(pa, kind if kind != "bool" else "bool_")())
        except (pa.ArrowException, OverflowError):
            raise FormatError(f"{self._what}: a value of the column {name!r} does not fit 64 bits", path) from None


def _truth(text: str) -> bool:
    return _TRUTH[text.lower()]


def lost_in_xml(table: Any) -> list[str]:
    """Return names of columns of types that neither format has, nor a string says."""
    import pyarrow as pa

    of, lost = pa.types, []
    for field in table.schema:
        value = field.type.value_type if of.is_dictionary(field.type) else field.type
        held = of.is_boolean(value) or of.is_integer(value) or of.is_floating(value) or of.is_null(value)
        held = held or of.is_string(value) or of.is_large_string(value)
        held = held or of.is_date(value) or of.is_timestamp(value) or of.is_time(value) or of.is_decimal(value)
        lost += [] if held and field.name else [field.name]
    return lost


def kind_of(kind: Any) -> str:
    """Return the type of both formats for an Arrow type."""
    import pyarrow as pa

    of = pa.types
    if of.is_dictionary(kind):
        kind = kind.value_type
    if of.is_boolean(kind):
        return "boolean"
    if of.is_integer(kind) and kind != pa.uint64():
        return "long" if kind in (pa.int64(), pa.uint32()) else "int"
    if of.is_floating(kind):
        return "double" if kind == pa.float64() else "float"
    return "string"


def texts_of(table: Any, what: str) -> Iterator[tuple[str, str, list[str | None]]]:
    """Yield the name, the type and the values of each column as text.

    Raises
    ------
    InputError
        For a name or a value with a character that XML cannot hold.
    """
    from .kept import NOT_XML

    for name in [] if table is None else table.column_names:
        kind = kind_of(table.schema.field(name).type)
        texts: list[str | None] = []
        for row, value in enumerate(table[name].to_pylist()):
            if value is None:
                texts.append(None)
                continue
            text = str(value).lower() if kind == "boolean" else repr(value) if isinstance(value, float) else str(value)
            if NOT_XML.search(text) or NOT_XML.search(name):
                raise InputError(
                    f"{what}: row {row} of the column {name!r} has a character that XML cannot hold; write Parquet or "
                    ".gdg"
                )
            texts.append(text)
        yield name, kind, texts


def warn_of_xml_types(table: Any, what: str, name: str) -> None:
    """Warn of columns that are read back as another type."""
    import pyarrow as pa

    same = (pa.bool_(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string())
    others = [field.name for field in table.schema if field.type not in same]
    if others:
        from .kept import warn

        warn(f"{name} has no types for the {what} columns {', '.join(others)}: they are read back as numbers or "
             "strings; Parquet and .gdg say their types")  # fmt: skip
