"""A conversation with a model as an episode: assistant messages become steps, their results become messages.

The wire format is OpenAI's chat completions. Whatever a model sends back, the history stays one that an endpoint
accepts: every call has its own id and exactly one reply, and stored arguments are valid JSON objects.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import gymnasium as gym

from agentgym.actions import BadArguments, decode_arguments, raw_text
from agentgym.errors import EpisodeError
from agentgym.text import clean, dumps

Message = dict[str, Any]

_ENDED = "error: the episode has ended; this call was not run"
_WRITTEN = re.compile(r'"name"\s{0,8}:\s{0,8}"([\w.-]{1,64})"|<function=([\w.-]{1,64})|<invoke name="([\w.-]{1,64})"')
_TAGS = ("<tool_call>", "[TOOL_CALLS]", "<|tool_call")
_MAX_KEPT = 2000
"""Most characters of malformed arguments that the history keeps."""


class ChatSession:
    """Plays episodes of *env* with assistant messages.

    Each call of a message is one step, in order; text beside calls is their thought, text alone is said to the user.
    What a model does wrong is answered, never raised.

    Args:
        env: an environment of this package, wrapped or not.

    Attributes:
        messages: the conversation, ready to be sent to an endpoint.
        observation: the last observation of the environment.
        info: the last info of the environment.
        reward: the return so far.
        done: the episode has ended.

    ::

        session = ChatSession(gym.make("Refund-v0"))
        session.reset(seed=7)
        while not session.done:
            choice = client.chat.completions.create(messages=session.messages, tools=session.tools, …).choices[0]
            session.send(choice.message, choice.finish_reason)
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        self.env = env
        self.messages: list[Message] = []
        self.observation: dict[str, Any] = {}
        self.info: dict[str, Any] = {}
        self.reward = 0.0
        self.done = False
        self._ids: set[str] = set()
        self._made_up = 0

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The OpenAI function schemas of this episode's tools."""
        return list(self.env.get_wrapper_attr("tools"))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> list[Message]:
        """Start an episode and return its first messages: the system text and the user's opening.

        Args:
            seed: of the episode, as for ``env.reset``.
            options: as for ``env.reset``, such as ``{"scenario": "refund/partial-001"}``.
        """
        self.observation, self.info = self.env.reset(seed=seed, options=options)
        self.reward, self.done, self._ids, self._made_up = 0.0, False, set(), 0
        system, opening = self._task()
        self.messages = [{"role": "system", "content": system}, {"role": "user", "content": opening}]
        return list(self.messages)

    def send(self, message: object, finish_reason: str | None = None) -> list[Message]:
        """Run an assistant message and return the replies; both are added to `messages`.

        Args:
            message: a dict, an object of the openai package, or plain text.
            finish_reason: why the model stopped. After "length" a last call without arguments counts as cut off.

        Raises:
            EpisodeError: the session is not reset, or its episode has ended.
        """
        if not self.messages or self.done:
            state = "has ended" if self.done else "has not begun"
            raise EpisodeError(f"the episode {state}; call reset() first")
        content = _text(message)
        calls = _calls(message)
        if not calls:
            self.messages.append({"role": "assistant", "content": content})
            self._step(content)
            replies = [self._as_user(self._unrun(content))]
        else:
            ids = [self._id(call) for call in calls]
            self.messages.append(_kept(content, calls, ids))
            replies = self._run(calls, ids, message, finish_reason == "length")
        self.messages.extend(replies)
        return replies

    def _step(self, action: object) -> None:
        self.observation, reward, terminated, truncated, self.info = self.env.step(action)
        self.reward += float(reward)
        self.done = terminated or truncated

    def _run(self, calls: list[Any], ids: list[str], message: object, cut: bool) -> list[Message]:
        thought = _text(message) or _string(_get(message, "reasoning_content"))
        note = self._unrun(_text(message))
        replies: list[Message] = []
        for index, (call, call_id) in enumerate(zip(calls, ids, strict=True)):
            if self.done:
                content = _ENDED
            else:
                self._step(_action(call, thought if index == 0 else "", cut and index == len(calls) - 1))
                content = self._shown() + (note if index == 0 else "")
            replies.append({"role": "tool", "tool_call_id": call_id, "content": content})
        return replies

    def _as_user(self, note: str) -> Message:
        """The reply to a turn without a call. What the user did not say is marked as the environment's."""
        mark = "" if self.observation["role"] == "user" else "[environment] "
        return {"role": "user", "content": mark + self._shown() + note}

    def _shown(self) -> str:
        observation = self.observation
        text = ("error: " if observation["role"] == "error" else "") + str(observation["content"])
        notices = str(observation["notices"])
        return (
            text if notices in ("", "[]") else f"{text}\n\n[environment] what happened since your last step: {notices}"
        )

    def _task(self) -> tuple[str, str]:
        """The system text and the opening; in lean info the task is part of ``detail``."""
        info = self.info if "task" in self.info else json.loads(self.info.get("detail") or "{}")
        task = json.loads(info.get("task") or "{}")
        system = task.get("system_prompt", self.env.get_wrapper_attr("system_prompt"))
        return str(system), str(task.get("opening", self.observation["content"]))

    def _unrun(self, content: str) -> str:
        """What to tell of calls that were written as text: those never run."""
        named = {name for match in _WRITTEN.finditer(content) for name in match.groups() if name}
        tagged = any(tag in content for tag in _TAGS)
        if not named and not tagged:
            return ""
        found = sorted(named.intersection(tool["function"]["name"] for tool in self.tools))
        if not found and not tagged:
            return ""
        which = f" ({', '.join(found)})" if found else ""
        return f"\n\n[environment] a call written as text{which} was not run; send it as a tool call"

    def _id(self, call: Any) -> str:
        sent = _get(call, "id")
        if isinstance(sent, str) and sent.strip() and clean(sent) == sent and sent not in self._ids:
            found = sent
        else:
            self._made_up += 1
            while (found := f"call_{self._made_up}") in self._ids:
                self._made_up += 1
        self._ids.add(found)
        return found


