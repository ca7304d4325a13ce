"""The checks of `agentgym validate HR-v0` that need a container. By themselves: V33 counts what the process holds."""

from __future__ import annotations

import pytest
from hostile_domain import provide

from agentgym import validate
from agentgym.envs.hr.env import DOMAIN


@pytest.mark.docker
@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    "name", ["V26", "V28", *(pytest.param(i, marks=pytest.mark.slow) for i in ("V27", "V29", "V32", "V33"))]
)
def test_a_check_holds_against_a_real_container(name: str) -> None:
    provide(DOMAIN)
    (result,) = validate.run(["HR-v0"], [name], full=True)
    assert result.ok, result.detail
    assert not result.skipped
    assert result.figure
