"""Perturbations as wrappers: rate 0 and 1, schedules, any order, the bare environment, arguments, forks."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest
from spawned import GOOD, LOOK, TinyEnv, play, whole

import agentgym
from agentgym.env import ToolEnv
from agentgym.wrappers import (
    KINDS,
    FormatShift,
    Injection,
    Jitter,
    Noise,
    OutageAfterCommit,
    OutageBeforeCommit,
    Pollution,
    SchemaDrift,
    perturb,
)
from agentgym.wrappers.base import Perturbation

SCENARIO = "refund/partial-001"
NEEDING_A_TABLE = ("pollution", "dynamic-state", "shutdown", "interruption-change")
READS = [
    {"name": "get_ticket", "arguments": {"ticket_id": "T6023"}},
    {"name": "get_order", "arguments": {"order_id": "A1010"}},
    {"name": "respond", "arguments": {"message": "Why do you send them back?"}},
    {"name": "list_payments", "arguments": {"order_id": "A1010"}},
    {"name": "list_returns", "arguments": {"order_id": "A1010"}},
    {"name": "wait", "arguments": {"seconds": 60}},
    {"name": "finish", "arguments": {"outcome": "impossible"}},
]


@pytest.fixture
def bare() -> Iterator[ToolEnv]:
    """One refund desk, without wrappers."""
    env = gym.make("Refund-v0", split="test", disable_env_checker=True).unwrapped
    assert isinstance(env, ToolEnv)
    yield env
    env.close()


def episode(env: Any, actions: Any = READS, scenario: str = SCENARIO, seed: int = 5) -> bytes:
    """The bytes of an episode."""
    return whole(env, actions, seed=seed, options={"scenario": scenario})


@pytest.mark.parametrize("kind", KINDS)
def test_at_rate_0_every_byte_is_that_of_no_wrapper(bare: ToolEnv, kind: str) -> None:
    expected = episode(bare)
    assert episode(perturb(bare, f"{kind}:0")) == expected
    assert episode(perturb(bare, f"{kind},intensity=0")) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_the_bare_environment_is_undisturbed_after_it_was_wrapped(bare: ToolEnv, kind: str) -> None:
    expected = episode(bare)
    assert episode(perturb(bare, f"{kind}:1")) != expected
    assert episode(bare) == expected


@pytest.mark.parametrize("kind", ["jitter", "outage-before-commit", "outage-after-commit", "format-shift", "pollution"])
def test_at_rate_1_it_fires_at_every_call_of_the_world(bare: ToolEnv, kind: str) -> None:
    env = perturb(bare, f"{kind}:1")
    env.reset(seed=5, options={"scenario": SCENARIO})
    infos = [env.step(action)[4] for action in READS[:5]]
    assert [info["perturbation"] for info in infos] == [kind, kind, "", kind, kind]
    assert infos[-1]["perturbations_fired"] == infos[-1]["perturbations_scheduled"] == 4


@pytest.mark.parametrize(
    "kind", ["dynamic-state", "shutdown", "interruption", "interruption-change", "injection", "schema-drift"]
)
def test_at_rate_1_what_is_once_an_episode_fires_in_every_episode(bare: ToolEnv, kind: str) -> None:
    more = {"schema-drift": ",docs=updated,parts=nest", "interruption-change": ",intensity=1"}
    env = perturb(bare, f"{kind}:1" + more.get(kind, ""))
    for seed in range(8):
        env.reset(seed=seed, options={"scenario": SCENARIO})
        steps = play(env, READS[:5])
        assert any(kind in step[4]["perturbation"].split(",") for step in steps)


@pytest.mark.parametrize("level", ["wording", "structure", "knowledge"])
def test_noise_at_rate_1_changes_every_opening_and_says_so(bare: ToolEnv, level: str) -> None:
    for seed in range(8):
        bare.reset(seed=seed, options={"scenario": SCENARIO})
        clean = bare.scenario.user.opening
        env = perturb(bare, f"noise-{level}:1")
        _, info = env.reset(seed=seed, options={"scenario": SCENARIO})
        assert json.loads(info["task"])["opening"] != clean
        assert (info["perturbation"], info["perturbations_fired"]) == (f"noise-{level}", 1)


def test_composed_in_any_order_streams_do_not_change_each_other(bare: ToolEnv) -> None:
    """Each kind fires at the same steps whatever is around it and beneath it, as long as the call comes to it."""
    specs = ["jitter:0.5", "format-shift:0.5", "pollution:0.5"]
    alone = {}
    for spec in specs:
        env = perturb(bare, spec)
        env.reset(seed=9, options={"scenario": SCENARIO})
        kind = spec.partition(":")[0]
        alone[kind] = [kind in step[4]["perturbation"].split(",") for step in play(env, READS)]
    for order in itertools.permutations(specs):
        env = perturb(bare, "+".join(order))
        env.reset(seed=9, options={"scenario": SCENARIO})
        steps = [step[4]["perturbation"].split(",") for step in play(env, READS)]
        for kind, fired in alone.items():
            assert [kind in names for names in steps] == fired
    # A call that another one breaks does not move the draws of those beneath.
    env = OutageBeforeCommit(perturb(bare, "jitter:0.5"), at=2, modes="503")
    env.reset(seed=9, options={"scenario": SCENARIO})
    steps = [step[4]["perturbation"].split(",") for step in play(env, READS)]
    wanted = [fired and number != 1 for number, fired in enumerate(alone["jitter"])]
    assert ["jitter" in names for names in steps] == wanted


def test_two_of_a_kind_draw_from_streams_of_their_own(bare: ToolEnv) -> None:
    env = perturb(bare, "jitter+jitter")
    env.reset(seed=3, options={"scenario": SCENARIO})
    play(env, READS[:3])
    (_, one), (_, other) = bare.reports
    assert one["delay_ms"] != other["delay_ms"] and one["delay_ms"] and other["delay_ms"]


def test_a_schedule_fires_at_its_calls_or_is_reported_as_not_fired(bare: ToolEnv) -> None:
    env = OutageBeforeCommit(bare, at=(2, 9), modes="503")
    env.reset(seed=1, options={"scenario": SCENARIO})
    steps = play(env, READS)
    assert [bool(step[4]["perturbation"]) for step in steps] == [False, True, *[False] * 5]
    assert (steps[-1][4]["perturbations_scheduled"], steps[-1][4]["perturbations_fired"]) == (2, 1)
    assert bare.trace[1].fired == ["outage-before-commit"] and bare.trace[0].fired == []


def test_a_condition_fires_once_at_the_first_call_for_which_it_holds(bare: ToolEnv) -> None:
    env = OutageAfterCommit(bare, when=lambda call, context: call.name == "list_payments")
    env.reset(seed=1, options={"scenario": SCENARIO})
    steps = play(env, [*READS[:4], READS[3]])
    assert [step[0]["role"] for step in steps] == ["tool", "tool", "user", "error", "tool"]


def test_a_schedule_can_be_about_some_tools_only(bare: ToolEnv) -> None:
    env = Jitter(bare, tools="get_order")
    env.reset(seed=1, options={"scenario": SCENARIO})
    assert [step[4]["perturbation"] for step in play(env, READS[:4])] == ["", "jitter", "", ""]
    assert Jitter(bare, tools="writes").schedule.tools is not None


@pytest.mark.parametrize("distribution", ["lognormal", "normal", "uniform"])
def test_jitter_stays_within_its_bounds_and_moves_the_clock(bare: ToolEnv, distribution: Any) -> None:
    plain = []
    for env in (bare, Jitter(bare, distribution=distribution, low_ms=100, high_ms=900)):
        env.reset(seed=4, options={"scenario": SCENARIO})
        plain.append([step[4]["sim_time"] for step in play(env, READS[:2])])
    extra = [round((late - soon) * 1000) for soon, late in zip(*plain, strict=True)]
    assert 100 <= extra[0] <= 900 and 200 <= extra[1] <= 1800


@pytest.mark.parametrize("outer", ["format-shift", "pollution", "injection", "schema-drift:1,docs=updated,parts=nest"])
def test_a_format_that_another_one_wrote_is_read_by_the_next(bare: ToolEnv, outer: str) -> None:
    env = perturb(bare, f"format-shift:1+{outer}")
    env.reset(seed=2, options={"scenario": SCENARIO})
    assert env.step(READS[0])[0]["content"].startswith(("<result", "<html>"))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in NEEDING_A_TABLE])
def test_kinds_that_need_no_table_work_over_any_domain(kind: str) -> None:
    env = perturb(TinyEnv(), f"{kind}:1")
    assert whole(env, GOOD, seed=1) == whole(env, GOOD, seed=1)
    env.close()


def test_a_kind_that_needs_a_table_says_so_over_a_domain_without() -> None:
    with pytest.raises(ValueError, match="the domain tiny names no facts that two sources tell"):
        Pollution(TinyEnv())
    with pytest.raises(ValueError, match="the domain tiny declares no change for dynamic-state"):
        perturb(TinyEnv(), "dynamic-state")
    with pytest.raises(ValueError, match="the domain tiny declares no change of mind"):
        perturb(TinyEnv(), "interruption-change")


def wrong(value: str) -> Any:
    """What a checker would not let through."""
    return value


class Third(gym.Env[Any, Any]):
    """Somebody else's."""


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda env: Jitter(env, 1.5), ValueError, r"expected rate to be in 0\.\.1, got 1\.5"),
        (lambda env: Jitter(env, intensity=5), ValueError, r"expected intensity to be in 0\.\.4, got 5"),
        (lambda env: Jitter(env, low_ms=9, high_ms=3), ValueError, "expected 0 ≤ low_ms ≤ high_ms, got 9 and 3"),
        (
            lambda env: Jitter(env, distribution=wrong("cauchy")),
            ValueError,
            "expected distribution to be one of lognormal",
        ),
        (lambda env: Jitter(env, at=0), ValueError, r"expected at to be numbers of calls, 1 or more, got \[0\]"),
        (lambda env: Jitter(env, 0.5, at=1), ValueError, "expected one of rate, at, when, once"),
        (lambda env: Jitter(env, tools="get_ordre"), ValueError, r'got \'get_ordre\' \(did you mean "get_order"\?\)'),
        (
            lambda env: OutageAfterCommit(env, modes="429"),
            ValueError,
            "expected modes to be of 503, timeout, got '429'",
        ),
        (lambda env: FormatShift(env, formats="yaml"), ValueError, "expected formats to be of json, xml, html"),
        (
            lambda env: SchemaDrift(env, docs=wrong("lost")),
            ValueError,
            "expected docs to be updated or stale, got 'lost'",
        ),
        (lambda env: SchemaDrift(env, parts=wrong("swap")), ValueError, "expected parts to be of rename_tool"),
        (
            lambda env: Noise(env, level=wrong("loud")),
            ValueError,
            "expected level to be one of wording, structure, knowledge",
        ),
        (lambda env: Injection(env, attack="nice"), ValueError, "there is no attack 'nice'"),
        (lambda env: Injection(env, goal="peace"), ValueError, "there is no goal 'peace' in refund"),
        (lambda env: Jitter(Third()), TypeError, "Jitter wraps environments of agentgym, and others .* got Third"),
        (
            lambda env: perturb(env, "jiter"),
            ValueError,
            r'there is no perturbation \'jiter\' \(did you mean "jitter"\?\)',
        ),
        (lambda env: perturb(env, "jitter:much"), ValueError, "expected a rate in 0..1 after the colon, got 'much'"),
        (lambda env: perturb(env, "jitter,spee=3"), ValueError, "jitter: 'spee' is no argument of it"),
    ],
)
def test_wrong_arguments_are_told_at_once(bare: ToolEnv, make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make(bare)


@pytest.mark.parametrize("kind", KINDS)
def test_forked_and_restored_in_the_middle_it_goes_on_to_the_same_bytes(bare: ToolEnv, kind: str) -> None:
    env = perturb(bare, f"{kind}+jitter:0.5")
    options = {"scenario": SCENARIO}
    env.reset(seed=6, options=options)
    straight = play(env, READS)
    for at in (1, 3, 5):
        env.reset(seed=6, options=options)
        play(env, READS[:at])
        twin = agentgym.fork(env)
        assert json.dumps(play(twin, READS[at:])) == json.dumps(straight[at:])
        twin.close()
        state = bare.save_state()
        env.reset(seed=7, options=options)
        bare.restore_state(state)
        assert json.dumps(play(env, READS[at:])) == json.dumps(straight[at:])


def test_every_kind_has_a_manual_that_says_what_is_seen_and_what_the_world_does() -> None:
    for kind in KINDS.values():
        assert issubclass(kind.wrapper, Perturbation)
        manual = " ".join((kind.wrapper.__doc__ or "").split())
        assert "What the agent sees:" in manual and "What the world does:" in manual


def test_a_perturbed_episode_over_the_lending_desk_still_ends_well() -> None:
    env = perturb(TinyEnv(), "jitter+noise-wording")
    env.reset(seed=1)
    assert env.step(LOOK)[0]["role"] in ("tool", "error")
    env.close()


@pytest.mark.parametrize(
    ("kind", "arguments", "text"),
    [
        (OutageBeforeCommit, {"modes": 503}, r"expected modes to be a text or a list of texts, of '503', .*, got 503$"),
        (OutageBeforeCommit, {"modes": [503]}, r"expected modes to be a text or .*, got \[503\]$"),
        (OutageBeforeCommit, {"rate": "x"}, r"expected rate to be in 0\.\.1, got 'x'$"),
        (OutageBeforeCommit, {"rate": True}, r"expected rate to be in 0\.\.1, got True$"),
        (OutageBeforeCommit, {"at": 1.5}, r"expected at to be numbers of calls, 1 or more, got 1\.5$"),
        (OutageBeforeCommit, {"at": "1"}, r"expected at to be numbers of calls, 1 or more, got '1'$"),
        (OutageBeforeCommit, {"when": 3}, r"expected when to be a function of a call and its context, got 3$"),
        (
            OutageBeforeCommit,
            {"tools": 3},
            r"expected tools to be a text or a list of texts, of reads, writes or .*got 3$",
        ),
        (OutageBeforeCommit, {"intensity": 2.0}, r"expected intensity to be in 0\.\.4, got 2\.0$"),
        (FormatShift, {"formats": 3}, r"expected formats to be a text or .*, got 3$"),
        (SchemaDrift, {"parts": 3}, r"expected parts to be a text or .*, got 3$"),
        (Jitter, {"low_ms": "x"}, r"expected 0 ≤ low_ms ≤ high_ms, got 'x' and 2000$"),
        (Jitter, {"realtime": "x"}, r"expected realtime to be true or false, got 'x'$"),
        (Injection, {"attack": ["a"]}, r"expected attack to be the name of a wording, or any, got \['a'\]$"),
        (Pollution, {"facts": "x"}, r"expected facts to be a list of agentgym\.perturbations\.Fact, got 'x'$"),
        (Pollution, {"facts": 3}, r"expected facts to be a list of agentgym\.perturbations\.Fact, got 3$"),
    ],
)
def test_arguments_of_another_type_are_refused_in_words(
    bare: ToolEnv, kind: type[Perturbation], arguments: dict[str, Any], text: str
) -> None:
    with pytest.raises(ValueError, match=text):
        kind(bare, **arguments)


def test_what_is_no_text_and_no_environment_is_refused_in_words(bare: ToolEnv) -> None:
    for spec in (3, None, ["jitter"]):
        with pytest.raises(TypeError, match=r"expected perturbations as a text, KIND, KIND:RATE or .*, got "):
            perturb(bare, spec)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"expected Jitter to be around an environment, got 'Refund-v0'$"):
        perturb("Refund-v0", "jitter")  # type: ignore[arg-type]
    assert perturb(bare, "") is bare
