"""Perturbations over a third party's environment: the hooks' protocol, run from the outside.

The environment needs actions ``{"name", "arguments"}`` and observations that are a text or a dict with one under
``content``. Other actions pass through. A call that is broken before it arrives is not stepped: the agent is shown the
error in the last observation's place, with reward 0. There is no clock out there, so delays only add up in
``info["perturbation_delay_ms"]`` and nothing is closed for a while.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from typing import Any, Protocol, cast, runtime_checkable

import gymnasium as gym

from agentgym.hooks import Context, Fault, Hook
from agentgym.random import Stream, derive
from agentgym.spaces import UnicodeText
from agentgym.text import dumps, fresh
from agentgym.trace import Call
from agentgym.world import CallResult

TEXT = "content"
"""The key of a dict observation under which the text stands."""

_CHINESE = re.compile("[\u4e00-\u9fff]")


@runtime_checkable
class _Rewrites(Protocol):
    def on_text(self, text: str, language: str) -> str:
        """Change what the user writes first."""
        ...


def text_space(env: gym.Env[Any, Any], kind: str) -> gym.Space[Any]:
    """The observation space of a third party's environment, with any text where it has text.

    Raises:
        TypeError: its observations hold no text that a perturbation could change.
    """
    space = getattr(env, "observation_space", None)
    if isinstance(space, gym.spaces.Dict) and _is_text(space.spaces.get(TEXT)):
        return gym.spaces.Dict({**space.spaces, TEXT: UnicodeText()})
    if _is_text(space):
        return UnicodeText()
    raise TypeError(
        f"{kind} wraps environments of agentgym, and others whose observations are a text or a dict with a text under "
        f"{TEXT!r}; got {type(env.unwrapped).__name__} with observations of {space}"
    )


def _is_text(space: object) -> bool:
    return isinstance(space, gym.spaces.Text | UnicodeText)


class Outside:
    """Runs one hook around the steps of an environment that knows nothing of hooks.

    Args:
        env: the environment, wrapped or not.
        place: which one of its kind it is, counted from the innermost, from 1; its stream is named so.
    """

    def __init__(self, env: gym.Env[Any, Any], place: int) -> None:
        self._env, self._place = env, place
        self._root, self._resets = -1, 0
        self._hook = Hook()
        self._context = Context(0, "", 0)
        self._last: Any = None
        self._fired = self._delay = 0

    def reset(self, hook: Hook, seed: int | None, options: dict[str, Any] | None) -> tuple[Any, dict[str, Any]]:
        """Start an episode with a fresh hook."""
        observation, info = self._env.reset(seed=seed, options=options)
        episode = self._seed(seed)
        self._hook, self._fired, self._delay = hook, 0, 0
        name = hook.name + (f"#{self._place}" if self._place > 1 else "")
        hook.stream, hook.scheduled = Stream(episode, f"hook/{name}"), 0
        self._context = Context(episode, "", 0)
        text = _text(observation)
        if isinstance(hook, _Rewrites):
            text = hook.on_text(text, "zh" if _CHINESE.search(text) else "en")
        hook.on_task("", text, [], self._context)
        self._last = _with(observation, text)
        return self._last, self._info(info)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take an action; one that is a call goes through the hook."""
        context = self._context
        context.step, context.extra_ms, context.fired = context.step + 1, 0, []
        call = _call(action)
        if call is None:
            self._last, reward, terminated, truncated, info = self._env.step(action)
            return self._last, reward, terminated, truncated, self._info(info)
        seen = self._hook.before_call(call, context)
        if isinstance(seen, Fault):
            context.extra_ms += seen.latency_ms
            self._last = _broken(self._last, call, seen)
            return self._last, 0.0, False, False, self._info({})
        if not isinstance(seen, Call):
            raise TypeError(
                f"{self._hook.name} answers calls itself; over another environment only a perturbation works"
            )
        if seen is not call:
            action = {**action, "name": seen.name, "arguments": seen.arguments}
        observation, reward, terminated, truncated, info = self._env.step(action)
        # The last observation is not lost: after it nobody could ask again.
        if not terminated and not truncated:
            observation = self._after(seen, observation)
        self._last = observation
        return observation, reward, terminated, truncated, self._info(info)

    def _after(self, call: Call, observation: Any) -> Any:
        text = _text(observation)
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        ok = not (isinstance(observation, Mapping) and observation.get("role") == "error")
        result = self._hook.after_call(call, CallResult(ok, value), self._context)
        if isinstance(result, Fault):
            self._context.extra_ms += result.latency_ms
            return _broken(observation, call, result)
        if result.value is value:
            return observation
        return _with(observation, result.value if isinstance(result.value, str) else dumps(result.value))

    def _info(self, info: Mapping[str, Any]) -> dict[str, Any]:
        """The environment's info with what the suite's own says of perturbations, those further inside included."""
        context = self._context
        self._fired += len(context.fired)
        self._delay += context.extra_ms
        fired = [name for name in str(info.get("perturbation", "")).split(",") if name]
        inner = self._inner()
        return {
            **info,
            "perturbation": ",".join([*fired, *context.fired]),
            "perturbations_fired": inner[0] + self._fired,
            "perturbations_scheduled": inner[1] + self._hook.scheduled,
            "perturbation_delay_ms": inner[2] + self._delay,
        }

    def _inner(self) -> tuple[int, int, int]:
        """How often those further inside fired, meant to, and delayed, in this episode."""
        fired = scheduled = delay = 0
        env: Any = self._env
        while isinstance(env, gym.Wrapper):
            outside = getattr(env, "outside", None)
            if isinstance(outside, Outside):
                fired, delay = fired + outside._fired, delay + outside._delay
                scheduled += outside._hook.scheduled
            env = env.env
        return fired, scheduled, delay

    def _seed(self, seed: int | None) -> int:
        """The episode's seed: the given one, or the next of those that follow from it."""
        if seed is not None:
            self._root, self._resets = int(seed), 0
            return int(seed)
        if self._root < 0:
            self._root = secrets.randbits(63)
        self._resets += 1
        return derive(self._root, f"episode/{self._resets}")


def _call(action: Any) -> Call | None:
    if not isinstance(action, Mapping) or not isinstance(action.get("name"), str):
        return None
    arguments = action.get("arguments")
    return Call(action["name"], fresh(dict(arguments))) if isinstance(arguments, Mapping) else None


def _text(observation: Any) -> str:
    return str(observation[TEXT] if isinstance(observation, Mapping) else observation)


def _with(observation: Any, text: str) -> Any:
    return {**observation, TEXT: text} if isinstance(observation, Mapping) else text


def _broken(observation: Any, call: Call, fault: Fault) -> Any:
    """An observation like the last one, that tells of the error."""
    shown = _with(observation, fault.error)
    if isinstance(shown, dict):
        told = {"role": "error", "name": call.name}
        shown = {**shown, **{key: value for key, value in told.items() if isinstance(shown.get(key), str)}}
    return cast("Any", shown)
