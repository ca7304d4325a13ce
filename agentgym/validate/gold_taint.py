"""V13: gold uses nothing that the agent cannot know when it acts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from agentgym.compare import Comparator
from agentgym.domain import Domain
from agentgym.gold import is_binding, is_calculation, parameters_of
from agentgym.mentions import CURRENCIES, exponent, fold, mentions, number_tokens
from agentgym.validate.gold_runs import GoldRun, gold_runs
from agentgym.validate.registry import Finding, check
from agentgym.validate.subject import Subject

_ID = re.compile(r"(?<![\w-])[A-Za-z]+[-_]?[0-9][\w-]*")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?Z?)?")
_TOKEN = re.compile(r"'((?:[^']|'')*)'|(\d+(?:\.\d+)?)|([:@$]\w+)|(\w+)|(\S)")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_PERCENT = re.compile(r"(\d{1,2})\s?%")
_WORDS = frozenset("zero one two three four five six seven eight nine ten eleven twelve".split())
_PROSE = frozenset({("respond", "message"), ("hand_off", "summary")})
_PLACED = frozenset({"substr", "substring", "round", "printf", "format", "json_extract", "instr"})
"""Functions whose numbers are places and widths."""
_TIME = frozenset({Decimal(n) for n in (7, 24, 60, 3600, 86400)})
_SQL_WORDS = frozenset(
    "days day months month years year hours hour minutes minute seconds second unixepoch weekday text".split()
)
_FEW = 10


class Seen(NamedTuple):
    """What the agent has been shown up to a step, in forms that are quick to search."""

    texts: list[str]
    numbers: set[Decimal]
    parts: set[Decimal]
    """Numbers inside dates and ids, which count in prose only."""

    def add(self, text: str) -> None:
        """Take in an observation or a part of the prompt."""
        plain = " ".join(fold(text).split())
        self.texts.append(plain.casefold())
        undated = _DATE.sub(" ", plain)
        for target, source in ((self.numbers, undated), (self.parts, plain)):
            for digits, scale, start, end in number_tokens(source):
                alone = not (source[start - 1 : start].isalpha() or source[end : end + 1].isalpha())
                if alone or target is self.parts:
                    target.add(Decimal(digits).scaleb(-scale))
        self.numbers.update(Decimal(n) for n, word in enumerate(_NUMBER_WORDS) if word in self.texts[-1].split())

    def has_text(self, value: str) -> bool:
        """Whether a text stood there as whole words, whatever its case."""
        plain = " ".join(fold(value).casefold().split())
        found = [text for text in self.texts if plain in text]
        if not found or not (value[:1].isalnum() and value[-1:].isalnum()):
            return bool(found)
        pattern = re.compile(rf"(?<!\w){re.escape(plain)}(?!\w)")
        return any(pattern.search(text) for text in found)

    def has_date(self, value: str) -> bool:
        """Whether a day stood there, as people write it."""
        return any(mentions(text, Comparator(type="date", value=value[:10])) for text in self.texts)

    def has_number(self, value: Decimal, prose: bool = False) -> bool:
        """Whether a number stood there, as it is or in major units (4500 as 45.00)."""
        numbers = self.numbers | self.parts if prose else self.numbers
        minor = {value.scaleb(-places) for places in self._places()} | ({value.scaleb(2)} if prose else set())
        return value in numbers or not minor.isdisjoint(numbers)

    def _places(self) -> set[int]:
        found = {
            code for code in CURRENCIES if exponent(code) == 3 and any(code.casefold() in text for text in self.texts)
        }
        return {2, 3} if found else {2}


_NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()


@check("V13", "information sufficiency")
def information_sufficiency(subject: Subject) -> Finding:
    """Every literal in gold's arguments was shown before; constants of calculations stand in the policy.

    *Shown* means: in the reset observation, the tool schemas, or an observation (a tool's result, a user's reply, a
    notice) of an earlier step of the same run. A text counts when it stands there as whole words in any case, a date in
    any usual form, a number as it is, as a word up to twelve, or as an amount in major units (4500 for "45.00").

    Exempt are true, false, null, 0 and 1, what ``wait`` waits, and idempotency keys, which the agent makes up. Prose
    (what is said to the user, a hand-off's summary, columns of free text) is exempt but for the values in it:
    identifiers, dates, and numbers from ten on.

    A binding is shown by nature. A calculation is when its parameters are and each constant of its SQL is. A number
    must stand in the system text, be the complement to 100 of a percentage there, be 0 or 1, 2, 5 times a power of ten
    (scales and roundings), a unit of time (7, 24, 60, 3600, 86400), or a place or width (in ``substr``, ``round``,
    ``format``, after LIMIT or OFFSET). A text must be a JSON path, a time format, a single word that was shown, or
    prose.
    """
    failures, literals = [], 0
    prose = frozenset(name.rpartition(".")[2] for name in subject.domain.free_text)
    for run in gold_runs(subject):
        if run.played is None:
            continue
        trace = _Trace(subject.domain, run, prose)
        failures += [f"{run.name}: {fault}" for fault in trace.faults()]
        literals += trace.literals
    return Finding(f"{literals} literals and constants", failures)


class _Trace:
    """Follows one gold run and holds each literal against what was shown before."""

    def __init__(self, domain: Domain, run: GoldRun, prose: frozenset[str]) -> None:
        self._domain, self._run, self._prose = domain, run, prose
        self._keys = {tool.idempotency for tool in domain.tools if tool.idempotency}
        self._system = Seen([], set(), set())
        self._seen = Seen([], set(), set())
        self._percents: set[Decimal] = set()
        self.literals = 0

    def faults(self) -> Iterator[str]:
        """What was not shown."""
        played = self._run.played
        if played is None:
            return
        scenario = self._run.scenario
        system = self._domain.task(scenario)
        self._system.add(system)
        self._percents = {Decimal(found) for found in _PERCENT.findall(system)}
        self._seen.add(played.observations[0]["content"])
        self._seen.add(json.dumps(self._domain.schemas, ensure_ascii=False))
        shown = iter(played.observations[1:])
        for j, action in enumerate(scenario.gold[self._run.plan].actions):
            for name, value in action.arguments.items():
                if action.name != "wait" and name not in self._keys:
                    prose = (action.name, name) in _PROSE or name in self._prose
                    for fault in self._value(value, prose):
                        yield f"actions[{j}].{name}: {fault}"
            observation = next(shown, None)
            if observation is None:
                return
            self._seen.add(observation["content"])
            self._seen.add(observation["notices"])

    def _value(self, value: Any, prose: bool) -> Iterator[str]:
        if is_binding(value):
            return
        if is_calculation(value):
            yield from self._sql(value["sql"])
            for entry in parameters_of(value).values():
                yield from self._value(entry, prose)
        elif isinstance(value, Mapping):
            for name, entry in value.items():
                if not self._seen.has_text(name):
                    yield f"the key {name!r} was not shown"
                if name not in self._keys:
                    yield from self._value(entry, prose or name in self._prose)
        elif isinstance(value, list):
            for entry in value:
                yield from self._value(entry, prose)
        else:
            yield from self._literal(value, prose)

    def _literal(self, value: Any, prose: bool) -> Iterator[str]:
        if value is None or isinstance(value, bool) or value in (0, 1, ""):
            return
        self.literals += 1
        if isinstance(value, int | float):
            if not self._seen.has_number(Decimal(repr(value))):
                yield f"the number {value!r} was not shown"
        elif prose:
            yield from self._words(value)
        elif _DATE.fullmatch(value) and self._seen.has_date(value):
            return
        elif not self._seen.has_text(value):
            yield f"the text {value!r} was not shown"

    def _words(self, text: str) -> Iterator[str]:
        """The values in prose."""
        for day in _DATE.findall(text):
            if not self._seen.has_date(day):
                yield f"the date {day!r} in prose was not shown"
        rest = _DATE.sub(" ", fold(text))
        for name in _ID.findall(rest):
            if not self._seen.has_text(name):
                yield f"{name!r} in prose was not shown"
        rest = _ID.sub(" ", rest)
        for digits, scale, _, _ in number_tokens(rest):
            number = Decimal(digits).scaleb(-scale)
            if number >= _FEW and not self._seen.has_number(number, prose=True):
                yield f"the number {number} in prose was not shown"

    def _sql(self, sql: str) -> Iterator[str]:
        calls: list[str] = []
        before = ""
        for match in _TOKEN.finditer(sql):
            text, number, _, word, mark = match.groups()
            if text is not None:
                self.literals += 1
                yield from self._sql_text(text.replace("''", "'"))
            elif number is not None:
                placed = before in ("limit", "offset") or (calls and calls[-1] in _PLACED)
                if not placed and not self._constant(Decimal(number)):
                    self.literals += 1
                    yield f"the constant {number} of the calculation does not stand in the policy"
            elif mark == "(":
                calls.append(before)
            elif mark == ")" and calls:
                calls.pop()
            before = (word or mark or "").lower()

    def _constant(self, number: Decimal) -> bool:
        lead = number.normalize().as_tuple().digits
        structural = number == 0 or lead in ((1,), (2,), (5,)) or number in _TIME
        return structural or number in self._system.numbers or 100 - number in self._percents

    def _sql_text(self, text: str) -> Iterator[str]:
        if text.startswith("$") or "%" in text:
            return
        if _NAME.fullmatch(text):
            if text not in _SQL_WORDS and not self._seen.has_text(text):
                yield f"the text {text!r} of the calculation was not shown"
            return
        for number in re.findall(r"[+-]?(\d+)(?= (?:day|month|year|hour|minute|second)s?\b)", text):
            if not self._constant(Decimal(number)):
                yield f"the constant {number} of the calculation does not stand in the policy"
        yield from self._words(re.sub(r"\d+(?= (?:day|month|year|hour|minute|second)s?\b)", " ", text))
