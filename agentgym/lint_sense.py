"""Lint: every check gates something, nothing stands twice, and no two checks contradict each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from agentgym.lint_subject import Subject, spelt, texts
from agentgym.scenario import AllowedChange, CallSpec, Said, TextCheck
from agentgym.world import iso

_KEY = re.compile(r"[A-Za-z]+[-_]?[0-9][A-Za-z0-9_-]*")
"""What a key looks like, such as A1001 or pay_7f3."""


def check_sense(subject: Subject) -> None:
    """Checks that gate nothing, duplicates, contradictions, a user who says nothing."""
    if not subject.scenario.user.opening.strip():
        raise subject.wrong("user.opening", "no text", "the user's first message: it is all that the agent is told")
    _gates_something(subject)
    _no_idle_check(subject)
    _no_duplicates(subject)
    _no_contradiction(subject)
    _times(subject)


def _gates_something(subject: Subject) -> None:
    checks = subject.scenario.checks
    said = any(entry.must for entry in checks.said) or any(entry.must for entry in checks.text)
    state = any(check.holds is None for check in checks.final_state)
    asked = checks.answer or checks.answer_state or checks.process.required or checks.process.deadline or checks.chain
    if not (state or said or asked):
        raise subject.wrong(
            "checks",
            "nothing that must be reached beyond the end",
            "a final_state that does not hold yet, an answer, a said or text with must, a chain, or a required call",
        )
    if (checks.answer is not None or checks.answer_state) and not checks.end.outcome:
        raise subject.wrong(
            "checks.answer",
            "an answer where no finish is accepted",
            "an outcome in checks.end, as finish carries the answer",
        )


def _no_idle_check(subject: Subject) -> None:
    checks, toolset = subject.scenario.checks, subject.domain.toolset
    groups: tuple[tuple[str, Sequence[Said | TextCheck]], ...] = (("said", checks.said), ("text", checks.text))
    for name, entries in groups:
        for i, entry in enumerate(entries):
            if not entry.must and not entry.must_not:
                raise subject.wrong(f"checks.{name}[{i}]", "neither must nor must_not", "one of them: it gates nothing")
    for i, tool in enumerate(checks.process.confirm_before):
        if not toolset[tool].writes:
            raise subject.wrong(
                f"checks.process.confirm_before[{i}]",
                f"{tool}, which only reads",
                "a tool that writes: it gates nothing",
            )
    for i, (first, second) in enumerate(checks.process.order):
        if first == second:
            raise subject.wrong(f"checks.process.order[{i}]", f"{first.name} before itself", "two different calls")
    for i, rule in enumerate(subject.scenario.veto):
        if rule.unconfirmed is not None and not toolset[rule.unconfirmed].writes:
            raise subject.wrong(f"veto[{i}].unconfirmed", f"{rule.unconfirmed}, which only reads", "a tool that writes")
        if rule.foreign is not None and not toolset[rule.foreign].owners:
            raise subject.wrong(
                f"veto[{i}].foreign", f"{rule.foreign}, which names nothing owned", "a tool with owners"
            )


def _lists(subject: Subject) -> Iterator[tuple[str, Sequence[Any]]]:
    checks, scenario = subject.scenario.checks, subject.scenario
    for name in ("final_state", "may_change", "said", "text"):
        yield f"checks.{name}", getattr(checks, name)
    for name in ("required", "forbidden", "order", "confirm_before", "own", "deadline"):
        yield f"checks.process.{name}", getattr(checks.process, name)
    yield "veto", [rule.model_copy(update={"name": ""}) for rule in scenario.veto]
    yield "secrets", scenario.secrets
    yield "checkpoints", [point.model_copy(update={"name": "", "weight": 1.0}) for point in scenario.checkpoints]
    yield "given", scenario.given
    yield "gold", [plan.actions for plan in scenario.gold]


def _no_duplicates(subject: Subject) -> None:
    for field, entries in _lists(subject):
        seen: dict[str, int] = {}
        for i, entry in enumerate(entries):
            plain = [_plain(e) for e in entry] if isinstance(entry, list | tuple) else _plain(entry)
            first = seen.setdefault(spelt(plain), i)
            if first != i:
                raise subject.wrong(f"{field}[{i}]", f"the same as {field}[{first}]", "each entry once")


def _plain(entry: Any) -> Any:
    return entry.model_dump() if hasattr(entry, "model_dump") else entry


def _covers(wide: CallSpec, narrow: CallSpec) -> bool:
    """Whether every call that *narrow* describes is one that *wide* describes."""
    return wide.name == narrow.name and all(
        name in narrow.arguments and spelt(narrow.arguments[name]) == spelt(value)
        for name, value in wide.arguments.items()
    )


def _no_contradiction(subject: Subject) -> None:
    checks = subject.scenario.checks
    expects: dict[str, tuple[int, str]] = {}
    for i, check in enumerate(checks.final_state):
        asked = spelt([" ".join(check.sql.split()), check.params])
        first, expect = expects.setdefault(asked, (i, spelt(check.comparator())))
        if expect != spelt(check.comparator()):
            raise subject.wrong(
                f"checks.final_state[{i}].expect",
                f"{check.expect!r} where checks.final_state[{first}] expects {checks.final_state[first].expect!r}",
                "one value for one query",
            )
    said = [(f"checks.said[{i}]", entry.to, entry) for i, entry in enumerate(checks.said)]
    text = [(f"checks.text[{i}]", spelt([entry.sql, entry.params]), entry) for i, entry in enumerate(checks.text)]
    _no_must_and_must_not(subject, said)
    _no_must_and_must_not(subject, text)
    forbidden = [(f"checks.process.forbidden[{i}]", call) for i, call in enumerate(checks.process.forbidden)]
    forbidden += [
        (f"veto[{i}]", CallSpec(name=rule.call, arguments=rule.arguments))
        for i, rule in enumerate(subject.scenario.veto)
        if rule.call is not None
    ]
    forbidden += [
        (f"the standing veto {rule.label}", CallSpec(name=rule.call, arguments=rule.arguments))
        for rule in subject.domain.vetoes
        if rule.call is not None
    ]
    needed = [
        (f"checks.process.required[{i}]", options[0])
        for i, options in enumerate(checks.process.required)
        if len(options) == 1
    ]
    needed += [(f"checks.process.deadline[{i}].call", entry.call) for i, entry in enumerate(checks.process.deadline)]
    for field, call in needed:
        for other, ban in forbidden:
            if _covers(ban, call):
                raise subject.wrong(field, f"{call.name}, which {other} forbids", "a call that is allowed")


def _no_must_and_must_not(subject: Subject, entries: Sequence[tuple[str, str, Said | TextCheck]]) -> None:
    musts = {(to, spelt(value)): field for field, to, entry in entries for value in entry.must}
    for field, to, entry in entries:
        for i, value in enumerate(entry.must_not):
            if (to, spelt(value)) in musts:
                raise subject.wrong(
                    f"{field}.must_not[{i}]",
                    f"{value.type} {value.value!r}, which is also in must of {musts[to, spelt(value)]}",
                    "a value in one of the two",
                )


def _times(subject: Subject) -> None:
    now = subject.scenario.now
    for i, event in enumerate(subject.scenario.events):
        if event.at is not None and event.at < now:
            raise subject.wrong(f"events[{i}].at", iso(event.at), f"a time not before now, {iso(now)}")
    for i, deadline in enumerate(subject.scenario.checks.process.deadline):
        if deadline.before <= now:
            raise subject.wrong(
                f"checks.process.deadline[{i}].before", iso(deadline.before), f"a time after now, {iso(now)}"
            )


def check_free_text(subject: Subject) -> None:
    """Where the agent may write free text, a ``text`` check says what must or must not be in it."""
    checks = subject.scenario.checks
    read = {table for entry in checks.text for table in subject.checker.check(entry.sql)}
    for i, allowed in enumerate(checks.may_change):
        if allowed.table in read:
            continue
        for column in _open_columns(subject, allowed):
            if f"{allowed.table}.{column}" in subject.domain.free_text:
                raise subject.wrong(
                    f"checks.may_change[{i}]",
                    f"the free text {allowed.table}.{column}, which no check reads",
                    f"an entry in checks.text whose sql reads {allowed.table}",
                )


def _open_columns(subject: Subject, allowed: AllowedChange) -> list[str]:
    if allowed.op == "delete":
        return []
    columns = allowed.columns or subject.world.tables[allowed.table].columns
    return [column for column in columns if column not in allowed.where or allowed.op != "insert"]


def check_given(subject: Subject) -> None:
    """A checked key that stands in gold as a literal is one that the agent is told: else gold must look it up."""
    scenario = subject.scenario
    checked = {text for _, text in subject.checked() if _KEY.fullmatch(text)}
    user = scenario.user.model_dump(exclude={"wants"})
    events = [event.model_dump(include={"notice": True, "user": {"say", "facts"}}) for event in scenario.events]
    told = spelt([user, events, scenario.given, subject.domain.policy])
    for i, plan in enumerate(scenario.gold):
        for j, action in enumerate(plan.actions):
            for field, text in texts(f"gold[{i}].actions[{j}].arguments", action.arguments):
                if text in checked and text not in told:
                    raise subject.wrong(
                        field,
                        f"the literal {text!r}, which nobody tells",
                        "a binding to where it is looked up, or it in given",
                    )
