"""V12: what the agent is to find out does not stand in what it is shown at the start, however it is spelt."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from agentgym.compare import MISSING, Comparator
from agentgym.disclosure import Secret, SecretScanner
from agentgym.domain import Domain
from agentgym.gold import GoldError, is_binding, is_calculation, parameters_of, resolve
from agentgym.mentions import CURRENCIES, mentions
from agentgym.refused import begin
from agentgym.scenario import Scenario
from agentgym.validate.gold_runs import GoldRun, gold_runs
from agentgym.validate.registry import Finding, check
from agentgym.validate.subject import Subject
from agentgym.world import World, iso

_BOUNDS = frozenset({"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"})
_CLASSES = re.compile(r"\[(?:\\.|[^\]\\])*\]|\{[0-9,]*\}|\\u[0-9a-f]{4}|\\.")
_COUNT = 100
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_CODE = re.compile(r"[`\"]([a-z0-9]+(?:_[a-z0-9]+)*)[`\"]")
_LISTED = re.compile(r"\bIN\s*\(([^()]*)\)", re.IGNORECASE)
_QUOTED = re.compile(r"'((?:[^']|'')*)'")
_PLACE = re.compile(r"[A-Z]{2}")
"""Codes of countries and languages: a closed list, and words of English in lower case."""


class Sought(NamedTuple):
    """A value that the agent has to find out.

    Attributes:
        where: the scenario says so.
        value: itself.
        type: "" when unknown.
        currency: of an amount, None when unknown.
        tool: that it is bound from, or "".
    """

    where: str
    value: Any
    type: str = ""
    currency: str | None = None
    tool: str = ""

    @property
    def is_money(self) -> bool:
        """Declared or named as an amount."""
        return self.type == "money" or (not self.type and self.where.endswith(("_minor", "amount")))


@check("V12", "answer not in the prompt")
def answer_not_in_prompt(subject: Subject) -> Finding:
    """What is expected in ``answer``, ``said`` and a chain, what gold binds or calculates, and secrets are not shown.

    At first, that is. The reset observation and the tool schemas (but for bounds such as ``maximum``) are searched
    for every spelling that counts as a disclosure (case, separators, number formats, reversed, base64, hex), and for
    dates as people write them. Exempt are: members of closed enumerations (enums of the tool schemas, ``IN (…)``
    lists of the database schema, quoted codes of the policy, currencies, two-letter country codes, true, false,
    null); counts (whole numbers below 100 that are not declared as money, and amounts of 0); what is ``given`` and
    the day of ``now``. Secrets are never exempt. A list or object that goes into a calculation counts by the
    calculation's result.
    """
    failures: list[str] = []
    exempt: Counter[str] = Counter()
    searched = 0
    world = World(subject.domain.snapshot, subject.domain.toolset)
    runs: dict[str, list[GoldRun]] = {}
    for run in gold_runs(subject):
        runs.setdefault(run.scenario.id, []).append(run)
    enumerations = _enumerations(subject.domain, world)
    for group in runs.values():
        scenario = group[0].scenario
        begin(world, scenario, subject.domain)
        sought = _unique(
            [
                *_expected(scenario),
                *_facts(scenario, world),
                *(found for run in group for found in _obtained(run)),
            ]
        )
        reasons = [(each, _exemption(each, scenario, enumerations)) for each in sought]
        exempt.update(reason for _, reason in reasons if reason)
        wanted = [each for each, reason in reasons if not reason] + list(_secrets(scenario, world))
        searched += len(wanted)
        for place, text, others in _shown(subject, scenario):
            there = [each for each in wanted if each.tool not in others]
            failures += [
                f"{scenario.id}: {w.where}: {w.value!r} stands in {place}" for w in _standing(there, text, group)
            ]
    world.close()
    told = ", ".join(f"{exempt[reason]} {reason}" for reason in ("enumerated", "counts", "given"))
    return Finding(f"{searched} values; exempt: {told}", failures)


def _shown(subject: Subject, scenario: Scenario) -> list[tuple[str, str, frozenset[str]]]:
    """(place, text, tools that give something else there) of what is shown at first, as it is and in other forms.

    In one form in turn, with ``full`` in each; a text that is the same in several is searched once. What gold took out
    of a tool that tells of the interface, such as the names of pages, is another's in another form: V13F sees to it.
    """
    found: dict[str, tuple[str, frozenset[str]]] = {}
    forms = {"": subject.env} | {form.name: form.env for form in subject.turn(subject.forms, scenario)}
    for name, env in forms.items():
        observation, _ = env.reset(seed=0, options={"scenario": scenario})
        where = f" ({name})" if name else ""
        others = frozenset(env.presentation.toolset) if env.presentation is not None else frozenset()
        found.setdefault(observation["content"], (f"the reset observation{where}", frozenset()))
        found.setdefault("\n".join(_texts(env.tools)), (f"the tool schemas{where}", others))
    return [(place, text, others) for text, (place, others) in found.items()]


def _texts(value: Any) -> Iterator[str]:
    """Every text and number in nested data, keys included."""
    if isinstance(value, Mapping):
        for name, entry in value.items():
            if name == "pattern":
                # Classes of characters and counts name no value, though their digits side by side may look like one.
                yield _CLASSES.sub(" ", str(entry))
            elif name not in _BOUNDS:
                yield str(name)
                yield from _texts(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _texts(entry)
    elif value is not None:
        yield str(value)


def _facts(scenario: Scenario, world: World) -> Iterator[Sought]:
    """What a chain's facts come to at the scenario's start, which is where the world is."""
    chain = scenario.checks.chain
    for fact in chain.facts if chain is not None else ():
        kind = fact.items if fact.type == "set" else fact.type
        for row in world.connection.execute(fact.sql, fact.params).fetchall():
            for value in row if fact.type == "record" else row[:1]:
                yield Sought(f"checks.chain[{fact.name}]", value, "" if kind == "record" else kind, fact.currency)


def _expected(scenario: Scenario) -> Iterator[Sought]:
    """The leaves of ``answer`` and of what must be said."""
    checks = scenario.checks
    if checks.answer is not None:
        yield from _leaves("checks.answer", checks.answer, checks.answer.value)
    for i, entry in enumerate(checks.said):
        for j, wanted in enumerate(entry.must):
            yield from _leaves(f"checks.said[{i}].must[{j}]", wanted, wanted.value)


def _leaves(where: str, spec: Comparator, value: Any) -> Iterator[Sought]:
    if spec.type == "one_of":
        for option in spec.any_of:
            yield from _leaves(where, option, option.value)
    elif spec.type == "object":
        values = value if isinstance(value, dict) else {}
        for name, field in spec.fields.items():
            yield from _leaves(f"{where}.{name}", field, values.get(name, field.value))
    elif spec.items is not None and isinstance(value, list):
        for member in value:
            yield from _leaves(where, spec.items, member)
    elif spec.type == "json":
        yield from (Sought(where, scalar) for scalar in _scalars(value))
    elif value is not MISSING and spec.type != "null":
        yield Sought(where, value, spec.type, spec.currency)


def _obtained(run: GoldRun) -> Iterator[Sought]:
    """What the gold plan binds and calculates, as it came out."""
    results, actions = run.results(), run.scenario.gold[run.plan].actions
    tools = {action.label: action.name for action in actions if action.label}
    if run.good:
        for j, action in enumerate(actions):
            where = f"gold[{run.plan}].actions[{j}]"
            yield from _computed(where, action.arguments, results, tools, argument=True)


def _computed(
    where: str, value: Any, results: Mapping[str, Any], tools: Mapping[str, str], argument: bool
) -> Iterator[Sought]:
    if is_binding(value) or is_calculation(value):
        what = f"{value['from']}{str(value.get('path', '$'))[1:]}" if is_binding(value) else "a calculation"
        try:
            found = resolve({"x": value}, results)["x"]
        except GoldError:
            return
        if argument or not isinstance(found, dict | list):
            tool = tools.get(str(value["from"]), "") if is_binding(value) else ""
            yield from (Sought(f"{where}: {what}", scalar, tool=tool) for scalar in _scalars(found))
        inside = parameters_of(value) if is_calculation(value) else {}
        for name, entry in inside.items():
            yield from _computed(f"{where}.{name}", entry, results, tools, argument=False)
    elif isinstance(value, Mapping):
        for name, entry in value.items():
            yield from _computed(f"{where}.{name}", entry, results, tools, argument)
    elif isinstance(value, list):
        for entry in value:
            yield from _computed(where, entry, results, tools, argument)


def _scalars(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for entry in value.values():
            yield from _scalars(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _scalars(entry)
    elif value is not MISSING:
        yield value


def _unique(sought: Iterable[Sought]) -> list[Sought]:
    """Each value once, by the first place that names it."""
    found: dict[tuple[str, bool, str | None], Sought] = {}
    for each in sought:
        number = not isinstance(each.value, str)
        found.setdefault((repr(each.value), number and each.is_money, each.currency if number else None), each)
    return list(found.values())


def _secrets(scenario: Scenario, world: World) -> Iterator[Sought]:
    for i, spec in enumerate(scenario.secrets):
        for row in world.connection.execute(spec.sql, spec.params).fetchall():
            if row[0] is not None:
                value = str(row[0]) if spec.type in ("text", "id") else row[0]
                yield Sought(f"secrets[{i}]", value, spec.type, spec.currency)


def _enumerations(domain: Domain, world: World) -> frozenset[str]:
    found = set(CURRENCIES) | set(_CODE.findall(domain.system_prompt))
    found |= {str(option) for option in _enums(domain.schemas)}
    for (statement,) in world.connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall():
        for listed in _LISTED.findall(statement):
            found.update(text.replace("''", "'") for text in _QUOTED.findall(listed))
    return frozenset(found)


def _enums(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        if isinstance(value.get("enum"), list):
            yield from value["enum"]
        for entry in value.values():
            yield from _enums(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _enums(entry)


def _exemption(sought: Sought, scenario: Scenario, enumerations: frozenset[str]) -> str:
    """Why a value may be shown: "enumerated", "counts", "given", or "" when it must not be."""
    value = sought.value
    if value is None or isinstance(value, bool) or value in enumerations:
        return "enumerated"
    if isinstance(value, str) and _PLACE.fullmatch(value):
        return "enumerated"
    if (
        isinstance(value, int | float)
        and abs(value) < (1 if sought.type == "money" else _COUNT)
        and value == int(value)
    ):
        return "counts"
    now = iso(scenario.now)
    given = {str(literal).casefold() for literal in (*scenario.given, now, now[:10])}
    return "given" if str(value).casefold() in given else ""


def _standing(wanted: list[Sought], text: str, runs: Iterable[GoldRun]) -> list[Sought]:
    """Those that stand in a text."""
    currencies = _currencies(wanted, runs)
    spelt = [(each, secret) for each in wanted for secret in _spellings(each, currencies)]
    found = {id(spelt[index][0]) for index in SecretScanner([secret for _, secret in spelt]).scan(text)}
    for each in wanted:
        if isinstance(each.value, str) and _DAY.fullmatch(each.value[:10]) and len(each.value) == 10:
            if mentions(text, Comparator(type="date", value=each.value)):
                found.add(id(each))
    return [each for each in wanted if id(each) in found]


def _currencies(wanted: Iterable[Sought], runs: Iterable[GoldRun]) -> list[str]:
    """Currencies in which a number without one could be an amount: those declared and those that gold came across."""
    found = {each.currency for each in wanted if each.currency}
    for run in runs:
        for value in _scalars(run.results()):
            if isinstance(value, str) and value in CURRENCIES:
                found.add(value)
    return sorted(found)


def _spellings(sought: Sought, currencies: Iterable[str]) -> list[Secret]:
    value = sought.value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if sought.currency:
            return [Secret(value, "money", sought.currency)]
        amounts = [Secret(value, "money", currency) for currency in currencies] if sought.type == "" else []
        # The bare number of an amount in minor units stands for something else where it stands: 500 characters.
        return amounts if amounts and sought.is_money else [Secret(value, "int"), *amounts]
    try:
        return [Secret(str(value), "text")]
    except ValueError:
        return []
