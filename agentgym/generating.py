"""What generators of training scenarios share: quick copies of validated models, and numbers that a text spells.

Validating each model of each scenario would take a multiple of a reset's budget, and pydantic runs a model's own
validators even on instances. So models are validated once a shape and copied here; the tests validate whole generated
scenarios anew.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel

M = TypeVar("M", bound=BaseModel)
_set = object.__setattr__
_new = object.__new__
_set_fields, _set_extra, _set_private = (
    getattr(BaseModel, f"__pydantic_{slot}__").__set__ for slot in ("fields_set", "extra", "private")
)


def among(model: M, models: Sequence[M]) -> bool:
    """Whether *model* equals one of *models*, of its own class: faster than by their own comparison."""
    return bool(models) and model.__dict__ in [each.__dict__ for each in models]


def like(model: M, **values: object) -> M:
    """Return a copy of *model* with *values*, which must be of the right types: nothing is checked.

    What `BaseModel.model_copy` does, without its copies of copies (it takes eight times as long).
    """
    new = _new(type(model))
    _set(new, "__dict__", model.__dict__ | values)
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
