"""Service logs: JSON lines of conversations, ``{"id", "messages": [{"role", "content", "time"?}], "meta"?}``."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentgym.errors import AgentGymError
from agentgym.world import parse_iso

_CUSTOMER = frozenset(("user", "customer", "client", "visitor"))
_AGENT = frozenset(("assistant", "agent", "operator", "support"))


class LogError(AgentGymError):
    """A service log cannot be read; the text names file, line, what was found and what was expected."""


@dataclass(frozen=True)
class Turn:
    """One message: who wrote it, and what."""

    customer: bool
    text: str


@dataclass(frozen=True)
class Conversation:
    """One conversation.

    Attributes:
        id: as in the log.
        turns: messages of customer and agent in their order; neighbouring ones of one side are one turn.
        at_ms: time of the first message, milliseconds since 1970, None where the log has none.
        meta: whatever else the log says.
    """

    id: str
    turns: list[Turn]
    at_ms: int | None = None
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def opening(self) -> str:
        """The customer's first turn."""
        return next(turn.text for turn in self.turns if turn.customer)


def read_log(path: str | Path) -> list[Conversation]:
    """Read a log.

    Messages of other roles (system, tool) are passed over, and so is what the agent says before the customer's first
    word.

    Raises:
        LogError: a line is no conversation, two have one id, or the file cannot be read.
    """
    file = Path(path)
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise LogError(f"{file}: cannot be read ({error}); expected JSON lines in UTF-8") from error
    found: dict[str, Conversation] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        conversation = _conversation(line, f"{file}:{number}")
        if conversation.id in found:
            raise LogError(f"{file}:{number}: found the id {conversation.id!r} twice; expected each once")
        found[conversation.id] = conversation
    if not found:
        raise LogError(f"{file}: found no conversation; expected a JSON object a line")
    return list(found.values())


def _conversation(line: str, where: str) -> Conversation:
    try:
        data = json.loads(line)
    except ValueError as error:
        raise LogError(f"{where}: found no JSON ({error}); expected an object with id and messages") from None
    if not isinstance(data, dict) or not isinstance(data.get("messages"), list):
        raise LogError(f"{where}: found no messages; expected an object with id and messages, a list")
    name = data.get("id")
    if not isinstance(name, str | int) or isinstance(name, bool) or not str(name).strip():
        raise LogError(f"{where}: found the id {name!r}; expected a text or a whole number")
    turns: list[Turn] = []
    at_ms: int | None = None
    for place, message in enumerate(data["messages"]):
        turn, time = _turn(message, f"{where}: messages[{place}]")
        if turn is None or not (turns or turn.customer):
            continue
        at_ms = time if at_ms is None and not turns else at_ms
        if turns and turns[-1].customer == turn.customer:
            turns[-1] = Turn(turn.customer, f"{turns[-1].text} {turn.text}")
        else:
            turns.append(turn)
    if not turns:
        raise LogError(f"{where}: found no word of the customer; expected a message of role user or customer")
    meta = data.get("meta")
    return Conversation(str(name), turns, at_ms, meta if isinstance(meta, dict) else {})


def _turn(message: Any, where: str) -> tuple[Turn | None, int | None]:
    """The message, None where it is neither side's or empty, and its time."""
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise LogError(f"{where}: found {type(message).__name__}; expected an object with role and content")
    role, content, time = message["role"].lower(), message.get("content"), message.get("time")
    if role not in _CUSTOMER | _AGENT or content is None:
        return None, None
    if not isinstance(content, str):
        raise LogError(f"{where}.content: found {type(content).__name__}; expected a text")
    try:
        at_ms = parse_iso(time) if isinstance(time, str) else None
    except ValueError:
        raise LogError(f"{where}.time: found {time!r}; expected ISO 8601 such as 2026-03-14T09:30:00Z") from None
    text = " ".join(content.split())
    return (Turn(role in _CUSTOMER, text) if text else None), at_ms
