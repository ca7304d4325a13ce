"""The checks of `agentgym validate` that need a container: green with an engine, *not run* without one."""

from __future__ import annotations

import pytest

from agentgym import validate
from agentgym.validate.isolation import REQUIRED

IDS = ("V26", "V27", "V28", "V29", "V32", "V33")


@pytest.mark.docker
@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("name", [*(pytest.param(i, marks=pytest.mark.slow) for i in IDS[1::2]), *IDS[::2]])
def test_a_check_holds_against_a_real_container(name: str) -> None:
    (result,) = validate.run(["Refund-v0"], [name], full=True)
    assert result.ok, result.detail
    assert not result.skipped
    assert result.figure


@pytest.mark.parametrize("name", [name for name in IDS if name != "V32"])
def test_a_check_without_an_engine_says_that_it_did_not_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    monkeypatch.delenv(REQUIRED, raising=False)
    (result,) = validate.run(["Refund-v0"], [name], full=True)
    assert result.skipped == "no engine"
    assert result.figure == ""
    monkeypatch.setenv(REQUIRED, "1")
    (result,) = validate.run(["Refund-v0"], [name], full=True)
    assert not result.ok
    assert not result.skipped
    assert "AGENTGYM_REQUIRE_DOCKER=1, and cannot reach the container engine" in result.detail
