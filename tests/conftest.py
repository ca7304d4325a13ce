"""Fixtures of the tests of the core."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from spawned import TinyEnv


@pytest.fixture
def tiny() -> Iterator[Callable[..., TinyEnv]]:
    """Makes lending desks and closes them after the test."""
    made: list[TinyEnv] = []

    def make(**arguments: Any) -> TinyEnv:
        made.append(TinyEnv(**arguments))
        return made[-1]

    yield make
    for env in made:
        env.close()
