"""Gold plans: literals, bindings and calculations become calls, from the agent's own view only.

An argument is one of::

    A1001                                             # a literal
    {from: look, path: "$.items[0].item_id"}          # a binding to what the action labelled `as: look` was shown
    {sql: "SELECT :paid * 85 / 100", paid: {from: look, path: $.paid}}            # a calculation
    {sql: "SELECT json_array(:a, :b)", a: 1, b: 2, as_json: true}                 # … whose text result is JSON

or a dict or list of them. A binding reads the observation's content, parsed when it is JSON, else as text. ``path`` is
a JSON path of SQLite, by default ``$``, the whole. A calculation runs on an *empty* database: its other keys are its
named parameters (dicts and lists arrive as JSON text, for ``json_each``), its result the first column of the first row.
"""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from agentgym.actions import NO_TOOL
from agentgym.errors import AgentGymError
from agentgym.presentation import Presentation
from agentgym.scenario import GoldAction, Scenario
from agentgym.sqlcheck import Watch, prime, reads_clock
from agentgym.text import fresh
from agentgym.tools import Tool, shown
from agentgym.trace import Call

_BINDING = frozenset({"from", "path"})
_local = threading.local()
_NOTHING = object()
_OTHER_FORM = (
    "where an environment shows its tools in another form (HR-v0), give "
    "GoldRunner(scenario, plan, presentation=env.unwrapped.presentation) after the reset"
)
_PLAIN_PATH = re.compile(r"\$(?:\.[A-Za-z_][A-Za-z0-9_]*|\[[0-9]{1,6}\])*")
_PATH_STEP = re.compile(r"\.([A-Za-z_][A-Za-z0-9_]*)|\[([0-9]{1,6})\]")


class GoldError(AgentGymError):
    """A gold plan cannot go on: an argument does not resolve.

    Args:
        plan: number of the gold plan, from 0.
        action: number of the action in it, from 0.
        label: the ``from`` of a binding, or "".
        path: the path of a binding, or the SQL of a calculation.
        found: what was there, and what would be right.
    """

    def __init__(self, plan: int, action: int, label: str, path: str, found: str) -> None:
        self.plan, self.action, self.label, self.path, self.found = plan, action, label, path, found
        source = f"from {label!r}, path {path!r}" if label else f"sql {path!r}"
        super().__init__(f"gold[{plan}].actions[{action}]: {source}: found {found}")

    def __reduce__(self) -> tuple[type, tuple[int, int, str, str, str]]:
        """Pickle by the five parts."""
        return type(self), (self.plan, self.action, self.label, self.path, self.found)


def is_binding(value: object) -> bool:
    """Whether *value* is ``{from: …}`` or ``{from: …, path: …}``."""
    return isinstance(value, Mapping) and "from" in value and value.keys() <= _BINDING


def is_calculation(value: object) -> bool:
    """Whether *value* is ``{sql: …, …}``."""
    return isinstance(value, Mapping) and isinstance(value.get("sql"), str)


def resolve(
    arguments: Mapping[str, Any], bindings: Mapping[str, Any], plan: int = 0, action: int = 0
) -> dict[str, Any]:
    """Return *arguments* with each binding and calculation replaced by its value.

    Args:
        arguments: as a scenario's gold has them.
        bindings: label → what the labelled action was shown, parsed.
        plan: number of the plan, for error texts.
        action: number of the action, for error texts.

    Raises:
        GoldError: a label is unknown, a path leads nowhere, or a calculation fails.
    """
    where = (plan, action)
    return {name: _value(value, bindings, where) for name, value in arguments.items()}


