"""`ToolEnv`: the Gymnasium environment that every domain's environment is a subclass of."""

from __future__ import annotations

import logging
import operator
import secrets
import sqlite3
from typing import Any, ClassVar, NamedTuple

import gymnasium as gym
import numpy as np
from gymnasium.utils import seeding

from agentgym.actions import parse_action
from agentgym.backends import Backend, check_backend, default_backend, make_backend
from agentgym.domain import Domain, checked_settings, split_settings
from agentgym.episode import Episode
from agentgym.errors import EpisodeError, StateError
from agentgym.hooks import Hook
from agentgym.info import MODES as INFO_MODES
from agentgym.info import InfoMode, full_info, lean_info
from agentgym.presentation import Presentation
from agentgym.random import derive
from agentgym.render import transcript
from agentgym.reward import Reward, RewardMode
from agentgym.scenario import Effect, Scenario
from agentgym.selection import Selection, Split
from agentgym.spaces import ActionSpace, observation_space
from agentgym.state import EpisodeState, pack, unpack
from agentgym.text import dumps, fresh
from agentgym.trace import Step
from agentgym.users import User, make_user
from agentgym.verdict import Verdict

Observation = dict[str, str]


class _Task(NamedTuple):
    """What the agent was given at the start of an episode: nobody changes it, so copies of an environment share it."""

    system: str
    opening: str
    tools: list[dict[str, Any]]

    def __deepcopy__(self, memo: dict[int, Any]) -> _Task:
        return self


_MAX_SEED = 2**63 - 1
_log = logging.getLogger("agentgym")


