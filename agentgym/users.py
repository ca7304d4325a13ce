"""Simulated users: who answers ``respond`` and ``confirm_with_user``.

Control signals are out of band: a reply says by its fields, never by its text, that the user leaves.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, runtime_checkable

from agentgym.compare import canonical
from agentgym.scenario import Fact, UserChange, UserSpec, Want

_SEPARATORS = re.compile(r"[\W_]+")
_CHINESE = re.compile("[\u4e00-\u9fff]")
_PHRASES = {
    "en": {"unknown": "I don't know.", "fine": "OK.", "yes": "Yes, please do that.", "no": "No, I don't want that."},
    "zh": {"unknown": "我不知道。", "fine": "好的。", "yes": "好的，请这样办。", "no": "不，我不要这样。"},
}


class Reply(NamedTuple):
    """What the user says. ``leaves``: and they end the conversation."""

    text: str
    leaves: bool = False


class Confirmation(NamedTuple):
    """The user's answer to a proposed call."""

    granted: bool
    text: str
    leaves: bool = False


@runtime_checkable
class User(Protocol):
    """A user. One object serves many episodes; `start` begins a new one."""

    def start(self, spec: UserSpec, language: str) -> None:
        """Begin an episode with what the scenario says of the user."""

    def reply(self, message: str) -> Reply:
        """Answer a message of the agent."""

    def confirm(self, tool: str, arguments: Mapping[str, Any]) -> Confirmation:
        """Agree to a call or not. *arguments* are checked, normalised and complete."""

    def change(self, change: UserChange) -> None:
        """Change one's mind, as a declared event says."""

    def get_state(self) -> dict[str, Any]:
        """What must be remembered in mid-episode, JSON-able."""

    def set_state(self, state: dict[str, Any]) -> None:
        """Take up a state that `get_state` gave, after `start`."""


class ScriptedUser:
    """The default user: deterministic, tells a fact only when asked for it and knows nothing else.

    A fact is asked for when one of its phrases stands in the message, as whole words (Chinese: anywhere), whatever the
    case and the punctuation. A proposal is compared with what the user wants; after ``patience`` refused proposals the
    user leaves. Asking again for what was granted is no refusal.
    """

    def __init__(self) -> None:
        self._spec = UserSpec(opening="")
        self._facts: dict[str, Fact] = {}
        self._wants: list[Want] = []
        self._words = _PHRASES["en"]
        self._pressed = 0
        self._refused = 0

    def start(self, spec: UserSpec, language: str) -> None:
        """Begin an episode."""
        self._spec, self._facts, self._wants = spec, spec.facts, spec.wants
        self._words = _PHRASES[language]
        self._pressed = self._refused = 0

    def reply(self, message: str) -> Reply:
        """Say every fact that the message asks for, else the next line of pressure, else that there is nothing."""
        heard = _folded(message)
        told = [fact.say for fact in self._facts.values() if any(_hears(heard, phrase) for phrase in fact.when)]
        if told:
            return Reply(" ".join(told))
        if self._pressed < len(self._spec.pressure):
            self._pressed += 1
            return Reply(self._spec.pressure[self._pressed - 1])
        return Reply(self._words["unknown" if "?" in message or "？" in message else "fine"])

    def confirm(self, tool: str, arguments: Mapping[str, Any]) -> Confirmation:
        """Say yes to what one of the wants covers, else no."""
        if any(want.tool == tool and agrees(want.arguments, arguments) for want in self._wants):
            return Confirmation(True, self._words["yes"])
        self._refused += 1
        return Confirmation(False, self._words["no"], leaves=self._refused >= self._spec.patience)

    def change(self, change: UserChange) -> None:
        """Take up new wants and facts."""
        if change.wants is not None:
            self._wants = change.wants
        self._facts = {**self._facts, **change.facts}

    def get_state(self) -> dict[str, Any]:
        """The counters and what events changed."""
        return {
            "pressed": self._pressed,
            "refused": self._refused,
            "facts": {name: fact.model_dump() for name, fact in self._facts.items()},
            "wants": [want.model_dump() for want in self._wants],
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Take up a state."""
        self._pressed, self._refused = state["pressed"], state["refused"]
        self._facts = {name: Fact.model_validate(fact) for name, fact in state["facts"].items()}
        self._wants = [Want.model_validate(want) for want in state["wants"]]


class CallableUser(ScriptedUser):
    """A user whose words come from ``speak(message) -> str``; what it agrees to still follows the scenario's wants."""

    def __init__(self, speak: Callable[[str], str]) -> None:
        super().__init__()
        self._speak = speak

    def reply(self, message: str) -> Reply:
        """Let the callable answer.

        Raises:
            TypeError: it gave something else than a string.
        """
        text = self._speak(message)
        if not isinstance(text, str):
            raise TypeError(f"a user callable must return a string, got {type(text).__name__}")
        return Reply(text)


def make_user(user: object) -> User:
    """Return the user that the ``user=`` argument means: "scripted", a callable ``str → str``, or a `User`.

    Raises:
        ValueError: a name that is not known.
        TypeError: none of these.
    """
    if user == "scripted":
        return ScriptedUser()
    if isinstance(user, str):
        raise ValueError(f'expected user="scripted", a callable or a User, got {user!r}')
    if isinstance(user, User):
        return user
    if callable(user):
        return CallableUser(user)
    raise TypeError(f'expected user="scripted", a callable or a User, got {type(user).__name__}')


def agrees(wanted: Mapping[str, Any], arguments: Mapping[str, Any]) -> bool:
    """Whether *arguments* are what is wanted: equal where named; ``{any_of: […]}`` and ``{min, max}`` widen a value."""
    return all(name in arguments and _covers(value, arguments[name]) for name, value in wanted.items())


def _covers(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, Mapping) and set(wanted) == {"any_of"}:
        return any(_covers(option, found) for option in wanted["any_of"])
    if isinstance(wanted, Mapping) and wanted and set(wanted) <= {"min", "max"}:
        if type(found) not in (int, float):
            return False
        return bool(wanted.get("min", found) <= found <= wanted.get("max", found))
    return canonical(wanted) == canonical(found)


def _hears(heard: str, phrase: str) -> bool:
    """Whether a folded message has the phrase, as whole words unless Chinese stands around it."""
    folded = _folded(phrase)
    return folded in heard or (not heard.startswith(" ") and folded.strip() in heard)


def _folded(text: str) -> str:
    """Case, width and punctuation folded; blanks around each word, but none between Chinese characters."""
    words = _SEPARATORS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()
    if _CHINESE.search(words):
        return words
    return f" {words} "
