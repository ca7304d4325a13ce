"""What the scripted agents share: an episode as the agent sees it, and the command line of each."""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import gymnasium as gym

from agentgym import Agent, Usage
from agentgym.baselines._api_reader import TOOLS, ApiReader, answered
from agentgym.baselines._api_tools import ApiTools
from agentgym.baselines._known import Known

Json = dict[str, Any]

BUDGET = 40
"""Steps that most scenarios allow; an agent is not told how many."""

_COMMON = frozenset({"respond", "confirm_with_user", "hand_off", "wait", "finish"})
_ENDS = ("delete_", "close_", "cancel_", "remove_")
_READS = ("get_", "find_", "list_", "search_")
_DOCS = TOOLS - {"http_request"}
_key = json.JSONEncoder(sort_keys=True).encode


def parsed(content: str) -> Any:
    """The JSON value that an observation's content is, or its text."""
    try:
        return json.loads(content)
    except ValueError:
        return content


@lru_cache(maxsize=256)
def _opening(task: str) -> str:
    """What the user says first; the rest of a task is large, and many episodes have the same."""
    return str(json.loads(task)["opening"])


class EpisodeOver(Exception):
    """The episode has ended; nothing can be called any more."""


class View:
    """One running episode, by what its agent is shown: the tools' schemas, the system text, the observations.

    Where all that there is to call is an HTTP API, `explore` reads its documentation first. Its operations are tools
    from then on, named by method and path: what is said below of tools holds for them.

    Args:
        env: reset here.
        seed: of the episode.
        options: of the reset.
        budget: steps that the agent means to take at most.

    Attributes:
        tools: name → JSON schema of the arguments.
        reads: names of the tools that only look, as their first word tells.
        writes: names of the others, without the common ones: first those that share words with the opening, last those
            that would leave nothing to write on.
        system: the policy and how to work.
        opening: what the user says first.
        seed: of the episode, whether given or drawn.
        known: what was seen so far.
        left: steps that are left of the budget.
    """

    def __init__(self, env: gym.Env[Any, Any], seed: int | None, options: Json, budget: int) -> None:
        self._env, self._over = env, False
        self._api: ApiTools | None = None
        self.observation, info = env.reset(seed=seed, options=options)
        functions = [tool["function"] for tool in env.get_wrapper_attr("tools")]
        self.tools: dict[str, Json] = {function["name"]: function["parameters"] for function in functions}
        own = [name for name in self.tools if name not in _COMMON]
        self.reads = [name for name in own if name.startswith(_READS)]
        self.system = str(env.get_wrapper_attr("system_prompt"))
        info = info if "task" in info else json.loads(info["detail"])
        self.opening = _opening(info["task"])
        self.seed = int(info["seed"])
        self.writes = sorted((name for name in own if name not in self.reads), key=self._unlikely)
        self.left = budget
        self.known = Known()
        self.known.learn(str(self.observation["content"]).removeprefix(self.system))
        self._tried: set[str] = set()

    def _unlikely(self, name: str) -> tuple[bool, int]:
        words = name.split("_") if self._api is None else self._api.texts[name].casefold().split()
        return name.startswith((*_ENDS, "DELETE")), -sum(word in self.opening.casefold() for word in words)

    def read_api(self) -> None:
        """Read the documentation of an HTTP API, where there is one and nothing else: two steps, once."""
        if self._api is None and set(self.tools) >= TOOLS:
            self._api = ApiTools(ApiReader(self.call))
            self.tools |= self._api.schemas
            self.reads, self.writes = self._api.reads, sorted(self._api.writes, key=self._unlikely)

    def sent(self, name: str, arguments: Json) -> tuple[str, Json]:
        """A call as it is made."""
        if self._api is None or name not in self._api.schemas:
            return name, arguments
        return "http_request", self._api.request(name, arguments)

    def _learn(self, name: str, content: str) -> None:
        """Take in what a tool gave: of an HTTP answer the body, of documentation nothing, since it is no data."""
        if "http_request" not in self.tools or name not in TOOLS:
            self.known.learn(content)
        elif name not in _DOCS:
            self.known.take(answered(content).body)

    def act(self, action: Any) -> Json:
        """Take a step and return the observation.

        Raises:
            EpisodeOver: the step, or one before, ended the episode.
        """
        if self._over:
            raise EpisodeOver
        self.observation, _, terminated, truncated, _ = self._env.step(action)
        self.left -= 1
        if terminated or truncated:
            self._over = True
            raise EpisodeOver
        if self.observation["role"] != "error":
            self._learn(self.observation["name"], self.observation["content"])
        return dict(self.observation)

    def call(self, name: str, arguments: Json) -> Json:
        """Call a tool and return the observation.

        Raises:
            EpisodeOver: as for `act`.
        """
        name, arguments = self.sent(name, arguments)
        return self.act({"name": name, "arguments": arguments})

    def say(self, message: str) -> Json:
        """Say something to the user."""
        return self.call("respond", {"message": message})

    def finish(self, outcome: str, answer: Any = None) -> None:
        """Close the case; the episode ends here."""
        self.call("finish", {"outcome": outcome, "answer": answer})

    def confirmed(self, tool: str, arguments: Json) -> bool | None:
        """Ask the user to agree to a call: yes, no, or None where the call cannot be proposed."""
        tool, arguments = self.sent(tool, arguments)
        answer = parsed(self.call("confirm_with_user", {"tool": tool, "arguments": arguments})["content"])
        return bool(answer["confirmed"]) if isinstance(answer, dict) and "confirmed" in answer else None

    def fresh(self, tools: Sequence[str], text: str = "") -> Iterator[tuple[str, Json]]:
        """Give the calls to *tools* that what is known allows and that are new, the tools taking turns."""
        ways = [self.known.ways(self.tools[name], text) for name in tools]
        for turn in itertools.zip_longest(*ways):
            for name, arguments in zip(tools, turn, strict=True):
                if arguments is None:
                    continue
                key = _key((name, arguments))
                if key not in self._tried:
                    self._tried.add(key)
                    yield name, arguments

    def explore(self, keep: int) -> None:
        """Read breadth first: each tool on all that is known, then on what that showed, until *keep* steps are left."""
        if self.left > keep:
            self.read_api()
        found = True
        while found:
            found = False
            # An API shows most only to those who name things: each operation has one turn, then what is known is more.
            turn = len(self.reads) if self._api is not None else None
            for name, arguments in itertools.islice(self.fresh(self.reads), turn):
                if self.left <= keep:
                    return
                found = True
                self.call(name, arguments)


