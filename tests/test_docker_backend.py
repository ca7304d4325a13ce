"""The docker backend gives the same bytes as the embedded one, and notices who writes past the tools."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Iterator
from typing import Any, cast

import gymnasium as gym
import pytest
from hostile_domain import HostileEnv, call, goal

import agentgym
from agentgym.agent import Agent
from agentgym.backends import NAMES, Backend
from agentgym.backends.container import TRANSPORT, Limits
from agentgym.backends.docker import Docker
from agentgym.backends.embedded import Embedded
from agentgym.backends.pool import Pool
from agentgym.env import ToolEnv
from agentgym.envs.refund.env import DOMAIN
from agentgym.gold import GoldRunner
from agentgym.loading import load_curated
from agentgym.runner_agents import make_agent
from agentgym.scenario import Scenario
from agentgym.snapshot import fingerprint

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("engine")]

CURATED = list(load_curated(DOMAIN).values())


class Record(gym.Wrapper[Any, Any, Any, Any]):
    """Keeps the bytes of everything that reset and step give."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.kept: list[bytes] = []

    def reset(self, **arguments: Any) -> tuple[Any, dict[str, Any]]:
        found = self.env.reset(**arguments)
        self.kept.append(json.dumps(found).encode())
        return found

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        found = self.env.step(action)
        self.kept.append(json.dumps(found).encode())
        return found

    @property
    def base(self) -> ToolEnv:
        return cast("ToolEnv", self.env.unwrapped)


@pytest.fixture(scope="module")
def both() -> Iterator[list[Record]]:
    envs = [Record(gym.make("Refund-v0", split="test", backend=name)) for name in NAMES]
    yield envs
    for env in envs:
        env.close()


@pytest.fixture
def hostile(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, HostileEnv]]:
    envs = {name: HostileEnv(backend=name) for name in NAMES}
    yield envs
    for env in envs.values():
        env.close()


def ends(env: Record) -> tuple[list[bytes], str, dict[str, Any]]:
    assert env.base.verdict is not None
    kept, env.kept = env.kept, []
    return kept, fingerprint(env.base._world().reading()), env.base.verdict.to_json()


@pytest.mark.parametrize("scenario", CURATED, ids=lambda scenario: scenario.id)
def test_the_gold_plans_of_a_scenario_give_the_same_bytes_in_a_container(
    both: list[Record], scenario: Scenario
) -> None:
    for plan in range(len(scenario.gold)):
        found = []
        for env in both:
            observation, _ = env.reset(seed=plan, options={"scenario": scenario})
            runner = GoldRunner(scenario, plan)
            while (action := runner.next(observation)) is not None:
                observation, _, terminated, truncated, _ = env.step(action)
                if terminated or truncated:
                    break
            found.append(ends(env))
            assert env.base.verdict is not None
            assert env.base.verdict.success
        assert found[0] == found[1]


def test_two_hundred_random_episodes_give_the_same_bytes_in_a_container(both: list[Record]) -> None:
    agents: list[Agent] = [make_agent("random"), make_agent("spammer"), make_agent("read-only")]
    for number in range(200):
        found = []
        for env in both:
            agent = agents[0] if number < 180 else agents[number % 3]
            agent.run(env, seed=number, options={"scenario": CURATED[number % len(CURATED)].id})
            found.append(ends(env))
        assert found[0] == found[1], f"episode {number}"


def test_whatever_tools_do_to_values_arrives_as_it_left(hostile: dict[str, HostileEnv]) -> None:
    acts = [
        call("put", name="apple", value=2**62, note="ü 猫 \ud800 \x00 ]}"),
        call("put_part", part_id=1, name="apple", share=0.1 + 0.2),
        call("put_part", part_id=7, name="pear", share=-0.0),
        call("half", name="fig"),
        call("get", name="fig"),
        call("get", name="nothing"),
        call("get"),
        call("put", name="apple", value=5),
        call("finish", outcome="done", answer={"x": [1, 2.5, None, "é"]}),
    ]
    found = []
    for env in hostile.values():
        kept: list[Any] = [env.begin()]
        for act in acts:
            kept += [env.step(act), env.state_hash]
        found.append(json.dumps(kept))
    assert found[0] == found[1]


