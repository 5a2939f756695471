"""A plain Python function of the user as code for CPU and GPU.

The three functions of C-SAW, VertexBias, EdgeBias and Update (S. Pandey et al., "C-SAW: a framework for graph sampling
and random walk on GPUs", SC 2020, section III), and those of vertex programs, are written in Python over documented
fields. Here such a function becomes two texts that compute the same bits: Python for Numba and CUDA C++, both in terms
of kernels/functions/user.{py,cuh}. The fields it reads become arguments; after them comes `failure`, one int32 in which
the first failure is stored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphdask.errors import FunctionError, InputError, shown
from graphdask.program._expressions import Expressions
from graphdask.program._fields import Field, Fields
from graphdask.program._function_source import MOST_READ, FunctionSource, outside, read
from graphdask.program._kinds import IDENTIFIER, kind_of, kinds_of
from graphdask.program._returns import ReturnedNumber, ReturnedRecord, Returns
from graphdask.program._statements import Statements
from graphdask.program._typed_texts import WIDTH
from graphdask.program.translated import NAME, Translated

_HEADER = """from numpy import ceil, floor

from graphdask.kernels.functions.user import *


"""
_MADE: dict[Any, tuple[Any, Translated | FunctionError]] = {}
"""What functions became, with their trees, by these and the numbers around them: each call of a sampler translates its
own."""


def translate(
    function: Callable[[Any], Any], fields: Mapping[str, Any], result: Any, columns: Mapping[str, Field] | None = None
) -> Translated:
    """Translate a Python function for CPU and GPU.

    Parameters
    ----------
    function : function
        With one parameter, written with `def` or `lambda`, that reads fields as attributes of it. It may use local
        variables, numbers of the code around it (taken as they are now), arithmetic, comparisons, `and`, `or`, `not`,
        conditional expressions, `if`, `for` over `range`, `while`, `min`, `max`, `abs`, `int`, `float`, `bool` and, of
        `math`, `sqrt`, `exp`, `log`, `pow`, `floor`, `ceil`, `isinf`, `isfinite`, `isnan` and the constants. A variable
        that is assigned once may stand for what has fields: `s = e.source`.
    fields : mapping of str to {"int", "float", "bool"}
        The fields there are. Their order is that of the arguments.
    result : {"int", "float", "bool"}
        What the function returns; a narrower type is converted.
    columns : mapping of str to Field, optional
        More fields, by how they are written after the parameter, such as `destination.score`.

    Returns
    -------
    Translated

    Raises
    ------
    FunctionError
        If the function cannot be translated, with its file, the line and what is allowed.

    Notes
    -----
    Integers have 64 bits; one that does not fit is a failure, as are a division by zero, a square root or logarithm
    that Python refuses, and loops of more than 2 ** 20 steps. A variable that is an integer on one path and a float on
    another is a float, and an integer that meets a float is first rounded to one. Both devices return the same bits.
    They are Python's for all but `exp`, `log` and powers of floats, which may differ from it in the last digits
    (relative error 1e-15, for large powers 1e-12). Code after a `return`, `break` or `continue` is ignored.

    Examples
    --------
    >>> from graphdask.program.translate import translate
    >>> def heavy(e):
    ...     return e.weight * 2 if e.dst_degree > 10 else 1.0
    >>> translate(heavy, {"weight": "float", "dst_degree": "int"}, "float").fields
    ('weight', 'dst_degree')
    """
    known, kind = kinds_of("fields", fields), kind_of("result", result)
    more = _checked(columns or {})
    parameters = ({name: Field(name, type) for name, type in known.items()} | more,)
    source = read(function)
    return _kept(
        source,
        (tuple(known.items()), kind, tuple(more.items())),
        lambda: _translated(source, parameters, (), lambda to: ReturnedNumber(to, kind), result=kind),
    )


def translate_record(
    function: Callable[..., Any],
    parameters: Sequence[Mapping[str, Field]],
    results: Mapping[str, Any],
    *,
    defaults: Mapping[str, Field] | None = None,
    optional: bool = False,
    what: str = "",
) -> Translated:
    """Translate a Python function of several parameters that returns a record of results.

    Parameters
    ----------
    function : function
        With as many parameters as there are mappings, and in the language that `translate` describes. It returns a dict
        whose keys are names of results, or a tuple of all of them in their order, or, where there is one result, a
        number. `test and {...}` and `{...} if test else None` are nothing if the test is false, as are `None`, a
        literal `False`, `return` without a value and the end of a function that has not returned. A literal `False` is
        a number where the one result is a bool or must be given. `test and x` is a number, as Python's `and` is.
    parameters : sequence of mapping of str to Field
        For each parameter, the fields by how they are written after it: `source.distance` lets the function read
        `e.source.distance`, `[0]` lets it read `m[0]`, and the empty text lets it read `m` itself as a number. The
        fields that the function reads become arguments, in the order of the mappings.
    results : mapping of str to {"int", "float", "bool"}
        Names and types of the results. A narrower type is converted.
    defaults : mapping of str to Field, optional
        Results that a dict may leave out. They then have the values of these fields, which count as read.
    optional : bool
        Whether the function may return nothing. By default it must return the results on every path.
    what : str
        What messages call the function, with its parameters, such as `apply(v, m)`. Defaults to its own name.

    Returns
    -------
    Translated
        With `results`.

    Raises
    ------
    FunctionError
        If the function cannot be translated, with its file, the line and what is allowed.

    Examples
    --------
    >>> from graphdask.program.translate import Field, translate_record
    >>> made = translate_record(
    ...     lambda v, m: m < v.distance and {"distance": m},
    ...     [{"distance": Field("distance", "float")}, {"": Field("message", "float")}],
    ...     {"distance": "float"},
    ...     optional=True,
    ... )
    >>> made.fields, made.results
    (('distance', 'message'), (('distance', 'float'),))
    """
    known = tuple(_checked(paths) for paths in parameters)
    kinds, filled = kinds_of("results", results), _checked(defaults or {})
    if not kinds:
        raise InputError("results is empty: name at least one result")
    for name, field in filled.items():
        if name not in kinds or WIDTH[field.type] > WIDTH[kinds[name]]:
            raise InputError(f"defaults: {shown(name)} ({field.type}) is no result of this type, or of a wider one")
    given = {field.name: field for paths in (*known, filled) for field in paths.values()}
    for field in (field for paths in (*known, filled) for field in paths.values()):
        if given[field.name] != field:
            raise InputError(f"the field {field.name} has two types: give each field a name of its own")
    source = read(function, what, len(known))

    def returns(to: Expressions) -> Returns:
        return ReturnedRecord(to, kinds, filled, optional)

    return _kept(
        source,
        (tuple(tuple(paths.items()) for paths in (*known, filled)), tuple(kinds.items()), optional, what),
        lambda: _translated(
            source, known, filled.values(), returns, result="bool", results=tuple(kinds.items()), optional=optional
        ),
    )


def _checked(paths: Any) -> dict[str, Field]:
    if not isinstance(paths, Mapping) or not all(isinstance(field, Field) for field in paths.values()):
        raise InputError(f"{shown(paths)} is not a mapping of texts to Field")
    for field in paths.values():
        if not isinstance(field.name, str) or not IDENTIFIER.fullmatch(field.name):
            raise InputError(f"the field {shown(field.name)} is not a name")
    return {path: replace(field, type=kind_of(field.name, field.type)) for path, field in paths.items()}


def _kept(source: FunctionSource, wanted: Any, make: Callable[[], Translated]) -> Translated:
    """Return what a function became before, or raise the error of then; a new or changed function is translated."""
    numbers = outside(source.function)
    if numbers is None:
        return make()
    key = id(source.tree), wanted, numbers
    found = _MADE.get(key)  # another thread may clear them at any time
    if found is None:
        if len(_MADE) >= MOST_READ:
            _MADE.clear()
        try:
            found = source.tree, make()
        except FunctionError as error:
            found = source.tree, error
        _MADE[key] = found
    made = found[1]
    if isinstance(made, FunctionError):
        raise made.with_traceback(None)
    return made


def _translated(
    source: FunctionSource,
    parameters: Sequence[Mapping[str, Field]],
    more: Iterable[Field],
    returns: Callable[[Expressions], Returns],
    **kinds: Any,
) -> Translated:
    known = Fields(source, parameters)
    body = Statements(source, known, returns).translate()
    fields = [*known.known.values(), *known.met.values()]
    read = {field.name: field.type for field in (*fields, *more) if field.name in body.used}
    arguments = ", ".join([*(f"f_{name}" for name in read), "failure"])
    python = f"{_HEADER}def {NAME}({arguments}):\n" + "".join(f"{line}\n" for line in body.python)
    types = tuple(read.values())
    digest = hashlib.sha256(repr((python, types, *kinds.values())).encode()).hexdigest()
    cuda = "".join(f"{line}\n" for line in body.cuda)
    return Translated(
        source.name,
        tuple(read),
        types,
        python=python,
        digest=digest,
        path=source.path,
        sites=body.sites,
        body=cuda,
        place=source.place(source.tree),
        numbers=body.numbers,
        silent=body.nothing,
        **kinds,
    )
