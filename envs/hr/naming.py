"""The names of one API: fields, values, resources, records, operations and sections of the documentation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agentgym.envs.hr.endpoints import ENDPOINTS, Endpoint
from agentgym.envs.hr.phrases import FIELDS, VALUES
from agentgym.envs.hr.records import ENUMS, RECORDS
from agentgym.envs.hr.words import (
    RECORD_WORDS,
    RESOURCES,
    SHORT,
    SMALL,
    SYNONYMS,
    VERBS,
    Draw,
    cased,
    plural,
)

KINDS: Mapping[str, str] = {
    field.name: field.kind
    for fields in (*RECORDS.values(), *(tuple(p.field for p in endpoint.parameters) for endpoint in ENDPOINTS))
    for field in fields
}
"""Canonical field → its kind; what the kind means for the name (its unit) is the same wherever the field stands."""

_UNITS: Mapping[str, tuple[str, ...]] = {
    "minutes/int": ("minutes", "min", "mins"),
    "minutes/hours": ("hours", "hrs", "h"),
    "minutes/clock": ("time", "hhmm", "span"),
    "minutes/duration": ("duration", "length", "span"),
    "hundredths/int": ("hundredths", "x100", "centi"),
    "money/minor": ("minor", "minor units", "small units"),
}
_OTHER: Mapping[str, tuple[str, ...]] = {
    "overview": ("overview", "getting started", "introduction", "basics", "first steps"),
    "session": ("session", "identity", "caller", "who asks"),
    "employees": ("{employee}",),
    "departments": ("{department}",),
    "contracts": ("{contract}",),
    "attendance": ("{attendance}",),
    "pay": ("{pay}",),
    "leave": ("{leave}",),
    "recruiting": ("recruiting", "hiring", "talent", "staffing"),
    "access": ("access", "rights", "accounts and rights", "clearance"),
    "rules": ("visibility", "who sees what", "confidentiality", "data protection"),
    "changelog": ("changelog", "release notes", "what is new", "changes"),
    "openapi": ("openapi", "openapi document", "machine readable", "specification"),
}
SECTIONS = tuple(_OTHER)
"""The sections of the documentation, in order."""


@dataclass(frozen=True)
class Names:
    """Names as the agent sees them.

    Attributes:
        fields: canonical field or parameter → name.
        values: enumeration → canonical value → name.
        resources: segment of a canonical path → segment.
        records: record → name, in the case of fields.
        verbs: canonical verb → phrase.
        operations: tool → name of the typed tool.
        sections: section → name.
    """

    fields: Mapping[str, str]
    values: Mapping[str, Mapping[str, str]]
    resources: Mapping[str, str]
    records: Mapping[str, str]
    verbs: Mapping[str, str]
    operations: Mapping[str, str]
    sections: Mapping[str, str]


def nouns(draw: Draw, level: int) -> dict[str, str]:
    """The word that an API has for each noun, no two alike."""
    out: dict[str, str] = {}
    used: set[str] = set()
    for noun in sorted({*SHORT, *SYNONYMS}):
        if level <= 1:
            options = SHORT.get(noun, (noun,)) if level else (noun,)
        else:
            options = SYNONYMS.get(noun) or SHORT[noun]
        invented = level == 3 and draw.chance(f"invent/{noun}", 75)
        out[noun] = unused(
            lambda i, noun=noun, options=options, invented=invented: (  # type: ignore[misc]
                draw.word(f"noun/{noun}/{i}") if invented else options[(draw.bits(f"noun/{noun}") + i) % len(options)]
            ),
            used,
        )
    for small, options in SMALL.items():
        shift = draw.bits("bounds" if small in ("first", "last") else f"small/{small}")
        out[small] = options[shift % len(options)] if level else options[0]
    out["ids"] = plural(out["id"])
    return out


def unused(candidate: Callable[[int], str], used: set[str]) -> str:
    """The first of ``candidate(0)``, ``candidate(1)`` … that is not used yet; it is used then.

    Raises:
        ValueError: fifty of them are used.
    """
    for i in range(50):
        name = candidate(i)
        if name not in used:
            used.add(name)
            return name
    raise ValueError(f"found no unused name, the last candidate was {candidate(49)!r}")


def _unit(kind: str, formats: Mapping[str, str]) -> tuple[str, ...]:
    return _UNITS.get(f"{kind}/{formats[kind]}", ()) if kind in formats else ()


def _field(draw: Draw, level: int, name: str, words: Mapping[str, str], units: tuple[str, ...]) -> Callable[[int], str]:
    """Phrases for a field, the drawn one first."""
    invented = level == 3 and "{" not in FIELDS[name] and draw.chance(f"invent/field/{name}", 60)
    phrases = FIELDS[name].split("|") if level > 1 else FIELDS[name].split("|")[:1]
    wanted = not KINDS[name] == "money" or draw.chance("money unit", 50)

    def candidate(i: int) -> str:
        if invented:
            return draw.word(f"field/{name}/{i}")
        phrase = phrases[(draw.bits(f"field/{name}") + i) % len(phrases)].format_map(words)
        if units and wanted:
            phrase += " " + units[(draw.bits(f"unit/{KINDS[name]}") + i) % len(units)]
        return phrase if i < len(phrases) + len(units) else f"{phrase} {'value' if i % 2 else 'entry'}"

    return candidate


def field_names(
    draw: Draw, level: int, words: Mapping[str, str], formats: Mapping[str, str], case: str
) -> dict[str, str]:
    """Names of all fields, no two alike. *formats* (kind → format) say which unit a name ends in."""
    if level == 0:
        return {name: name for name in FIELDS}
    used: set[str] = set()
    out: dict[str, str] = {}
    for name in FIELDS:
        candidate = _field(draw, level, name, words, _unit(KINDS[name], formats))
        out[name] = unused(lambda i, candidate=candidate: cased(candidate(i), case), used)  # type: ignore[misc]
    return out


def _values(draw: Draw, level: int, enum: str, case: str) -> dict[str, str]:
    if level == 0:
        return {value: value for value in ENUMS[enum]}
    used: set[str] = set()
    out: dict[str, str] = {}
    for value in ENUMS[enum]:
        phrases = VALUES[value].split("|") if level > 1 else VALUES[value].split("|")[:1]
        invented = level == 3 and draw.chance(f"invent/{enum}/{value}", 60)

        def candidate(i: int, value: str = value, phrases: list[str] = phrases, invented: bool = invented) -> str:
            name = f"value/{enum}/{value}"
            return cased(draw.word(f"{name}/{i}") if invented else phrases[(draw.bits(name) + i) % len(phrases)], case)

        out[value] = unused(candidate, used)
    return out


def _operation(endpoint: Endpoint, words: Mapping[str, str], verbs: Mapping[str, str]) -> str:
    """Phrase for the typed tool of an endpoint: its verb, then the noun of its path that is acted on."""
    verb = next(verb for verb in sorted(verbs, key=len, reverse=True) if endpoint.tool.startswith(verb))
    segments = [part for part in endpoint.path.split("/") if part in RESOURCES]
    noun = segments[0] if segments[-1] in ("bulk", "decision", "stage") else segments[-1]
    template, countable = RESOURCES[noun]
    phrase = template.format_map(words)
    return f"{verbs[verb]} {plural(phrase) if countable and endpoint.many else phrase}"


def make_names(draw: Draw, level: int, formats: Mapping[str, str], cases: Mapping[str, str], plurals: bool) -> Names:
    """All names of an API.

    Args:
        draw: the choices.
        level: 0–3.
        formats: kind of a field → how it is written.
        cases: ``field``, ``path`` and ``value`` → the case of such names.
        plurals: resources stand in the plural.
    """
    words = nouns(draw, level)
    verbs = {verb: draw.pick(f"verb/{verb}", options) if level else options[0] for verb, options in VERBS.items()}
    resources = {
        segment: cased(plural(phrase) if countable and plurals else phrase, cases["path"])
        for segment, (template, countable) in RESOURCES.items()
        for phrase in (template.format_map(words),)
    }
    case = cases["field"] if cases["field"] != "kebab" else "snake"
    return Names(
        fields=field_names(draw, level, words, formats, cases["field"]),
        values={enum: _values(draw, level, enum, cases["value"]) for enum in ENUMS},
        resources=resources if level else {segment: segment for segment in RESOURCES},
        records=_distinct(RECORD_WORDS, lambda t: cased(t.format_map(words), case)),
        verbs=verbs,
        operations=_distinct(
            {endpoint.tool: endpoint.tool for endpoint in ENDPOINTS},
            lambda tool: cased(_operation(_BY_TOOL[tool], words, verbs), case) if level else tool,
        ),
        sections=_distinct(
            {section: options[draw.bits(f"section/{section}") % len(options)] for section, options in _OTHER.items()}
            if level > 1
            else {section: options[0] for section, options in _OTHER.items()},
            lambda t: cased(t.format_map(words), "kebab"),
        ),
    )


_BY_TOOL = {endpoint.tool: endpoint for endpoint in ENDPOINTS}


def _distinct(phrases: Mapping[str, str], name: Callable[[str], str]) -> dict[str, str]:
    used: set[str] = set()
    out: dict[str, str] = {}
    for key, phrase in phrases.items():
        made = name(phrase)
        out[key] = unused(lambda i, made=made: made if i == 0 else f"{made}{i + 1}", used)  # type: ignore[misc]
    return out