def test_events_and_patches_reach_the_container(hostile: dict[str, HostileEnv]) -> None:
    patch = {"parts": {2: None, 1: {"share": 1.5}}, "items": {"pear": None, "kiwi": {"value": 9}}}
    event = {"name": "rots", "after": {"call": "get"}, "delay": "PT1S", "do": {"items": {"fig": {"value": 0}}}}
    found = []
    for env in hostile.values():
        env.begin(initial_state={"patch": patch}, events=[event])
        kept = [env.state_hash, env.act("get", name="kiwi")[0]]
        kept += [env.act("wait", seconds=60)[0], env.act("get", name="fig")[0], env.state_hash]
        env.act("put", name="apple", value=5)
        kept.append(json.dumps(env.act("finish", outcome="done")))
        found.append(kept)
    assert found[0] == found[1]
    assert '"value": 0' in found[1][3]


def test_a_parent_row_written_again_keeps_its_children_in_the_mirror(hostile: dict[str, HostileEnv]) -> None:
    env = hostile["docker"]
    env.begin()
    env.act("put", name="apple", value=5)
    assert env._world().reading().execute("SELECT count(*) FROM parts WHERE name = 'apple'").fetchone() == (1,)
    assert not env.act("finish", outcome="done")[1]["tamper"]


@pytest.mark.parametrize("one", NAMES)
@pytest.mark.parametrize("other", NAMES)
def test_a_state_saved_in_one_backend_goes_on_in_the_other(
    hostile: dict[str, HostileEnv], one: str, other: str
) -> None:
    first, second = hostile[one], HostileEnv(backend=other)
    first.begin()
    first.act("put", name="fig", value=8)
    first.act("get", name="fig")
    second.restore_state(pickle.loads(pickle.dumps(first.save_state())))
    assert second.state_hash == first.state_hash
    for env in (first, second):
        env.act("put", name="apple", value=5)
    last = [json.dumps(env.step(call("finish", outcome="done"))) for env in (first, second)]
    assert last[0] == last[1]
    assert second.begin() == first.begin()
    second.close()


def test_a_copy_of_an_environment_gets_a_container_of_its_own(hostile: dict[str, HostileEnv]) -> None:
    env = hostile["docker"]
    env.begin()
    env.act("put", name="fig", value=8)
    twin = agentgym.fork(env)
    assert isinstance(twin, HostileEnv)
    assert twin.box().name != env.box().name
    twin.act("put", name="fig", value=9)
    assert json.loads(env.act("get", name="fig")[0])["value"] == 8
    assert json.loads(copy.copy(twin).act("get", name="fig")[0])["value"] == 9
    twin.close()


def test_what_a_call_did_before_a_read_cannot_be_undone_in_either_backend(hostile: dict[str, HostileEnv]) -> None:
    found = []
    for env in hostile.values():
        env.begin()
        world = env._world()
        kept: list[Any] = [world.call("put", {"name": "fig", "value": 8}, 0)[0]]
        kept += [world.call("get", {"name": "fig"}, 0), world.rollback_call(), world.rollback_call(), world.hash()]
        kept += [world.call("put", {"name": "fig", "value": 9}, 0)[0].ok, world.rollback_call(), world.hash()]
        kept += [world.call("get", {"name": "no such"}, 0), world.rollback_call()]
        kept += [world.call("put", {"name": "fig", "value": 7}, 0)[0].ok, world.save() != b"", world.rollback_call()]
        kept += [world.hash(), fingerprint(world.reading()), world.tampered()]
        found.append(kept)
    assert found[0] == found[1]
    assert found[1][2:4] == [True, False]
    assert not found[1][-1]


def test_a_call_can_be_undone_in_both_backends(hostile: dict[str, HostileEnv]) -> None:
    for env in hostile.values():
        pristine = env.begin()
        world: Backend = env._world()
        world.call("put", {"name": "fig", "value": 1, "note": None}, 0)
        assert world.hash() != pristine
        assert world.rollback_call()
        assert not world.rollback_call()
        assert world.hash() == pristine
        assert not world.tampered()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("hide", {"name": "fig", "value": 8}), ("redefine", {}), ("peek", {"path": "/opt/agentgym/gold.json"})],
)
def test_writing_past_the_log_and_opening_the_decoy_are_tampering(
    hostile: dict[str, HostileEnv], tool: str, arguments: dict[str, Any]
) -> None:
    env = hostile["docker"]
    pristine = env.begin()
    env.act(tool, **arguments)
    env.act("put", name="apple", value=5)
    _, info = env.act("finish", outcome="done")
    assert info["tamper"]
    assert not info["success"]
    assert env.episode_return == 0
    state = env.save_state()
    assert env.begin() == pristine
    env.act("put", name="apple", value=5)
    _, info = env.act("finish", outcome="done")
    assert info["success"]
    assert not info["tamper"]
    env.restore_state(state)
    assert env.verdict is not None
    assert env.verdict.tamper


