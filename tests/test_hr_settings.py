"""What the HR environment takes besides: how far its API's spelling goes, and what it is drawn from."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from pydantic import ValidationError

import agentgym  # noqa: F401
from agentgym.domain import checked_settings
from agentgym.envs.hr.env import DOMAIN, Api

OBFUSCATE: tuple[Any, ...] = (True, False, 2.0, 0.0, 4, -1, "2", [2], {})
API_SEED: tuple[Any, ...] = (True, 2.0, -1, 2**63, "7", [7], float("nan"))
WRONG = [*(("obfuscate", value) for value in OBFUSCATE), *(("api_seed", value) for value in API_SEED)]
EXPECTED = {"obfuscate": "0, 1, 2 or 3, an integer, or left out", "api_seed": "an integer in 0..2**63-1, or left out"}


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_wrong_setting_is_told_what_it_may_be_in_one_line(name: str, value: Any) -> None:
    with pytest.raises(ValueError) as told:
        gym.make("HR-v0", **{name: value})
    assert str(told.value) == f"expected {name} to be {EXPECTED[name]}, got {value!r}"
    env = gym.make("HR-v0")
    with pytest.raises(ValueError) as told:
        env.reset(seed=0, options={name: value})
    assert str(told.value) == f"expected {name} to be {EXPECTED[name]}, got {value!r}"
    env.close()


def test_two_wrong_settings_are_told_in_one_line() -> None:
    with pytest.raises(ValueError, match="^expected obfuscate .*got 9; expected api_seed .*got -1$"):
        checked_settings(DOMAIN, {"obfuscate": 9, "api_seed": -1})


def test_integers_are_taken_and_nothing_is_a_setting_left_out() -> None:
    for value in (3, np.int64(3)):
        found = checked_settings(DOMAIN, {"obfuscate": value, "api_seed": value})
        assert (type(found.obfuscate), type(found.api_seed), found.obfuscate) == (int, int, 3)
    found = checked_settings(DOMAIN, {"obfuscate": None, "api_seed": None})
    assert (found.obfuscate, found.api_seed) == (None, None)


@pytest.mark.parametrize("case", [{"seed": 1, "obfuscate": True}, {"seed": True}, {"seed": 1.0}])
def test_a_scenario_pins_the_spelling_by_integers(case: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="expected an integer"):
        Api(**case)
