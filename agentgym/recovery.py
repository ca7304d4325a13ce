"""Recovery: what a careful agent does about each kind of perturbation, by what it is shown alone.

A `Recovery` stands between a plan and the environment. It is given the plan's action and the way to act, and returns
the observation that the plan would have had without the perturbation: it repeats, waits, converts, reads the
documentation again, asks. `agentgym.recovered` puts several around a gold plan; `agentgym.second_source` has the one
that checks facts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from agentgym.errors import AgentGymError
from agentgym.perturbations import Turn
from agentgym.text import dumps
from agentgym.wrappers.formats import decode, format_of

HTTP = {"status", "headers", "body"}
"""The keys of an answer of an HTTP API."""

Action = dict[str, Any]
Observation = Mapping[str, str]
Act = Callable[[Action], Observation]

_ENDS = ("finish", "hand_off")
_READS = ("get_", "find_", "list_", "search_", "fetch_", "read_")
_TRANSIENT = re.compile(r"^(?:503\b|429\b)|\btimed out\b")
_PAGE = 50
_PASSING, _GONE = (429, 503), (404, 410)
_RETRY_AFTER = re.compile(r"retry-after: (\d+)")
_UNTIL = re.compile(r"until (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")
_HAND_OFF = re.compile(r"hand off \w+ case with the reason `(\w+)`")
_REFERENCE = re.compile(r"\b[A-Z]{3}-\d{4}\b")


class Instead(AgentGymError):
    """What is right is no longer what the plan does: end with *action*."""

    def __init__(self, action: Action) -> None:
        self.action = action
        super().__init__(f"the plan is off; end with {action['name']}")


class Recovery:
    """Base of all policies: takes the action and changes nothing. One object plays one episode."""

    def begin(self, observation: Observation, tools: Sequence[Mapping[str, Any]]) -> None:
        """See what the agent gets at reset: the observation and the tools' schemas."""

    def opening(self, act: Act) -> None:
        """Act before the plan's first action."""

    def hear(self, seen: Observation) -> None:
        """See every observation as it comes, also those that other policies keep to themselves.

        Raises:
            Instead: what is right is no longer what the plan does.
        """

    def act(self, action: Action, act: Act, bound: bool = False) -> Observation:
        """Take the plan's action.

        Args:
            action: ``{"name", "arguments"}``, as the plan means it.
            act: takes an action and gives the observation, through the policies further inside.
            bound: the plan reads values from the observation.
        """
        return act(action)


