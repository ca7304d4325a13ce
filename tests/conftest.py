"""Fixtures of the tests of the core."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from spawned import TinyEnv, built_world

from agentgym.backends.engine import unavailable
from agentgym.errors import BackendError
from agentgym.world import World

if TYPE_CHECKING:
    from hr_desk import Desk


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


@pytest.fixture(scope="session")
def company(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The world of the HR API, built for these tests."""
    from hr_desk import BY_NAME, FOLDER

    with built_world(FOLDER, BY_NAME, tmp_path_factory.mktemp("hr")) as world:
        yield world


@pytest.fixture
def desk(company: World) -> Desk:
    """The company as it begins, called by an HR administrator."""
    from hr_desk import Desk

    company.reset({})
    return Desk(company).act("hr_admin")


@pytest.fixture(scope="session")
def engine() -> None:
    """A container engine with the images of the refund desk and the hostile domain.

    Where there is none, the test is skipped with the reason, or fails where AGENTGYM_REQUIRE_DOCKER=1.
    """
    from hostile_domain import HOSTILE, provide

    from agentgym.envs.refund.env import DOMAIN

    reason = unavailable()
    if not reason:
        try:
            for domain in (DOMAIN, HOSTILE):
                provide(domain)
        except BackendError as error:
            reason = str(error)
    if reason and os.environ.get("AGENTGYM_REQUIRE_DOCKER") == "1":
        pytest.fail(f"AGENTGYM_REQUIRE_DOCKER=1, and {reason}", pytrace=False)
    if reason:
        pytest.skip(reason)
