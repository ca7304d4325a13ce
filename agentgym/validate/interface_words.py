"""The words by which an interface has things called, as one gold run needs them (V13F)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from agentgym.gold import is_binding, is_calculation
from agentgym.presentation import Presentation
from agentgym.trace import Call, Step
from agentgym.validate.gold_runs import GoldRun
from agentgym.validate.gold_taint import Seen
from agentgym.validate.subject import Form, Subject

_WORD = re.compile(r"[^\W\d]{2,}")
_COMPOUND = re.compile(r"[^\W_]+[_-][^\W_]|[a-z][A-Z]")
"""Names with a joint: single words may be those of the policy's own language."""
_METHODS = frozenset({"method"})
_PLACE = frozenset({"method", "path"})


def faults_of(subject: Subject, run: GoldRun, form: Form) -> tuple[int, list[str]]:
    """How many words a plan needs in a form, and what is wrong with them."""
    played = subject.gold(run.scenario, run.plan, env=form.env)
    presentation = form.env.presentation
    if presentation is None:
        return 0, []
    prose = frozenset(name.rpartition(".")[2] for name in subject.domain.free_text)
    literals = frozenset(_literals(run, prose))
    plain = subject.domain.presenter(form.presentation)
    plainest = plain(None) if plain is not None else None
    first = json.loads(played.infos[0]["task"])
    seen = Seen([], set(), set())
    seen.add(played.observations[0]["content"])
    if not presentation.http:
        seen.add(json.dumps(first["tools"], ensure_ascii=False))
    told = [played.observations[0]["content"], json.dumps(first["tools"], ensure_ascii=False)]
    faults: list[str] = []
    known: set[str] = set()
    asked: dict[str, tuple[Call, Call]] = {}
    for step in played.trace:
        for call, shown in _translated(step, presentation):
            asked.setdefault(call.name, (call, shown))
            needed = set(words_of(call, shown, literals, presentation.http))
            ordinary = _ordinary(call, plainest, literals)
            for word in sorted(needed - known):
                if not seen.has_text(word):
                    faults.append(f"step {step.index} calls {call.name} with {word!r}, which was not shown")
                if presentation.http and _COMPOUND.search(word) and word not in ordinary and _stands(word, told):
                    faults.append(f"{word!r}, by which {call.name} is called, stands in the prompt")
            known |= needed
        seen.add(step.shown)
    own = [tool.name for tool in subject.domain.tools if "_" in tool.name and tool.name not in presentation.toolset]
    # The plainer forms may have such names themselves, and their documentation says so.
    hidden = [name for name in own if not seen.has_text(name)]
    return len(known), faults + list(_errors(run, form, list(asked.values()), hidden, plainest))


def _errors(
    run: GoldRun,
    form: Form,
    asked: Sequence[tuple[Call, Call]],
    hidden: Sequence[str],
    plainest: Presentation | None,
) -> Iterator[str]:
    """What calls with wrong values and without any are told in the domain's own names."""
    env = form.env
    env.reset(seed=0, options={"scenario": run.scenario})
    for call, shown in asked:
        own = [name for name in call.arguments if _COMPOUND.search(name) and name not in _names(shown.arguments)]
        given = {name: value for name, value in shown.arguments.items() if value is not None}
        if plainest is not None and plainest.show(call) == Call(shown.name, given):
            # It is called as plainly as can be, so that its names may be the domain's.
            own = []
        place = {name: value for name, value in shown.arguments.items() if name in _PLACE}
        for rest in ({name: _wrong(value) for name, value in shown.arguments.items()}, {}):
            observation, _, terminated, truncated, _ = env.step({"name": shown.name, "arguments": {**rest, **place}})
            text = observation["content"]
            if observation["role"] == "error":
                names = [name for name in (*own, *hidden) if _stands(name, [text])]
                yield from (f"an error of {call.name} speaks of {name!r}, the domain's own" for name in names)
            if terminated or truncated:
                return


def _wrong(value: Any) -> Any:
    """The same with another text in place of every value."""
    if isinstance(value, Mapping):
        return {name: _wrong(entry) for name, entry in value.items()}
    return [_wrong(entry) for entry in value] if isinstance(value, list) else "?"


def _translated(step: Step, presentation: Presentation) -> Iterator[tuple[Call, Call]]:
    """(call of the domain, as it was shown) of a step, where a presentation spells it otherwise."""
    sent, ran = step.sent, step.ran
    if sent is None or ran is None:
        return
    if ran.name not in presentation.toolset:
        yield ran, sent
    elif isinstance(ran.arguments.get("arguments"), Mapping) and ran.arguments.get("tool") not in presentation.toolset:
        # A call that is proposed to the user is spelt as it would be made.
        yield Call(str(ran.arguments["tool"]), ran.arguments["arguments"]), Call(**_inner(sent))


def _inner(sent: Call) -> dict[str, Any]:
    return {"name": sent.arguments["tool"], "arguments": sent.arguments["arguments"]}


def words_of(call: Call, shown: Call, literals: frozenset[str], http: bool) -> Iterator[str]:
    """The words of the interface in a call as shown.

    Values count where they are spelt otherwise than the domain's or are literals of the plan; what came out of results
    does not, nor what has digits in it: identifiers, dates and amounts are written in formats, not in words.
    """
    values = {str(value) for value in _leaves(call.arguments)}
    arguments = dict(shown.arguments)
    if http:
        for part in str(arguments.pop("path", "")).split("/"):
            if unquote(part) not in values and _is_word(part):
                yield part
        arguments = {name: value for name, value in arguments.items() if name not in _METHODS}
        for part in arguments.values():
            yield from _names(part)
    else:
        yield shown.name
        yield from _names(arguments)
    for value in _leaves(arguments):
        if isinstance(value, str) and _is_word(value) and (value not in values or value in literals):
            yield value


def _is_word(text: str) -> bool:
    return bool(_WORD.search(text)) and not any(character.isdigit() for character in text)


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, entry in value.items():
            yield str(name)
            yield from _names(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _names(entry)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping | list):
        for entry in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(entry)
    else:
        yield value


def _literals(run: GoldRun, prose: frozenset[str]) -> Iterator[str]:
    """The texts that a plan has in its arguments, but for prose."""

    def of(value: Any, name: str) -> Iterator[str]:
        if is_binding(value) or is_calculation(value):
            return
        if isinstance(value, Mapping):
            for key, entry in value.items():
                yield from of(entry, str(key))
        elif isinstance(value, list):
            for entry in value:
                yield from of(entry, name)
        elif isinstance(value, str) and name not in prose and not name.endswith("idempotency_key"):
            yield value

    for action in run.scenario.gold[run.plan].actions:
        yield from of(action.arguments, "")


def _ordinary(call: Call, plainest: Presentation | None, literals: frozenset[str]) -> set[str]:
    """The words by which the plainest interface has a call made."""
    if plainest is None:
        return set()
    return set(words_of(call, plainest.show(call), literals, plainest.http))


def _stands(word: str, texts: list[str]) -> bool:
    pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
    return any(pattern.search(text) for text in texts)