def parameters_of(calculation: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a calculation: all but ``sql`` and ``as_json``."""
    return {name: value for name, value in calculation.items() if name not in ("sql", "as_json")}


def _value(value: Any, bindings: Mapping[str, Any], where: tuple[int, int]) -> Any:
    if is_binding(value):
        return _bound(value, bindings, where)
    if is_calculation(value):
        return _calculated(value, bindings, where)
    if isinstance(value, Mapping):
        return {name: _value(entry, bindings, where) for name, entry in value.items()}
    if isinstance(value, list):
        return [_value(entry, bindings, where) for entry in value]
    return value


def _bound(binding: Mapping[str, Any], bindings: Mapping[str, Any], where: tuple[int, int]) -> Any:
    label, path = str(binding["from"]), str(binding.get("path", "$"))
    if label not in bindings:
        raise GoldError(*where, label, path, f"no earlier action with that label; labels so far: {_listed(bindings)}")
    if not path.startswith("$"):
        raise GoldError(*where, label, path, "a path that does not start with $")
    if _PLAIN_PATH.fullmatch(path):
        found = _followed(bindings[label], path)
        if found is not _NOTHING:
            return fresh(found)
    source = json.dumps(bindings[label])
    try:
        found = _database().execute("SELECT json(?1) -> ?2", (source, path)).fetchall()[0][0]
    except sqlite3.Error as error:
        raise GoldError(*where, label, path, f"an error of SQLite: {error}") from None
    if found is None:
        raise GoldError(*where, label, path, f"nothing there; the observation was {_short(bindings[label])}")
    return json.loads(found)


def _followed(value: Any, path: str) -> Any:
    """What stands at a plain path, found without the database; `_NOTHING` leaves it to that to say."""
    for step in _PATH_STEP.finditer(path):
        name, index = step[1], step[2]
        if name is not None and isinstance(value, dict) and name in value:
            value = value[name]
        elif index is not None and isinstance(value, list) and int(index) < len(value):
            value = value[int(index)]
        else:
            return _NOTHING
    return value


def _calculated(calculation: Mapping[str, Any], bindings: Mapping[str, Any], where: tuple[int, int]) -> Any:
    sql = calculation["sql"]
    given = {name: _value(value, bindings, where) for name, value in parameters_of(calculation).items()}
    params = {name: json.dumps(v) if isinstance(v, dict | list) else v for name, v in given.items()}
    unused = params.keys() - _named_in(sql)
    if unused:
        name = next(name for name in params if name in unused)
        raise GoldError(*where, "", sql, f"the parameter {name!r}, which the SQL does not use")
    if reads_clock(sql, list(params.values())):
        raise GoldError(*where, "", sql, "a calculation that reads the wall clock; bind the time to an observation")
    try:
        rows = _database().execute(sql, params).fetchall()
    except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
        raise GoldError(*where, "", sql, f"an error of SQLite: {error}") from None
    result = rows[0][0] if rows else None
    if result is None:
        raise GoldError(*where, "", sql, f"{'NULL' if rows else 'no row'} with the parameters {_short(given)}")
    if isinstance(result, bytes):
        raise GoldError(*where, "", sql, "a blob; a result is a number or text")
    if calculation.get("as_json") is not True:
        return result
    try:
        return json.loads(result)
    except (TypeError, ValueError):
        raise GoldError(*where, "", sql, f"{shown(result)}, which is not JSON text as as_json says") from None


@lru_cache(maxsize=1024)
def _named_in(sql: str) -> frozenset[str]:
    """Names of the parameters in a statement."""
    return frozenset(re.findall(r"[:@$](\w+)", sql))


def _database() -> sqlite3.Connection:
    """An empty database that can only be read, one a thread."""
    connection: sqlite3.Connection | None = getattr(_local, "connection", None)
    if connection is None:
        connection = sqlite3.connect(":memory:", isolation_level=None)
        prime(connection)
        connection.set_authorizer(Watch())
        _local.connection = connection
    return connection


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= 300 else text[:299] + "…"


def observed(content: str) -> Any:
    """What an observation's content says: the JSON value, or the text where it is none."""
    try:
        return json.loads(content)
    except ValueError:
        return content


class GoldRunner:
    """Gives the actions of a gold plan one by one. It sees the plan and the observations, nothing else.

    Args:
        scenario: whose gold is run.
        plan: number of the plan, from 0.
        presentation: through which it acts and reads (``env.unwrapped.presentation`` after the reset); None where the
            domain's tools are shown as they are.

    Raises:
        ValueError: there is no such plan.
    """

    def __init__(self, scenario: Scenario, plan: int = 0, presentation: Presentation | None = None) -> None:
        if not 0 <= plan < len(scenario.gold):
            raise ValueError(f"{scenario.id} has the gold plans 0 to {len(scenario.gold) - 1}, got {plan}")
        self.plan = plan
        self._actions: list[GoldAction] = scenario.gold[plan].actions
        self._presentation = presentation
        self._given = 0
        self._results: dict[str, Any] = {}
        self._last: Call | None = None
        self._missing = False
        """The environment had no tool of the name of an action."""

    @property
    def step_label(self) -> str:
        """The label of the action given last, or ""."""
        return self._actions[self._given - 1].label if self._given else ""

    def next(self, observation: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
        """Return the next action ``{"name", "arguments"}``, or None when the plan is over.

        Args:
            observation: what the action before gave; at the start the reset observation or None.

        Raises:
            GoldError: an argument does not resolve against what was observed.
            ValueError: the observation of a labelled action is missing.
        """
        label = self.step_label
        if observation is not None and self._given:
            name = shown(self._actions[self._given - 1].name)
            self._missing |= str(observation["content"]).startswith(f"{NO_TOOL} {name}")
        if label:
            if observation is None:
                raise ValueError(f"next() needs the observation that the action labelled {label!r} gave, got None")
            self._results[label] = self._read(str(observation["content"]))
        if self._given >= len(self._actions):
            return None
        action = self._actions[self._given]
        try:
            arguments = resolve(action.arguments, self._results, self.plan, self._given)
        except GoldError as error:
            if self._presentation is not None or not self._missing:
                raise
            raise GoldError(
                error.plan, error.action, error.label, error.path, f"{error.found}; {_OTHER_FORM}"
            ) from None
        self._given += 1
        if self._presentation is None:
            return {"name": action.name, "arguments": arguments}
        self._last = Call(action.name, arguments)
        return self._presentation.show(self._last)._asdict()

    def _read(self, content: str) -> Any:
        if self._presentation is None or self._last is None:
            return observed(content)
        return self._presentation.read(self._last, content)

    def get_state(self) -> dict[str, Any]:
        """The position and what was observed, JSON-able and fresh."""
        last = None if self._last is None else self._last._asdict()
        return json.loads(  # type: ignore[no-any-return]
            json.dumps({"plan": self.plan, "given": self._given, "results": self._results, "last": last})
        )

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Continue from what `get_state` gave.

        Raises:
            ValueError: the state is of another plan.
        """
        if state["plan"] != self.plan:
            raise ValueError(f"the state is of gold plan {state['plan']}, this runner runs plan {self.plan}")
        self._given = int(state["given"])
        self._results = json.loads(json.dumps(state["results"]))
        self._last = Call(**json.loads(json.dumps(state["last"]))) if state["last"] is not None else None


def resolved_calls(actions: Iterable[Any]) -> Counter[str]:
    """The multiset of calls, each as canonical JSON ``[name, arguments]``.

    Args:
        actions: dicts ``{"name", "arguments"}`` or objects with these attributes.
    """
    return Counter(
        json.dumps([name, arguments], sort_keys=True, ensure_ascii=False) for name, arguments in map(_parts, actions)
    )


def plans_differ(calls_a: Iterable[Any], calls_b: Iterable[Any], tools: Mapping[str, Tool]) -> bool:
    """Whether two gold plans, as resolved calls, are two ways.

    They are when neither's multiset of calls contains the other's, and the read tools (sources of information) or the
    write tools used differ. Tools that the host answers (``respond``, ``finish``, …) are no source and no write here.
    """
    first, second = list(calls_a), list(calls_b)
    one, two = resolved_calls(first), resolved_calls(second)
    if one <= two or two <= one:
        return False
    return any(_used(first, tools, writes) != _used(second, tools, writes) for writes in (False, True))


def _parts(action: Any) -> tuple[str, dict[str, Any]]:
    if isinstance(action, Mapping):
        return str(action["name"]), dict(action.get("arguments") or {})
    return str(action.name), dict(action.arguments)


def _used(actions: Iterable[Any], tools: Mapping[str, Tool], writes: bool) -> set[str]:
    names = {_parts(action)[0] for action in actions}
    return {n for n in names if n in tools and tools[n].function is not None and tools[n].writes == writes}
