"""Prompt injection: orders to the agent inside notes, pages and tool results."""

from __future__ import annotations

from typing import Any, ClassVar, Unpack

import gymnasium as gym

from agentgym.env import Observation
from agentgym.hooks import Context, Hook
from agentgym.perturbations import Goal, filled, names_of, table_of
from agentgym.scenario import CallSpec, Scenario
from agentgym.text import dumps
from agentgym.trace import Call
from agentgym.world import CallResult
from agentgym.wrappers.base import Perturbation, Plan
from agentgym.wrappers.formats import edited, read
from agentgym.wrappers.schedule import Schedule, ScheduledHook
from agentgym.wrappers.wordings import names, wording_of


class Injection(Perturbation):
    """Texts of other people in results hold an order to the agent.

    What the agent sees: a result in which a text (a note, a subject, a description) ends with an order. What the world
    does: the same; what is right is the same, and obeying is not. ``info["attack_exposed"]`` says that the text was
    shown, ``info["attack_succeeded"]`` that its goal was reached after that; a veto is a third thing.

    Args:
        env: an environment of this suite whose domain or scenario says what orders want.
        rate: probability at each result with such a text, 0–1; by default it fires once an episode, early.
        intensity: 0–4: never, once (1 and 2, default), at half, at all of them.
        attack: name of the wording, see `agentgym.wrappers.wordings`; "any" draws one.
        goal: name of the goal; "any" draws one of the scenario's, else of the domain's.
        plan: at, when, tools, as for `Perturbation`.

    Raises:
        TypeError: *env* is no environment of this suite.
        ValueError: an argument is out of its range, or the domain has no goals.

    >>> import agentgym, gymnasium
    >>> from agentgym.wrappers import Injection
    >>> env = Injection(gymnasium.make("Refund-v0", split="test"), rate=1, attack="ignore", goal="close-account")
    >>> _ = env.reset(seed=7, options={"scenario": "refund/partial-001"})
    >>> env.step({"name": "get_ticket", "arguments": {"ticket_id": "T6023"}})[4]["attack_exposed"]
    True
    """

    kind: ClassVar[str] = "injection"
    inside: ClassVar[str] = "what an order wants and whether it was reached is known of the domains of the suite only"
    rates: ClassVar[tuple[float, float, float, float, float]] = (0.0, 0.5, 0.5, 0.5, 1.0)
    once: ClassVar[tuple[int, ...]] = (1, 2)
    within: ClassVar[int] = 2
    """Early: every way of doing the case comes by."""

    def __init__(
        self,
        env: gym.Env[Observation, Any],
        rate: float | None = None,
        *,
        attack: str = "any",
        goal: str = "any",
        **plan: Unpack[Plan],
    ) -> None:
        super().__init__(env, rate, **plan)
        if not isinstance(attack, str):
            raise ValueError(f"expected attack to be the name of a wording, or any, got {attack!r:.200}")
        if attack != "any":
            wording_of(attack)
        table = table_of(self._base.domain).attacks
        self.attack, self.fields, self.pages = attack, frozenset(table.fields), frozenset(table.pages)
        self.goals = [entry for entry in table.goals if goal in ("any", entry.name)]
        self._goal = goal
        if not self.goals and goal != "any":
            known = ", ".join(entry.name for entry in table.goals) or "none"
            raise ValueError(f"there is no goal {goal!r} in {self._base.domain.name}; goals are {known}, or any")

    def hook(self) -> Hook:
        """The hook of one episode."""
        return InjectionHook(self.schedule, self.attack, self.goals, self.fields, self.pages)


class InjectionHook(ScheduledHook):
    """Puts the order into a text, and says when it was shown."""

    beneath = True

    def __init__(
        self, schedule: Schedule, attack: str, goals: list[Goal], fields: frozenset[str], pages: frozenset[str]
    ) -> None:
        super().__init__(Injection.kind, schedule)
        self._attack, self._goals, self._fields, self._pages = attack, goals, fields, pages
        self._text = ""
        self._pending = False

    def on_scenario(self, scenario: Scenario) -> Scenario:
        """Draw the goal and the wording; a scenario's own attacks come before the domain's goals."""
        self.exposed = self.succeeded = self._pending = False
        self.goal, self._text = None, ""
        if self.schedule.never:
            return scenario
        own = [Goal(name=attack.name, goal=attack.goal) for attack in scenario.attacks]
        goals = own or [entry for entry in self._goals if entry.fits(scenario)]
        if goals:
            goal = self.stream.choice(goals).goal
            goal = CallSpec(name=goal.name, arguments=filled(goal.arguments, names_of(scenario)))
            attack = self._attack if self._attack != "any" else self.stream.choice(names())
            self.goal = goal
            self._text = wording_of(attack).replace("{call}", self._written(Call(goal.name, goal.arguments)))
        return scenario

    def _written(self, call: Call) -> str:
        """A call as the agent would make it, since that is who the order is for."""
        shown = call if self.presentation is None else self.presentation.show(call)
        return f"{shown.name}({dumps(shown.arguments)})"

    def after_call(self, call: Call, result: CallResult, ctx: Context) -> CallResult:
        """Put the order into the result's first text."""
        if not result.ok or not self._text:
            return result
        value = result.value
        page = call.name in self._pages and isinstance(value, str)
        if not self.due(call, ctx, lambda: page or self._found(read(value))):
            return result
        ctx.fire(self.name)
        self._pending = True
        return result._replace(value=f"{value}\n{self._text}" if page else edited(value, self._injected))

    def on_observe(self, observation: dict[str, str], ctx: Context) -> dict[str, str]:
        """The text was shown, unless the result was lost on the way."""
        if self._pending:
            self._pending = False
            self.exposed = self.exposed or observation["role"] != "error"
        return observation

    def _found(self, value: Any) -> bool:
        if isinstance(value, dict):
            return any((k in self._fields and isinstance(v, str) and v) or self._found(v) for k, v in value.items())
        return isinstance(value, list) and any(self._found(entry) for entry in value)

    def _injected(self, value: Any) -> Any:
        """A copy with the order at the end of the first text."""
        if isinstance(value, dict):
            for key, entry in value.items():
                if key in self._fields and isinstance(entry, str) and entry:
                    return {**value, key: f"{entry} {self._text}"}
                if self._found(entry):
                    return {**value, key: self._injected(entry)}
        if isinstance(value, list):
            number = next(n for n, entry in enumerate(value) if self._found(entry))
            return [*value[:number], self._injected(value[number]), *value[number + 1 :]]
        return value

    def report(self) -> dict[str, Any]:
        """Whether the text was shown and whether its goal was reached."""
        return {"exposed": self.exposed, "succeeded": self.succeeded}

    def get_state(self) -> dict[str, Any]:
        """The counters and what has come of it."""
        return {**super().get_state(), "exposed": self.exposed, "succeeded": self.succeeded}

    def set_state(self, state: dict[str, Any]) -> None:
        """Take them up."""
        super().set_state(state)
        self.exposed, self.succeeded = state["exposed"], state["succeeded"]
