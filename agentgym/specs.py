"""The parts that scenario models are made of: a call to look for, a query over the world."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


class Model(BaseModel):
    """Unknown keys are refused, nothing is changed after it was made."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _call(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


def _alternatives(value: object) -> object:
    return value if isinstance(value, list) else [value]


class CallSpec(Model):
    """A call to look for. Arguments are compared after validation and defaults; those not named are free."""

    name: str
    arguments: dict[str, Any] = {}


CallRef = Annotated[CallSpec, BeforeValidator(_call)]
CallRefs = Annotated[list[CallRef], BeforeValidator(_alternatives), Field(min_length=1)]
"""A call, or a list of calls of which any one will do."""


class Query(Model):
    """A SELECT over the world, with named parameters."""

    sql: str
    params: dict[str, Any] = {}
