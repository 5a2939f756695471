"""Parameter packs: what a family of kernels works on, by name, declared once for CUDA, for Numba and for the callers.

    LENGTHS = Counters("Lengths", "queue", "ghosts")

    class Peeling(Pack):
        queue = "index_t *", "own vertices in the order in which they are removed"
        level = "long long", "the degree up to which a vertex is removed"
        counters = LENGTHS, "how much there is in the queues"

A module FOLDER/NAME_pack.py holds declarations and imports no Numba. A kernel takes one pack, as its last argument:

- In CUDA the line `#include "FOLDER/NAME_pack.py"` of a `.cu` becomes the structs `Peeling` and `Lengths`, after the
  enums of `Numbers`. The kernel
  is `extern "C" __global__ void core_find(long long n, const index_t *alive, Peeling a)` and reads `a.queue[i]` and
  `a.counters->ghosts`. Before it is compiled, each field becomes a parameter, of which `a` is made, because a compiler
  believes `__restrict__` of parameters only (`with_packs`). A launch writes a pack as consecutive words.
- The twin is `def core_find(n, alive, a: Peeling)`. Before Numba compiles it, each field that it uses becomes an
  argument of its own: `a.queue` an array, `a.counters.ghosts` the element of an array (kernels/common/unpacked.py).
- The caller makes a pack once, `Peeling(queue=..., level=0, ...)`, assigns to fields that change, and passes it:
  `kernels.core_find(n, alive, pack)`. A field without a value is None, a null pointer.
"""

from __future__ import annotations

import re
import types
from collections import namedtuple
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from graphdask.kernels import module_of, name_at

INCLUDE = re.compile(r'^#include "((?:\w+/)+\w+_pack\.py)"$', re.MULTILINE)
"""What stands in a `.cu` where the structs of a module are wanted."""
LAST = re.compile(r"\b([A-Z]\w*) (\w+)\) \{")
"""The last parameter of a function, and where its body begins."""
RESTRICT = "__restrict__"


class Counters:
    """Names of the elements of an int64 array: a struct of `unsigned long long` in CUDA.

    Parameters
    ----------
    name : str
        Of the struct.
    names : str
        Of the elements, in their order; `hubs[3]` is the name of three.

    Examples
    --------
    >>> lengths = Counters("Lengths", "queue", "hubs[3]", "ghosts")
    >>> lengths.place.hubs, lengths.place.ghosts, len(lengths)
    (slice(1, 4, None), 4, 5)
    >>> found = lengths.of([7, 1, 2, 3, 9])
    >>> found.queue, found.hubs
    (7, [1, 2, 3])
    """

    def __init__(self, name: str, *names: str):
        self.name, self._length = name, 0
        places: dict[str, int | slice] = {}
        for each in names:
            bare, _, count = each.removesuffix("]").partition("[")
            end = self._length + int(count or 1)
            places[bare], self._length = slice(self._length, end) if count else self._length, end
        self._type = namedtuple(name, places)  # type: ignore[misc]
        self.place: Any = self._type(**places)
        """The place of each element, or the slice of several, by name."""
        self.cuda = f"struct {name} {{ unsigned long long {', '.join(names)}; }};"
        """The struct."""

    def __len__(self) -> int:
        return self._length

    def of(self, values: Any) -> Any:
        """Python integers by name, of an array on the host."""
        values = values.tolist() if hasattr(values, "tolist") else list(map(int, values))
        return self._type._make([values[place] for place in self.place])


class Numbers(tuple[int, ...]):
    """Names of the numbers from 0 on: an enum in CUDA C++.

    Parameters
    ----------
    name : str
        Of the enum.
    names : str
        In their order.

    Examples
    --------
    >>> SMALL, LARGE = SIZES = Numbers("Sizes", "SMALL", "LARGE")
    >>> LARGE, SIZES.cuda
    (1, 'enum Sizes { SMALL, LARGE };')
    """

    cuda: str

    def __new__(cls, name: str, *names: str) -> Numbers:
        made = super().__new__(cls, range(len(names)))
        made.cuda = f"enum {name} {{ {', '.join(names)} }};"
        return made