class Retry(Recovery):
    """Same-key retry: a call that failed in passing is made again, after the seconds asked for, with the same key.

    A write whose answer was lost may have taken effect. With an idempotency key that does not matter; one without that
    carries free text is looked for before it is made again; others refuse a second time, and are then looked up.

    Args:
        attempts: at most, of each call.
    """

    def __init__(self, attempts: int = 12) -> None:
        self._attempts, self._made = attempts, 0
        self._tools: dict[str, Mapping[str, Any]] = {}

    def begin(self, observation: Observation, tools: Sequence[Mapping[str, Any]]) -> None:
        """Note which tools take a key."""
        self._tools = {tool["function"]["name"]: tool["function"]["parameters"] for tool in tools}

    def act(self, action: Action, act: Act, bound: bool = False) -> Observation:
        """Repeat until it works or is refused for good."""
        key = key_of(self._tools.get(action["name"], {}))
        if key and action["arguments"].get(key) is None:
            self._made += 1
            arguments = {**action["arguments"], key: f"{action['name']}-{self._made}"}
            action = {**action, "arguments": arguments}
        writes = not action["name"].startswith(_READS)
        seen, unsure = act(action), False
        for _ in range(self._attempts):
            if seen["role"] != "error":
                return seen
            if not passing(seen["content"]):
                return self._looked_up(action, seen, act) if unsure else seen
            if not _waited(seen, act) and writes and not key:
                unsure = True
                if self._done(action, act):
                    return {**seen, "role": "tool", "content": dumps(action["arguments"])}
            seen = act(action)
        return seen

    def _done(self, action: Action, act: Act) -> bool:
        """Whether a read shows that a call took effect the first time: its free text, or what it sets for many.

        A call that names the version that it read does no harm twice.
        """
        asked = {name: value for name, value in action["arguments"].items() if value is not None}
        texts = [v for v in asked.values() if isinstance(v, str) and (" " in v or len(v) > 60)]
        many = next((name for name, v in asked.items() if name.endswith("_ids") and isinstance(v, list) and v), "")
        if "version" in asked or not (texts or many):
            return False
        if not many:
            return dumps(texts[0])[1:-1] in dumps(self._look(action, act))
        # All of them or none: the first one tells.
        one = {**asked, many[:-1]: asked[many][0]}
        del one[many]
        found = self._look({**action, "arguments": one}, act)
        return isinstance(found, dict) and all(found.get(name) == value for name, value in one.items())

    def _looked_up(self, action: Action, refused: Observation, act: Act) -> Observation:
        """A write that is refused the second time took effect the first time, unless a read shows something else."""
        status, details = _problem(refused["content"])
        # What is gone is gone by the first call; a version that was read is another one after it.
        asked = {k: v for k, v in action["arguments"].items() if not (k == "version" and "current_version" in details)}
        shown = asked if status in _GONE else self._look(action, act)
        if shown is None:
            return refused
        found = _row(shown, asked) or _newest(shown)
        if any(found[name] != value for name, value in asked.items() if name in found):
            # Refused for a reason of its own, such as a closure that came in between.
            return refused
        return {**refused, "role": "tool", "content": dumps({**asked, **found})}

    def _look(self, action: Action, act: Act) -> Any:
        """The result of the read whose name is nearest to the write's and that its arguments can ask, best by an id."""
        reads = [
            (-_alike(action["name"], name), not parameters.get("required"), name)
            for name, parameters in self._tools.items()
            if name.startswith(_READS) and set(parameters.get("required", ())) <= set(action["arguments"])
        ]
        if not reads or min(reads)[0] == 0:
            return None
        name = min(reads)[2]
        known = self._tools[name]["properties"]
        wanted = {k: v for k, v in action["arguments"].items() if k in known and k != "version" and v is not None}
        wanted |= {"page_size": _PAGE} if "page_size" in known else {}
        seen = act({"name": name, "arguments": wanted})
        for _ in range(self._attempts):
            if seen["role"] != "error" or not passing(seen["content"]):
                break
            _waited(seen, act)
            seen = act({"name": name, "arguments": wanted})
        return None if seen["role"] == "error" else parsed(seen["content"])


class Wait(Recovery):
    """Wait: what is closed for a while is done after that; what is closed for good ends as it was said."""

    def __init__(self) -> None:
        self._until = ""

    def act(self, action: Action, act: Act, bound: bool = False) -> Observation:
        """Act; on an error while something is closed wait until it opens and act again."""
        seen = act(action)
        for _ in range(4):
            if seen["role"] != "error" or not self._until or _TRANSIENT.search(seen["content"]):
                break
            # The agent has no clock: waiting a second says what time it is.
            now = _now(act({"name": "wait", "arguments": {"seconds": 1}}))
            left = int((_time(self._until) - now).total_seconds()) + 1 if now else 0
            if left <= 0:
                self._until = ""
            else:
                act({"name": "wait", "arguments": {"seconds": left}})
            seen = act(action)
        return seen

    def hear(self, seen: Observation) -> None:
        """Note until when something is closed, or how everything ends now."""
        for notice in _notices(seen):
            ending = _HAND_OFF.search(notice)
            if ending:
                raise Instead({"name": "hand_off", "arguments": {"reason": ending[1], "summary": notice}})
            until = _UNTIL.search(notice)
            self._until = max(self._until, until[1]) if until else self._until


class Heed(Recovery):
    """Re-plan: what the user asks for in mid-task is done before the end; what they want now, in place of the plan.

    Args:
        turns: what the user says when they change their mind → the turn.

    Attributes:
        turn: the change of mind that was heard, or None.
    """

    def __init__(self, turns: Mapping[str, Turn] | None = None) -> None:
        self._asked: dict[str, None] = {}
        self._turns = turns or {}
        self.turn: Turn | None = None

    def act(self, action: Action, act: Act, bound: bool = False) -> Observation:
        """Act; before the end, write what was asked for."""
        if action["name"] in _ENDS and self._asked:
            asked, self._asked = ", ".join(self._asked), {}
            act({"name": "respond", "arguments": {"message": f"For your files: {asked}."}})
        return act(action)

    def hear(self, seen: Observation) -> None:
        """Note what the user asks for by themselves."""
        for notice in _notices(seen, "user"):
            self.turn = self._turns.get(notice, self.turn)
            self._asked.update(dict.fromkeys(_REFERENCE.findall(notice)))


