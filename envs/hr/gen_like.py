"""Copies of validated models with other values.

Validating each model of each scenario would take a multiple of a reset's budget, so models are validated once a shape
and copied here; the tests validate whole generated scenarios anew.
"""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel

M = TypeVar("M", bound=BaseModel)
_set = object.__setattr__


def like(model: M, **values: object) -> M:
    """Return a copy of *model* with *values*, which must be of the right types: nothing is checked."""
    new = object.__new__(type(model))
    _set(new, "__dict__", {**model.__dict__, **values})
    _set(new, "__pydantic_fields_set__", model.__pydantic_fields_set__)
    _set(new, "__pydantic_extra__", None)
    _set(new, "__pydantic_private__", None)
    return new