class ToolEnv(gym.Env[Observation, Any]):
    """An environment in which an action is a tool call.

    A subclass sets `domain` and its manual, and overrides nothing.

    Args:
        split: "train" (generated, the default), "test" (curated) or "private" (files in *scenarios*).
        backend: where the world lives: "embedded" (in this process) or "docker" (in a container); None, the
            default, takes what the environment variable AGENTGYM_BACKEND names, "embedded" without it.
        user: "scripted", "model:model=NAME,base_url=URL", a callable ``message → reply``, or a `agentgym.users.User`.
        reward: "sparse" or "shaped".
        info: "full", or "lean" for trainers.
        on_veto: overrides the effect of every veto rule: "end", "flag" or "block".
        level: for the train split, the only level to draw, "L1" to "L5"; None draws one.
        scenarios: folder of scenario files for the private split.
        render_mode: "ansi" or None.
        fresh_container: for the docker backend, start every episode in a new container.
        tools: how the tools are shown, one of the names that the domain gives its presentations; None for its default.
        settings: what the domain takes besides (see its environment's manual).

    Raises:
        ValueError: an argument is none of these.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 (Gymnasium's own form)
    domain: ClassVar[Domain]

    def __init__(
        self,
        split: Split = "train",
        backend: str | None = None,
        user: Any = "scripted",
        reward: RewardMode = "sparse",
        info: InfoMode = "full",
        on_veto: Effect | None = None,
        level: str | None = None,
        scenarios: str | None = None,
        render_mode: str | None = None,
        fresh_container: bool = False,
        tools: str | None = None,
        **settings: Any,
    ) -> None:
        backend = default_backend() if backend is None else backend
        check_backend(backend, fresh_container)
        if info not in INFO_MODES:
            raise ValueError(f"expected info to be one of {', '.join(INFO_MODES)}, got {info!r}")
        if on_veto not in (None, "end", "flag", "block"):
            raise ValueError(f"expected on_veto to be None, end, flag or block, got {on_veto!r}")
        if render_mode not in (None, "ansi"):
            raise ValueError(f'expected render_mode to be None or "ansi", got {render_mode!r}')
        Reward(reward)
        self._presenter = self.domain.presenter(tools)
        self._settings = checked_settings(self.domain, settings)
        self._selection = Selection(split, level, scenarios)
        self._split = split
        self._fresh_container = fresh_container
        self._backend_name, self._info_mode = backend, info
        self._reward_mode: RewardMode = reward
        self._on_veto: Effect | None = on_veto
        self._user: User = make_user(user)
        self._next_user: User | None = None
        self.render_mode = render_mode
        default = self.domain.default_schemas(tools)
        self.action_space = ActionSpace(default)
        self.observation_space = observation_space()
        self._generator: np.random.Generator | None = None
        self._pending: list[Hook] = []
        self._hooks: list[Hook] = []
        self._root = -1
        self._resets = 0
        self._backend: Backend | None = None
        self._live: Episode | None = None
        self._saved: EpisodeState | None = None
        self._reward = Reward(reward)
        self._task = _Task(self.domain.system_prompt, "", default)

    # Gymnasium's interface.

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: of this episode, 0 … 2⁶³ − 1; later resets without one continue its stream. Without any seed, one is
                drawn.
            options: ``{"scenario": id or Scenario}`` plays that one, whatever the split; ``{"level": "L3"}`` for one
                train episode; and the domain's own settings for one episode.

        Raises:
            ValueError: the seed, an option or the scenario's name is wrong.
            TypeError: one of them is of another type.
            ScenarioError: the scenario cannot begin, such as by rows that the world refuses.
        """
        hooks, self._pending = self._pending, []
        user, self._next_user = self._next_user, None
        if seed is not None:
            seed = _checked_seed(seed)
            self._generator, self._np_random_seed = None, seed
        episode_seed = self._seed(seed)
        if not isinstance(options, dict | None):
            raise TypeError(f'expected options to be a dict such as {{"scenario": ID}}, or None, got {options!r:.200}')
        settings, options = split_settings(self.domain, self._settings, options or {})
        scenario = self._selection.choose(self.domain, episode_seed, options)
        if self.domain.prepare is not None:
            scenario = self.domain.prepare(scenario, episode_seed, settings)
        self._hooks = hooks
        self._active_user = self._user if user is None else user
        self._episode = None
        self._reward = Reward(self._reward_mode)
        self._episode = self._begin(scenario, episode_seed)
        self._task = _Task(*self._episode.open())
        system, opening, tools = self._task
        shown = self._tools_text(tools)
        prompt = dumps(system) if self._hooks else self.domain.prompt_text(system)
        task = f'{{"system_prompt": {prompt}, "opening": {dumps(opening)}, "tools": {shown}}}'
        observation = {
            "role": "task",
            "name": "",
            "content": f"{system}\n\n## The user says\n\n{opening}",
            "notices": "[]",
        }
        for hook in reversed(self._hooks):
            observation = hook.on_observe(observation, self._episode.context)
        self._episode.fired += len(self._episode.context.fired)
        return observation, self._info(self._episode, task, [])

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take one action: a call ``{"name", "arguments"}``, an OpenAI tool call, or a plain string (said to the user).

        Whatever the agent does wrong is an observation.

        Raises:
            EpisodeError: before the first reset, or after the end of the episode.
        """
        episode = self._running()
        try:
            observation, new = episode.step(parse_action(action, episode.tools))
        except Exception as error:  # noqa: BLE001  a bug of ours must not become the agent's failure, nor end a batch
            _log.error("scenario %s, seed %d: the environment failed", episode.scenario.id, episode.seed, exc_info=True)
            observation, new = episode.abort(f"{type(error).__name__}: {error}"), []
        verdict = episode.verdict
        success = verdict is not None and verdict.success
        reward = self._reward.step(episode.judge.completion, success, bool(episode.judge.vetoes.rule))
        terminated = episode.end_reason in ("finished", "handed_off", "veto", "user_left")
        truncated = bool(episode.end_reason) and not terminated
        return observation, reward, terminated, truncated, self._info(episode, "", new)

    def render(self) -> str:
        """The conversation so far, as a person reads it."""
        if self._episode is None:
            return "(no episode yet: call reset)"
        episode = self._episode
        return transcript(self._task.opening, episode.trace, episode.end_reason, episode.verdict)

    def close(self) -> None:
        """Give the world back. Closing twice is fine; a later reset starts anew."""
        if self._backend is not None:
            self._backend.close()
        self._backend = self._episode = None

    # What agents, wrappers and experiments read.

    @property
    def tools(self) -> list[dict[str, Any]]:
        """This episode's OpenAI function schemas, a fresh copy; before reset the default ones."""
        tools: list[dict[str, Any]] = fresh(self._task.tools)
        return tools

    @property
    def presentation(self) -> Presentation | None:
        """How this episode's tools are shown; None where they are the domain's own."""
        return self._current().presentation

    @property
    def system_prompt(self) -> str:
        """The policy and how to work, as the agent gets it."""
        return self._task.system

    @property
    def scenario(self) -> Scenario:
        """The scenario of the current episode."""
        return self._current().scenario

    @property
    def declared(self) -> Scenario:
        """That scenario as it was given, without what perturbations declare besides."""
        return self._current().declared

    @property
    def verdict(self) -> Verdict | None:
        """The judge's verdict; None until the end."""
        return self._episode.verdict if self._episode else None

    @property
    def trace(self) -> list[Step]:
        """The steps of the current episode."""
        return self._episode.trace if self._episode else []

    @property
    def episode_return(self) -> float:
        """The sum of the rewards of the current episode."""
        return self._reward.total

    @property
    def reports(self) -> list[tuple[str, dict[str, Any]]]:
        """What each perturbation has to say of the current episode, by name, innermost first."""
        hooks = self._episode.hooks if self._episode else []
        return [(hook.name, hook.report()) for hook in reversed(hooks)]

    @property
    def state_hash(self) -> str:
        """Logical hash of the world as it is."""
        self._current()
        return self._world().hash()

    def add_hook(self, hook: Hook) -> None:
        """Hand over a hook for the next episode; a wrapper does so in ``reset``, before it resets what is beneath."""
        self._pending.append(hook)

    def use_user(self, user: User) -> None:
        """Let *user* play the user in the next episode; of several calls the first, the outermost wrapper's, counts."""
        self._next_user = user if self._next_user is None else self._next_user

    # Saving, restoring, copying.

    def save_state(self) -> EpisodeState:
        """Everything that the current episode is: world, clock, events, user, judge, hooks, streams."""
        return pack(self._current(), self._world(), self._reward)

    def restore_state(self, state: EpisodeState) -> None:
        """Go on from a saved state, in the wrappers that it was saved under.

        Raises:
            StateError: it belongs to another environment, version or stack of wrappers.
        """
        host = unpack(state, self.domain, self._hooks)
        if self._episode is None:
            self._active_user = self._user
        self._episode = None
        self._take_up(state, host, reopen=True)

    def __getstate__(self) -> dict[str, Any]:
        """Everything, with the episode as a saved state instead of an open world."""
        saved = self._saved if self._live is None else self.save_state()
        return {**self.__dict__, "_backend": None, "_live": None, "_saved": saved}

    # Inside.

    @property
    def _np_random(self) -> np.random.Generator:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Gymnasium's generator, which nothing here draws from: made when it is asked for, not at each reset."""
        if self._generator is None:
            seed = self._np_random_seed
            self._generator, self._np_random_seed = seeding.np_random(None if seed == -1 else seed)
        return self._generator

    @_np_random.setter
    def _np_random(self, generator: np.random.Generator | None) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self._generator = generator

    @property
    def _episode(self) -> Episode | None:
        # The world of a copy is opened on first use: before that, wrappers and hooks around it may be half copied.
        if self._saved is not None:
            saved, self._saved = self._saved, None
            self._take_up(saved, unpack(saved, self.domain, self._hooks))
        return self._live

    @_episode.setter
    def _episode(self, episode: Episode | None) -> None:
        self._live, self._saved = episode, None

    def _take_up(self, state: EpisodeState, host: dict[str, Any], reopen: bool = False) -> None:
        """Go on from a checked state; *reopen* shows the task to the hooks again, where they have not seen it."""
        episode = self._begin(state.scenario, host["episode"]["seed"])
        if reopen:
            self._task = _Task(*episode.open())
        else:
            episode.present(self._task.tools)
        try:
            self._world().load(state.world)
        except sqlite3.DatabaseError as error:
            raise StateError(f"the world in the state is damaged ({error}); save it again") from error
        episode.set_state(host["episode"])
        self._reward.set_state(host["reward"])
        self._episode = episode

    def _begin(self, scenario: Scenario, seed: int) -> Episode:
        if self._backend is None:
            self._backend = make_backend(self._backend_name, self.domain, self._fresh_container)
        self._split = self._selection.split_of(self.domain, scenario)
        presentation = self._presenter(scenario) if self._presenter is not None else None
        return Episode(
            scenario, self.domain, seed, self._backend, self._active_user, self._hooks, self._on_veto, presentation
        )

    def _tools_text(self, tools: list[dict[str, Any]]) -> str:
        own = self._current().presentation or self.domain
        return own.schemas_text if tools == own.schemas else dumps(tools)

    def _world(self) -> Backend:
        if self._backend is None and self._saved is not None:
            # A copy opens its world on first use.
            self._current()
        if self._backend is None:
            raise EpisodeError("the environment is closed or was never reset; call reset() first")
        return self._backend

    def _seed(self, seed: int | None) -> int:
        if seed is not None:
            self._root, self._resets = int(seed), 0
            return int(seed)
        if self._root < 0:
            self._root = secrets.randbits(63)
        self._resets += 1
        return derive(self._root, f"episode/{self._resets}")

    def _current(self) -> Episode:
        if self._episode is None:
            raise EpisodeError("there is no episode yet; call reset() first")
        return self._episode

    def _running(self) -> Episode:
        episode = self._current()
        if episode.end_reason:
            raise EpisodeError(f"the episode has ended ({episode.end_reason}); call reset() before the next step")
        return episode

    def _info(self, episode: Episode, task: str, new: list[str]) -> dict[str, Any]:
        full = full_info(episode, self._split, task, new)
        if self._info_mode == "full":
            return full
        return lean_info(full, detailed=bool(task) or bool(episode.end_reason))


def _checked_seed(seed: object) -> int:
    try:
        number = operator.index(seed)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"expected an integer seed in 0..2**63-1, got {seed!r}") from None
    if not 0 <= number <= _MAX_SEED:
        raise ValueError(f"expected a seed in 0..2**63-1, got {seed}")
    return number
