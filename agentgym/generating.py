"""What generators of training scenarios share: quick copies of validated models, and numbers that a text spells.

Validating each model of each scenario would take a multiple of a reset's budget, and pydantic runs a model's own
validators even on instances. So models are validated once a shape and copied here; the tests validate whole generated
scenarios anew.
"""

from __future__ import annotations

import copy
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from struct import Struct
from typing import Any, ClassVar, Self, SupportsIndex, TypeVar

from pydantic import BaseModel, ConfigDict

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")
S = TypeVar("S", bound="Late")
_WORDS = Struct("<84I")


class Draws:
    """The draws of one generated scenario: words of 32 bits of SHAKE-128, the same everywhere.

    A `agentgym.random.Stream` costs as much for its first word as this for thirty draws.

    Args:
        seed: the scenario's seed.
        name: what the draws are for.
    """

    def __init__(self, seed: int, name: str) -> None:
        self._next = _words(f"{seed}/{name}").__next__

    def integers(self, low: int, high: int) -> int:
        """An integer in low … high − 1, each as likely but for one part in 2¹², up to 2⁵² of them."""
        span = high - low
        if span <= 1 << 20:
            return low + (self._next() * span >> 32)
        return low + ((self._next() << 32 | self._next()) * span >> 64)

    def choice(self, options: Sequence[T]) -> T:
        """One of *options*."""
        return options[self._next() * len(options) >> 32]

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        """Return *count* different ones of *options*, in random order."""
        pool = list(options)
        return [pool.pop(self._next() * len(pool) >> 32) for _ in range(count)]


def _words(key: str) -> Iterator[int]:
    block = 0
    while True:
        yield from _WORDS.unpack(hashlib.shake_128(f"{key}/{block}".encode()).digest(_WORDS.size))
        block += 1


_set = object.__setattr__
_new = object.__new__
_set_values, _set_fields, _set_extra, _set_private = (
    vars(BaseModel)[slot].__set__
    for slot in ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
)


_MAKE = "_make"


class Late(BaseModel):
    """A model of which some fields are made when they are first read, or when the whole is: see `late`.

    Gold and the plan are read by no episode, so that no reset need pay for them, and the final checks by its end. As
    soon as all is there, it is a plain instance of the class that it stands for: ``class X(Late, Y)`` for Y.
    """

    model_config = ConfigDict(defer_build=True)
    late: ClassVar[tuple[str, ...]] = ()
    """The fields that are made late."""

    def __getattr__(self, name: str) -> Any:
        """Make the missing fields, if *name* is one of them."""
        if name in type(self).model_fields:
            return getattr(_completed(self), name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __eq__(self, other: object) -> bool:
        """Compare all fields."""
        return bool(_completed(self) == other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Show all fields."""
        return repr(_completed(self))

    def __iter__(self) -> Iterator[tuple[str, Any]]:  # type: ignore[override]
        """Go through all fields."""
        return iter(_completed(self))

    def __copy__(self) -> Self:
        """Copy all fields."""
        return copy.copy(_completed(self))

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Copy all fields."""
        return copy.deepcopy(_completed(self), memo)

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        """Pickle all fields."""
        return _completed(self).__reduce_ex__(protocol)

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """Dump all fields."""
        return _completed(self).model_dump(**options)

    def model_dump_json(self, **options: Any) -> str:
        """Dump all fields."""
        return _completed(self).model_dump_json(**options)

    def model_copy(self, **options: Any) -> Self:
        """Copy all fields."""
        return _completed(self).model_copy(**options)


def _completed(model: S) -> S:
    """Make what is missing; from then on *model* is of the class that it stands for."""
    values = vars(model)
    values.update(values.pop(_MAKE)())
    for value in values.values():
        if isinstance(value, Late):
            _completed(value)
    _set(model, "__class__", type(model).__bases__[1])
    return model


def among(model: M, models: Sequence[M]) -> bool:
    """Whether *model* equals one of *models*, of its own class: faster than by their own comparison."""
    return bool(models) and model.__dict__ in [each.__dict__ for each in models]


def like(model: M, **values: object) -> M:
    """Return a copy of *model* with *values*, which must be of the right types: nothing is checked.

    What `BaseModel.model_copy` does, without its copies of copies (it takes eight times as long).
    """
    new = _new(type(model))
    _set_values(new, model.__dict__ | values)
    _set_fields(new, model.__pydantic_fields_set__)
    _set_extra(new, None)
    _set_private(new, None)
    return new


def late(kind: type[S], model: BaseModel, make: Callable[[], dict[str, object]], **values: object) -> S:
    """Like `like`, but the fields that *make* gives are made when they are first read.

    Args:
        kind: ``class X(Late, Y)``, with Y the class of *model*.
        model: the model to copy.
        make: gives the late fields, of the right types; it is called once at most.
        values: the other fields that differ.
    """
    fields = model.__dict__ | values
    for name in kind.late:
        del fields[name]
    fields[_MAKE] = make
    new = _new(kind)
    _set_values(new, fields)
    _set_fields(new, model.__pydantic_fields_set__)
    _set_extra(new, None)
    _set_private(new, None)
    return new


_RUN = re.compile(r"\d+(?:[\W_]{1,6}\d+)*")


def spelt_numbers(text: str) -> set[int]:
    """Numbers that a text spells: single ones, as whole units of money, several joined, all of these backwards too."""
    found: set[int] = set()
    for run in _RUN.findall(text):
        parts = re.findall(r"\d+", run)
        for start in range(len(parts)):
            for end in range(start + 1, min(start + 6, len(parts)) + 1):
                joined = "".join(parts[start:end])
                found |= {int(joined), int(joined[::-1]), int(joined) * 100, int(joined) * 10}
    return found