def test_a_world_written_from_outside_of_the_tools_is_tampered_with(hostile: dict[str, HostileEnv]) -> None:
    env = hostile["docker"]
    env.begin()
    env.box().ask([["apply", [["items", True, [["fig", {"value": 5}]]]], "event"]])
    env.act("put", name="apple", value=5)
    _, info = env.act("finish", outcome="done")
    assert info["tamper"]
    assert not info["success"]


def test_what_an_episode_left_running_and_lying_about_is_gone_in_the_next(hostile: dict[str, HostileEnv]) -> None:
    env = hostile["docker"]
    env.begin()
    assert json.loads(env.act("litter", text="x" * 1000)[0])["files"] == ["deep", "one"]
    env.act("spawn", count=3)
    env.begin()
    assert "FileNotFoundError" in env.act("peek", path="/tmp/one")[0]
    assert json.loads(env.act("litter", text="")[0])["files"] == ["deep", "one"]


def test_a_fresh_container_serves_every_episode_where_it_is_asked_for() -> None:
    env = HostileEnv(backend="docker", fresh_container=True)
    pristine = env.begin()
    first = env.box().name
    env.act("put", name="fig", value=8)
    assert env.begin() == pristine
    assert env.box().name != first
    env.close()


def test_a_pool_keeps_containers_ready_and_ends_them() -> None:
    from hostile_domain import HOSTILE

    with Pool(HOSTILE, 2) as pool:
        with pytest.raises(ValueError, match="has a pool for the domain hostile already"):
            Pool(HOSTILE, 1)
        env = HostileEnv(backend="docker", fresh_container=True)
        names = set()
        for _ in range(3):
            env.begin()
            names.add(env.box().name)
        assert len(names) == 3
        env.close()
    assert pool.ready == 0
    with pytest.raises(ValueError, match="expected size to be at least 1, got 0"):
        Pool(HOSTILE, 0)


def test_a_container_is_served_over_the_engines_streams_where_no_folder_can_be_mounted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(TRANSPORT, "stream")
    env, twin = HostileEnv(backend="docker"), HostileEnv(backend="embedded")
    assert env.begin() == twin.begin()
    for act in (call("litter", text="printed, not answered"), call("put", name="apple", value=5)):
        if act["name"] == "put":
            twin.step(act)
        env.step(act)
    assert env.state_hash == twin.state_hash
    assert env.act("finish", outcome="done")[1]["success"]
    env.close()
    monkeypatch.setenv(TRANSPORT, "pigeon")
    with pytest.raises(ValueError, match="to be socket or stream, got 'pigeon'"):
        env.begin()
    env.close()


def test_the_environment_variable_switches_a_whole_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTGYM_BACKEND", "docker")
    env = HostileEnv()
    env.begin()
    assert isinstance(env._world(), Docker)
    env.close()
    plain = HostileEnv(backend="embedded")
    plain.begin()
    assert isinstance(plain._world(), Embedded)
    plain.close()


def test_a_container_has_its_limits_and_no_rights() -> None:
    from agentgym.backends.engine import client

    env = HostileEnv(backend="docker")
    env.begin()
    told = client().inspect_container(env.box().name)
    config, limits = told["HostConfig"], Limits()
    assert config["NetworkMode"] == "none"
    assert config["ReadonlyRootfs"]
    assert config["CapDrop"] == ["ALL"]
    assert config["SecurityOpt"] == ["no-new-privileges"]
    assert config["AutoRemove"]
    assert not config["Privileged"]
    assert config["Memory"] == config["MemorySwap"] == limits.memory_mib << 20
    assert config["PidsLimit"] == limits.pids
    assert config["NanoCpus"] == 10**9
    assert told["Config"]["User"] == "65534:65534"
    assert [mount["RW"] for mount in told["Mounts"]] == [False]
    assert told["Config"]["Labels"]["agentgym.owner"]
    env.close()


def test_a_scenario_is_played_alike_by_the_goal_of_the_hostile_domain(hostile: dict[str, HostileEnv]) -> None:
    for env in hostile.values():
        env.reset(seed=3, options={"scenario": goal(7)})
        env.act("put", name="apple", value=7)
        assert env.act("finish", outcome="done")[1]["success"]
