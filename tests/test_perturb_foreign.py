"""Perturbations over an environment that is none of ours: the hooks run from the outside."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

from agentgym.perturbations import Fact
from agentgym.wrappers import (
    DynamicState,
    FormatShift,
    Injection,
    Interruption,
    Jitter,
    Noise,
    OutageAfterCommit,
    OutageBeforeCommit,
    Pollution,
    SchemaDrift,
    Shutdown,
    perturb,
)
from agentgym.wrappers.formats import decode

LOOK = {"name": "get_parcel", "arguments": {"parcel_id": "P1"}}
LIST = {"name": "list_parcels", "arguments": {"place": "Hall 2"}}
MOVE = {"name": "move_parcel", "arguments": {"parcel_id": "P1", "place": "Hall 3"}}
FACTS = [
    Fact.model_validate(
        {
            "key": "parcel_id",
            "sources": [
                {"tool": "get_parcel", "ask": "parcel_id"},
                {"tool": "list_parcels", "ask": "place", "rows": "parcels"},
            ],
            "fields": {"weight_g": "amount"},
        }
    )
]


class Depot(gym.Env[dict[str, Any], Any]):
    """A depot of somebody else: move parcel P1 to hall 3. Observations are a text under "content" and the turn."""

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Dict(
            {"content": gym.spaces.Text(400), "role": gym.spaces.Text(10), "turn": gym.spaces.Discrete(50)}
        )
        self.action_space = gym.spaces.Dict({"name": gym.spaces.Text(20)})
        self.moves = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], Any]:
        """Everything in its place."""
        super().reset(seed=seed)
        self.place, self.turn, self.moves = "Hall 2", 0, 0
        return self._seen(
            "Hello, please move the heavy parcel P1 to the other hall. It must not go by truck.", "user"
        ), {}

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Do what is asked for."""
        self.turn += 1
        name = action["name"] if isinstance(action, dict) else ""
        if name == "get_parcel":
            return self._seen(json.dumps(self._parcel()), "tool"), 0.0, False, False, {"turn": self.turn}
        if name == "list_parcels":
            rows = [self._parcel()] if action["arguments"]["place"] == self.place else []
            return self._seen(json.dumps({"parcels": rows}), "tool"), 0.0, False, False, {}
        if name == "move_parcel":
            self.place = action["arguments"]["place"]
            self.moves += 1
            return self._seen("moved", "tool"), 0.5, False, False, {}
        done = name == "finish"
        return self._seen("done" if done else "what?", "end" if done else "error"), float(done), done, False, {}

    def _parcel(self) -> dict[str, Any]:
        return {"parcel_id": "P1", "place": self.place, "weight_g": 1200}

    def _seen(self, content: str, role: str) -> dict[str, Any]:
        return {"content": content, "role": role, "turn": self.turn}


class Line(gym.Env[str, Any]):
    """An echo, with a text as observation."""

    observation_space = gym.spaces.Text(100)
    action_space = gym.spaces.Text(100)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Say hello."""
        super().reset(seed=seed)
        return "hello", {}

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Say what was called."""
        return json.dumps({"called": action["name"]}), 1.0, False, False, {}


class Image(gym.Env[Any, Any]):
    """No text at all."""

    observation_space = gym.spaces.Box(0, 1)
    action_space = gym.spaces.Discrete(2)


@pytest.fixture
def depot() -> Iterator[Depot]:
    """A fresh one."""
    yield Depot()


def played(env: gym.Env[Any, Any], actions: list[Any], seed: int = 3) -> list[Any]:
    """What reset and steps give."""
    return [env.reset(seed=seed), *(env.step(action) for action in actions)]


def test_an_outage_before_the_commit_never_steps_and_one_after_it_has(depot: Depot) -> None:
    _, broken, moved = played(OutageBeforeCommit(depot, at=1, modes="503"), [MOVE, MOVE])
    assert broken[0]["role"] == "error" and broken[0]["content"].startswith("503 Service Unavailable: move_parcel")
    assert broken[1:4] == (0.0, False, False) and moved[0]["content"] == "moved" and depot.moves == 1
    assert (broken[4]["perturbation"], broken[4]["perturbations_fired"]) == ("outage-before-commit", 1)
    _, broken, moved = played(OutageAfterCommit(depot, at=1, modes="timeout"), [MOVE, MOVE])
    assert "timed out" in broken[0]["content"] and broken[1] == 0.5 and depot.moves == 2
    assert broken[0]["turn"] == 1 and moved[4]["perturbation_delay_ms"] == 30_000


def test_the_last_observation_is_never_lost(depot: Depot) -> None:
    end = played(
        OutageAfterCommit(depot, 1.0), [{"name": "close", "arguments": {}}, {"name": "finish", "arguments": {}}]
    )
    assert end[2][0]["content"] == "done" and end[2][2] and end[2][1] == 1.0