class Pack:
    """What a kernel works on; a subclass declares the fields, each as a type in C or `Counters`, and its meaning."""

    field_types: ClassVar[dict[str, str]] = {}
    """The type of each field in C."""
    counter_fields: ClassVar[dict[str, Counters]] = {}
    """The fields whose elements have names."""
    _place: ClassVar[dict[str, int]] = {}
    _names: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        cls.field_types = {name: kind for base in cls.__bases__ for name, kind in base.field_types.items()}
        cls.counter_fields = {name: each for base in cls.__bases__ for name, each in base.counter_fields.items()}
        for name, (kind, _) in [item for item in vars(cls).items() if _declares(item[1])]:
            if hasattr(Pack, name):
                raise NameError(f"{cls.__name__}.{name}: a method has this name; give the field another one")
            if isinstance(kind, Counters):
                cls.counter_fields[name], kind = kind, f"{kind.name} *"
            cls.field_types[name] = kind
            setattr(cls, name, None)
        cls._place = {name: place for place, name in enumerate(cls.field_types)}
        cls._names = frozenset(cls._place)

    def __init__(self, **values: Any):
        changed = set(values)
        if not changed <= self._names:
            self._refuse(values)
        fields = {"_changed": changed, "_words": [0] * len(self._place)} | values
        object.__setattr__(self, "__dict__", fields)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._place:
            self._refuse((name,))
        fields = self.__dict__
        fields[name] = value
        fields["_changed"].add(name)

    def _refuse(self, names: Iterable[str]) -> None:
        unknown = min(set(names) - self._place.keys())
        raise AttributeError(
            f"{type(self).__name__} has no field {unknown!r}; its fields: {', '.join(self.field_types)}"
        )

    def assign(self, **values: Any) -> None:
        """Set several fields."""
        if not self._names.issuperset(values):
            self._refuse(values)
        fields = self.__dict__
        fields.update(values)
        fields["_changed"].update(values)

    def release(self, *names: str) -> None:
        """Set fields to None: a pack that is kept would hold their arrays in memory until its next launch."""
        if not self._names.issuperset(names):
            self._refuse(names)
        fields = self.__dict__
        fields.update(dict.fromkeys(names))
        fields["_changed"].update(names)

    def as_words(self, word_of: Callable[[Any, type], int], array_type: type) -> list[int]:
        """The words of all fields in their order; `word_of` is called for those assigned since the last time that are
        neither arrays nor integers."""
        fields, place = self.__dict__, self._place
        words, changed = fields["_words"], fields["_changed"]
        for name in changed:
            value = fields[name]
            kind = type(value)
            if kind is array_type:
                words[place[name]] = value.data.ptr
            elif kind is int:
                words[place[name]] = value
            else:
                words[place[name]] = word_of(value, array_type)
        changed.clear()
        return words

    def as_dict(self) -> dict[str, Any]:
        """The values of all fields by name, for a pack of more fields."""
        return {name: getattr(self, name) for name in self.field_types}

    def assigned(self) -> list[Any]:
        """The values of the fields that have been set."""
        return list(self.__dict__.values())[2:]  # without what has changed, and the words

    def read_counters(self, backend: Any) -> Any:
        """Python integers by name: what the field `counters` holds now."""
        return self.counter_fields["counters"].of(backend.to_host(self.counters))

    def set_counters(self, **values: int) -> None:
        """Assign to elements of the field `counters`; neighbours that get the same value in one operation."""
        place = self.counter_fields["counters"].place
        first = last = value = 0
        for at, new in sorted((getattr(place, name), new) for name, new in values.items()):
            if at != last or new != value:
                if last > first:
                    self.counters[first:last] = value
                first, value = at, new
            last = at + 1
        self.counters[first:last] = value

    @classmethod
    def cuda_struct(cls) -> str:
        """The struct."""
        fields = "".join(f" {kind.replace(RESTRICT, '')} {name};" for name, kind in cls.field_types.items())
        return f"struct {cls.__name__} {{{fields} }};"

    @classmethod
    def cuda_parameters(cls, name: str) -> str:
        """The parameters of a kernel for a pack of some name."""
        kinds = cls.field_types | dict.fromkeys(cls.counter_fields, "unsigned long long *")
        return ", ".join(f"{kind} {name}_{field}" for field, kind in kinds.items())

    @classmethod
    def cuda_made(cls, name: str) -> str:
        """The pack, of the parameters."""
        casts = {field: f"({counters.name} *)" for field, counters in cls.counter_fields.items()}
        values = ", ".join(f"{casts.get(field, '')}{name}_{field}" for field in cls.field_types)
        return f"const {cls.__name__} {name}{{{values}}};"


def _declares(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str | Counters)


def packs_of(module: types.ModuleType) -> list[type[Pack]]:
    """The packs that a module declares."""
    return [
        each
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, Pack) and each.__module__ == module.__name__
    ]


def with_packs(text: str) -> str:
    """The text of a `.cu` with the structs of the modules that it includes, and with a parameter for each field of a
    kernel's pack; its lines keep their numbers."""
    packs: dict[str, type[Pack]] = {}
    there: set[str] = set()

    def structs(found: re.Match[str]) -> str:
        module = module_of(name_at(found[1]).removesuffix(".py"))
        here = packs_of(module)
        packs.update({pack.__name__: pack for pack in here})
        counters = dict.fromkeys(each for pack in here for each in pack.counter_fields.values())
        enums = [each.cuda for each in vars(module).values() if isinstance(each, Numbers)]
        made = [*enums, *(each.cuda for each in counters), *(pack.cuda_struct() for pack in here)]
        new = [each for each in made if each not in there]  # a module may take counters from one that came before
        there.update(new)
        return " ".join(new)

    def parameters(found: re.Match[str]) -> str:
        pack = packs.get(found[1])
        return found[0] if pack is None else f"{pack.cuda_parameters(found[2])}) {{ {pack.cuda_made(found[2])}"

    return LAST.sub(parameters, INCLUDE.sub(structs, text))