class Scripted:
    """An agent without a model. A subclass says in `play` what it does with an episode.

    Args:
        budget: steps that it means to take at most, the end included.
    """

    name = ""

    def __init__(self, budget: int = BUDGET) -> None:
        if budget < 1:
            raise ValueError(f"expected budget ≥ 1, got {budget}")
        self.budget = budget

    def run(self, env: gym.Env[Any, Any], *, seed: int | None, options: dict[str, Any]) -> Usage:
        """Play one episode. It costs nothing."""
        try:
            self.play(View(env, seed, options, self.budget))
        except EpisodeOver:
            pass
        return Usage()

    def play(self, view: View) -> None:
        """Play the episode; `EpisodeOver` may pass through."""
        raise NotImplementedError


def main(make: Callable[[], Agent], argv: Sequence[str] | None = None) -> None:
    """Play one episode from the command line and print how it ended.

    Args:
        make: makes the agent.
        argv: arguments, by default the program's.
    """
    parser = argparse.ArgumentParser(description="Play one episode with a reference agent.")
    parser.add_argument("env", help='environment id, such as "Refund-v0"')
    parser.add_argument("--scenario", help='scenario id, such as "refund/partial-001"; by default the seed chooses')
    parser.add_argument("--split", default="test", help="train or test (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the episode (default %(default)s)")
    args = parser.parse_args(argv)
    agent = make()
    env = gym.make(args.env if ":" in args.env else f"agentgym:{args.env}", split=args.split)
    try:
        agent.run(env, seed=args.seed, options={"scenario": args.scenario} if args.scenario else {})
        print(f"{agent.name}: {_summary(env.unwrapped)}")
    finally:
        env.close()


def _summary(env: Any) -> str:
    verdict = env.verdict
    if verdict is None:
        return f"{env.scenario.id}: not ended after {len(env.trace)} steps"
    veto = f", veto {verdict.veto_rule}" if verdict.veto else ""
    result = "success" if verdict.success else "no success"
    share = f"checkpoints {verdict.checkpoint_completion:.0%}, {len(env.trace)} steps"
    return f"{env.scenario.id}: {result} ({verdict.end_reason}{veto}), return {env.episode_return:g}, {share}"