def test_results_come_in_another_format_and_mere_text_stays(depot: Depot) -> None:
    _, look, move = played(FormatShift(depot, 1.0, formats="xml"), [LOOK, MOVE])
    assert decode(look[0]["content"]) == {"parcel_id": "P1", "place": "Hall 2", "weight_g": 1200}
    assert look[0]["content"].startswith("<result") and move[0]["content"] == "moved"
    assert look[0] in FormatShift(depot).observation_space


def test_pollution_is_refuted_by_the_other_source_and_the_depot_is_as_it_was(depot: Depot) -> None:
    env = Pollution(depot, at=1, facts=FACTS)
    _, look, rows = played(env, [LOOK, LIST])
    told, true = json.loads(look[0]["content"]), json.loads(rows[0]["content"])["parcels"][0]
    assert told["weight_g"] != true["weight_g"] == 1200 and told["place"] == true["place"]
    assert env.outside is not None and env.outside._hook.report() == {"polluted": 1, "checked": 1}


def test_jitter_adds_up_and_noise_leaves_what_is_protected(depot: Depot) -> None:
    _, one, two = played(Jitter(depot, low_ms=100, high_ms=200), [LOOK, LOOK])
    assert 100 <= one[4]["perturbation_delay_ms"] <= 200 < two[4]["perturbation_delay_ms"]
    clean = depot.reset(seed=1)[0]["content"]
    for seed in range(6):
        text = Noise(depot, intensity=4).reset(seed=seed)[0]["content"]
        assert text != clean and "P1" in text and "not" in text
        assert len(Noise(depot, level="structure").reset(seed=seed)[0]["content"]) > len(clean)


def test_the_same_seed_gives_the_same_and_rate_0_what_it_was(depot: Depot) -> None:
    actions = [LOOK, LIST, MOVE, LOOK]
    spec = "jitter+outage-before-commit:0.4+outage-after-commit:0.4+format-shift"
    assert played(perturb(depot, spec), actions) == played(perturb(Depot(), spec), actions)
    assert played(perturb(depot, spec), actions, 4) != played(perturb(depot, spec), actions, 5)
    for kind in ("jitter", "outage-before-commit", "outage-after-commit", "format-shift", "noise-wording"):
        plain, under = played(Depot(), actions), played(perturb(depot, f"{kind}:0"), actions)
        assert [step[:-1] for step in plain] == [step[:-1] for step in under]


def test_stacked_each_has_its_own_stream_and_all_are_counted(depot: Depot) -> None:
    env = perturb(depot, "jitter+jitter+outage-after-commit:1")
    _, step = played(env, [LOOK])
    assert step[4]["perturbation"] == "jitter,jitter,outage-after-commit"
    assert step[4]["perturbations_fired"] == step[4]["perturbations_scheduled"] == 3
    inner, outer = (made.outside for made in (env.env.env, env.env))  # type: ignore[attr-defined]
    assert inner._delay != outer._delay
    _, broken = played(OutageBeforeCommit(perturb(depot, "jitter"), 1.0), [LOOK])
    assert broken[4]["perturbation"] == "outage-before-commit" and depot.turn == 0


def test_a_copy_in_the_middle_goes_on_to_the_same(depot: Depot) -> None:
    env = perturb(depot, "outage-before-commit:0.5+format-shift")
    played(env, [LOOK, LOOK])
    twin = copy.deepcopy(env)
    assert [env.step(LOOK) for _ in range(5)] == [twin.step(LOOK) for _ in range(5)]


def test_observations_may_be_a_text_and_other_actions_pass_through(depot: Depot) -> None:
    line: Any = Line()
    first, step = played(FormatShift(line, 1.0, formats="html"), [LOOK])
    assert first[0] == "hello" and decode(step[0]) == {"called": "get_parcel"}
    assert played(OutageBeforeCommit(depot, 1.0), [7])[1][0]["content"] == "what?"


def test_without_a_seed_episodes_follow_from_the_first(depot: Depot) -> None:
    def later(env: gym.Env[Any, Any]) -> list[Any]:
        env.reset(seed=2)
        env.reset()
        return [env.step(LOOK)[4] for _ in range(4)]

    assert later(perturb(depot, "jitter")) == later(perturb(Depot(), "jitter"))


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (SchemaDrift, TypeError, "SchemaDrift wraps environments of agentgym only, got Depot: the schemas"),
        (DynamicState, TypeError, "a declared event of a scenario"),
        (Shutdown, TypeError, "a declared event of a scenario"),
        (Interruption, TypeError, "others have a judge of their own"),
        (Injection, TypeError, "what an order wants"),
        (Pollution, ValueError, "of a third party's environment give the facts="),
        (lambda env: OutageBeforeCommit(env, modes="429"), ValueError, "no clock to wait on"),
        (lambda env: Noise(env, level="knowledge"), ValueError, "could not be asked for"),
        (lambda env: Jitter(env, tools="reads"), ValueError, "are reads is not known; give their names"),
        (lambda env: Jitter(Image()), TypeError, "whose observations are a text or a dict with a text under 'content'"),
    ],
)
def test_what_makes_no_sense_over_others_is_refused_with_the_reason(
    depot: Depot, make: Any, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        make(depot)