def _get(thing: object, name: str) -> Any:
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)


def _string(value: object) -> str:
    return clean(value) if isinstance(value, str) else ""


def _text(message: object) -> str:
    """The text of an assistant message: a string, a list of text parts or a refusal; "" where there is none."""
    if isinstance(message, str):
        return clean(message)
    content = _get(message, "content")
    if isinstance(content, list):
        content = "".join(_string(_get(part, "text")) for part in content)
    return _string(content) or _string(_get(message, "refusal"))


def _calls(message: object) -> list[Any]:
    """The tool calls of a message; the older ``function_call`` counts as one."""
    if isinstance(message, str):
        return []
    found = _get(message, "tool_calls") or _get(message, "function_call") or []
    return list(found) if isinstance(found, list | tuple) else [found]


def _parts(call: Any) -> tuple[Any, Any]:
    """The name and the arguments of a call, as they were sent."""
    function = _get(call, "function") or call
    return _get(function, "name"), _get(function, "arguments")


def _action(call: Any, thought: str, cut: bool) -> dict[str, Any]:
    name, arguments = _parts(call)
    if cut and (arguments is None or (isinstance(arguments, str) and not arguments.strip())):
        # Blank arguments mean "none", but here the model was stopped before it could write them.
        arguments = "{"
    return {"name": name, "arguments": arguments, "thought": thought}


def _kept(content: str, calls: list[Any], ids: list[str]) -> Message:
    """The assistant message as the history keeps it: names that endpoints accept, arguments that are JSON objects."""
    kept = []
    for call, call_id in zip(calls, ids, strict=True):
        name, arguments = _parts(call)
        safe = re.sub(r"[^A-Za-z0-9_-]", "_", name[:64]) if isinstance(name, str) else ""
        function = {"name": safe or "unnamed", "arguments": _kept_arguments(arguments)}
        kept.append({"id": call_id, "type": "function", "function": function})
    return {"role": "assistant", "content": content or None, "tool_calls": kept}


def _kept_arguments(sent: Any) -> str:
    try:
        arguments = decode_arguments(sent)
    except BadArguments:
        return dumps({"invalid_arguments": raw_text(sent)[:_MAX_KEPT]})
    if not isinstance(sent, str) or sent.strip() in ("", "null") or "\\u" in sent:
        return dumps(arguments)
    # A model's own spelling is kept, so that what it said can be tokenised again. Only escapes are decoded: they may
    # hide half a surrogate pair.
    return clean(sent)
