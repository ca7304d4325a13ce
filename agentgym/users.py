"""Simulated users: who answers ``respond`` and ``confirm_with_user``.

Control signals are out of band: a reply says by its fields, never by its text, that the user leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, cast, runtime_checkable

from agentgym.compare import canonical
from agentgym.hearing import asked_for, asks, closes, hears
from agentgym.scenario import Fact, UserChange, UserSpec, Want

_PHRASES = {
    "en": {
        "unknown": "I don't know.",
        "fine": "OK.",
        "all": "No, that is all.",
        "yes": "Yes, please do that.",
        "no": "No, I don't want that.",
        "back": "What do you need that for?",
        "hurry": "This is getting us nowhere. Please get to the point, or I am gone.",
        "gone": "That's enough. I am leaving.",
    },
    "zh": {
        "unknown": "我不知道。",
        "fine": "好的。",
        "all": "没有了，就这些。",
        "yes": "好的，请这样办。",
        "no": "不，我不要这样。",
        "back": "您要这个做什么？",
        "hurry": "这样说下去没有用。请快点处理，不然我就走了。",
        "gone": "够了，我不等了。",
    },
}


class Reply(NamedTuple):
    """What the user says. ``leaves``: and they end the conversation. ``faults``: what was wrong with the simulation."""

    text: str
    leaves: bool = False
    faults: tuple[str, ...] = ()


class Confirmation(NamedTuple):
    """The user's answer to a proposed call. ``leaves``, ``faults``: as in `Reply`."""

    granted: bool
    text: str
    leaves: bool = False
    faults: tuple[str, ...] = ()


@runtime_checkable
class User(Protocol):
    """A user. One object serves many episodes; `start` begins a new one."""

    def start(self, spec: UserSpec, language: str) -> None:
        """Begin an episode with what the scenario says of the user."""
        ...

    def reply(self, message: str) -> Reply:
        """Answer a message of the agent."""
        ...

    def confirm(self, tool: str, arguments: Mapping[str, Any]) -> Confirmation:
        """Agree to a call or not. *arguments* are checked, normalised and complete."""
        ...

    def change(self, change: UserChange) -> None:
        """Change one's mind, as a declared event says."""
        ...

    def get_state(self) -> dict[str, Any]:
        """What must be remembered in mid-episode, JSON-able."""
        ...

    def set_state(self, state: dict[str, Any]) -> None:
        """Take up a state that `get_state` gave, after `start`."""
        ...


class ScriptedUser:
    """The default user: deterministic, tells a fact only when asked for it and knows nothing else.

    `docs/users.md` lists what counts as asking (`agentgym.hearing`). What is asked for and not known gets "I don't
    know". A fact may be held back or lied about until the agent asks again. A proposal is compared with what the user
    wants; after ``patience`` refused proposals the user leaves, and with ``bears``, after so many messages in a row
    that brought nothing. Asking again for what was granted is no refusal.
    """

    def __init__(self) -> None:
        self._spec = UserSpec(opening="")
        self._facts: dict[str, Fact] = {}
        self._wants: list[Want] = []
        self._words = _PHRASES["en"]
        self._pressed = self._refused = self._idle = 0
        self._asked: dict[str, int] = {}
        self._stages: list[int] = []

    def start(self, spec: UserSpec, language: str) -> None:
        """Begin an episode."""
        self._spec, self._facts, self._wants = spec, spec.facts, spec.wants
        self._words = _PHRASES[language]
        self._pressed = self._refused = self._idle = 0
        self._asked, self._stages = {}, [0] * len(spec.stages)

    def reply(self, message: str) -> Reply:
        """Say every fact that the message asks for, else "I don't know" to a question, else put on pressure."""
        told = [self._tell(name) for name in asked_for(message, self._facts)]
        if told:
            self._idle = 0
            return Reply(" ".join(told))
        self._idle += 1
        if self._spec.bears is not None and self._idle >= self._spec.bears - 1:
            gone = self._idle >= self._spec.bears
            return Reply(self._words["gone" if gone else "hurry"], leaves=gone)
        if asks(message):
            return Reply(self._words["unknown"])
        return Reply(self._pressure(message) or self._words["all" if closes(message) else "fine"])

    def confirm(self, tool: str, arguments: Mapping[str, Any]) -> Confirmation:
        """Say yes to what one of the wants covers, else no."""
        self._idle = 0
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
            "idle": self._idle,
            "asked": self._asked,
            "stages": self._stages,
            "facts": {name: fact.model_dump() for name, fact in self._facts.items()},
            "wants": [want.model_dump() for want in self._wants],
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Take up a state."""
        self._pressed, self._refused, self._idle = state["pressed"], state["refused"], state["idle"]
        self._asked, self._stages = dict(state["asked"]), list(state["stages"])
        self._facts = {name: Fact.model_validate(fact) for name, fact in state["facts"].items()}
        self._wants = [Want.model_validate(want) for want in state["wants"]]

    def _tell(self, name: str) -> str:
        """The fact, or what stands in its place while it is held back."""
        fact = self._facts[name]
        # Counted per text, so that a fact that an event changed is a new one.
        key = f"{name}: {fact.say}"
        self._asked[key] = count = self._asked.get(key, 0) + 1
        return fact.say if count > fact.held_back else fact.lie or self._words["back"]

    def _pressure(self, message: str) -> str:
        """The next line of pressure that applies, or ""."""
        if self._pressed < len(self._spec.pressure):
            self._pressed += 1
            return self._spec.pressure[self._pressed - 1]
        for number, stage in enumerate(self._spec.stages):
            used = self._stages[number]
            if used == len(stage.say):
                continue
            if used or (self._refused >= stage.refused and (not stage.when or hears(message, stage.when))):
                self._stages[number] += 1
                return stage.say[used]
            # A later stage may open by its own trigger; one without any waits for its turn.
            if not stage.when and not stage.refused:
                break
        return ""


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
    """Return the user that the ``user=`` argument means.

    Args:
        user: "scripted", "model:model=NAME,base_url=URL" (options as for `agentgym.model_user.ModelUser`), a callable
            ``str → str``, or a `User`.

    Raises:
        ValueError: a name that is not known, or options that are none.
        TypeError: none of these.
    """
    if user == "scripted":
        return ScriptedUser()
    if isinstance(user, str) and user.partition(":")[0] == "model":
        return _model_user(user)
    if isinstance(user, str):
        raise ValueError(f'expected user="scripted", a callable or a User, got {user!r}')
    if isinstance(user, User):
        return user
    if callable(user):
        return CallableUser(cast("Callable[[str], str]", user))
    raise TypeError(f'expected user="scripted", a callable or a User, got {type(user).__name__}')


def phrases(language: str) -> Mapping[str, str]:
    """The user's own words in a language, by what they are for."""
    return _PHRASES[language]


def _model_user(spec: str) -> User:
    from agentgym.model_user import ModelUser
    from agentgym.runner_agents import options_of

    options = options_of(spec, spec.partition(":")[2], "user")
    if "model" not in options:
        raise ValueError(f'user "{spec}": no model; write "model:model=NAME,base_url=URL"')
    try:
        return ModelUser(**options)
    except TypeError as error:
        raise ValueError(f'user "{spec}": {error}') from error


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