class Convert(Recovery):
    """Convert: a result in another format is read as what it says."""

    def act(self, action: Action, act: Act, bound: bool = False) -> Observation:
        """Act and convert."""
        seen = act(action)
        if seen["role"] == "error":
            return seen
        if format_of(seen["content"]) != "json":
            return {**seen, "content": dumps(decode(seen["content"]))}
        # The answer of an HTTP API stays one; it is the body that is in the other format.
        answer = parsed(seen["content"])
        body = answer.get("body") if isinstance(answer, dict) and answer.keys() == HTTP else None
        if not isinstance(body, str) or format_of(body) == "json":
            return seen
        return {**seen, "content": dumps({**answer, "body": decode(body)})}


class Ask(Recovery):
    """Ask: an identifier that the plan needs and the user left out is asked for first.

    Args:
        needed: literal → the question that gets it.
    """

    def __init__(self, needed: Mapping[str, str]) -> None:
        self._needed = needed
        self._missing: dict[str, None] = {}

    def begin(self, observation: Observation, tools: Sequence[Mapping[str, Any]]) -> None:
        """See what is missing."""
        text = observation["content"]
        self._missing = dict.fromkeys(question for literal, question in self._needed.items() if literal not in text)

    def opening(self, act: Act) -> None:
        """Ask for it."""
        for question in self._missing:
            act({"name": "respond", "arguments": {"message": question}})


def key_of(parameters: Mapping[str, Any]) -> str:
    """The parameter that carries an idempotency key, as its manual tells, or ""."""
    for name, schema in parameters.get("properties", {}).items():
        if "repeated key" in schema.get("description", "") or name == "idempotency_key":
            return str(name)
    return ""


def parsed(content: str) -> Any:
    """An observation's content as a JSON value, or its text."""
    try:
        return json.loads(content)
    except ValueError:
        return content


def _notices(seen: Observation, sender: str = "") -> Iterator[str]:
    for notice in json.loads(seen["notices"]):
        if not sender or notice.get("from") == sender:
            yield str(notice.get("text", ""))


def passing(content: str) -> bool:
    """Whether an error is one that passes by itself: told in words, or as a problem with a status."""
    return _TRANSIENT.search(content) is not None or _problem(content)[0] in _PASSING


def _problem(content: str) -> tuple[int, Mapping[str, Any]]:
    """Status and details of a problem that is told as an object; 0 and none of another."""
    found = parsed(content)
    if not isinstance(found, dict) or not isinstance(found.get("status"), int):
        return 0, {}
    details = found.get("details")
    return found["status"], details if isinstance(details, dict) else {}


def _waited(seen: Observation, act: Act) -> bool:
    """Wait the seconds that an error asks for; whether it asked for any."""
    found = _RETRY_AFTER.search(seen["content"])
    seconds = found[1] if found else _problem(seen["content"])[1].get("retry_after_s")
    if seconds is not None:
        act({"name": "wait", "arguments": {"seconds": int(seconds)}})
    return seconds is not None


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _now(seen: Observation) -> datetime | None:
    found = re.search(r"it is (\S+Z)", seen["content"])
    return _time(found[1]) if found else None


def _alike(one: str, other: str) -> int:
    """How many words of two tools' names begin alike, the verbs apart."""
    words = [{word[:4] for word in name.split("_")[1:]} for name in (one, other)]
    return len(words[0] & {stem for stem in words[1]} | {a for a in words[0] for b in words[1] if a[:3] == b[:3]})


def _row(value: Any, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a list that is about the same thing as a call: all ids that both have are the same."""
    rows = value.get("items") if isinstance(value, dict) else None
    for row in rows if isinstance(rows, list) else ():
        shared = [name for name in asked if name.endswith("_id") and name in row] if isinstance(row, dict) else []
        if shared and all(row[name] == asked[name] for name in shared):
            return dict(row)
    return {}


def _newest(value: Any) -> dict[str, Any]:
    """The scalars of a result and of the last row of each of its lists."""
    found: dict[str, Any] = {}
    if isinstance(value, dict):
        for name, entry in value.items():
            if isinstance(entry, dict | list):
                found |= _newest(entry)
            else:
                found[name] = entry
    elif isinstance(value, list) and value:
        found |= _newest(value[-1])
    return found
