"""The names of one API: fields, values, resources, records, operations and sections of the documentation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from agentgym.envs.hr.endpoints import ENDPOINTS, Endpoint
from agentgym.envs.hr.filled import Filled
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


@dataclass(frozen=True, eq=False)
class Names:
    """Names as the agent sees them.

    Attributes:
        draw, level: what they are drawn from.
        words: noun → word.
        case: of records and operations.
        fields: canonical field or parameter → name.
        values: enumeration → canonical value → name.
        resources: segment of a canonical path → segment.
        verbs: canonical verb → phrase.
    """

    draw: Draw = field(repr=False)
    level: int
    words: Mapping[str, str]
    case: str
    fields: Mapping[str, str]
    values: Mapping[str, Mapping[str, str]]
    resources: Mapping[str, str]
    verbs: Mapping[str, str]

    @cached_property
    def records(self) -> dict[str, str]:
        """Record → name, in the case of fields."""
        return _distinct(RECORD_WORDS, lambda phrase: cased(phrase.format_map(self.words), self.case))

    @cached_property
    def operations(self) -> dict[str, str]:
        """Tool → name of the typed tool."""
        return _distinct(
            {endpoint.tool: endpoint.tool for endpoint in ENDPOINTS},
            lambda tool: cased(_operation(tool, self.words, self.verbs), self.case) if self.level else tool,
        )

    @cached_property
    def sections(self) -> dict[str, str]:
        """Section of the documentation → name."""
        return _distinct(
            {
                section: self.draw.pick(f"section/{section}", options) if self.level > 1 else options[0]
                for section, options in _OTHER.items()
            },
            lambda phrase: cased(phrase.format_map(self.words), "kebab"),
        )


def nouns(draw: Draw, level: int) -> dict[str, str]:
    """The word that an API has for each noun, no two alike."""
    out: dict[str, str] = {}
    used: set[str] = set()
    for noun in _NOUNS:
        if level <= 1:
            options = SHORT.get(noun, (noun,)) if level else (noun,)
        else:
            options = SYNONYMS.get(noun) or SHORT[noun]
        invented = level == 3 and draw.chance(f"invent/{noun}", 75)
        out[noun] = _unused(_invented(draw, f"noun/{noun}") if invented else _from(draw, f"noun/{noun}", options), used)
    for small, options in SMALL.items():
        shift = draw.bits("bounds" if small in ("first", "last") else f"small/{small}") if level else 0
        out[small] = options[shift % len(options)]
    out["ids"] = plural(out["id"])
    return out


_NOUNS = sorted({*SHORT, *SYNONYMS})
_TRIES = 50


def _invented(draw: Draw, choice: str) -> Iterator[str]:
    return (draw.word(f"{choice}/{i}") for i in range(_TRIES))


def _from(draw: Draw, choice: str, options: Sequence[str]) -> Iterator[str]:
    """All of *options* over and over, the drawn one first."""
    first = draw.bits(choice) if len(options) > 1 else 0
    return (options[(first + i) % len(options)] for i in range(_TRIES))


def _unused(candidates: Iterator[str], used: set[str]) -> str:
    """The first candidate that is not used yet; it is used then.

    Raises:
        ValueError: all of them are used.
    """
    name = ""
    for name in candidates:
        if name not in used:
            used.add(name)
            return name
    raise ValueError(f"found no unused name, the last candidate was {name!r}")


class _Field(NamedTuple):
    """What the names of a field are drawn from: its kind, its phrases, and the names of its choices.

    ``own``: it may be called by an invented word, since no noun is in it.
    """

    name: str
    kind: str
    phrases: tuple[str, ...]
    own: bool
    choice: str
    invent: str
    unit: str


_FIELDS = tuple(
    _Field(
        name,
        KINDS[name],
        tuple(phrases.split("|")),
        "{" not in phrases,
        f"field/{name}",
        f"invent/field/{name}",
        f"unit/{KINDS[name]}",
    )
    for name, phrases in FIELDS.items()
)


def _units(formats: Mapping[str, str], draw: Draw) -> dict[str, tuple[str, ...]]:
    """Kind → what a name ends in, of those kinds whose fields name their unit."""
    found = {kind: _UNITS[f"{kind}/{form}"] for kind, form in formats.items() if f"{kind}/{form}" in _UNITS}
    if "money" in found and not draw.chance("money unit", 50):
        del found["money"]
    return found


def field_names(
    draw: Draw, level: int, words: Mapping[str, str], formats: Mapping[str, str], case: str
) -> dict[str, str]:
    """Names of all fields, no two alike. *formats* (kind → format) say which unit a name ends in."""
    if level == 0:
        return {name: name for name in FIELDS}
    units = _units(formats, draw)
    used: set[str] = set()
    out: dict[str, str] = {}
    for drawn in _FIELDS:
        if level == 3 and drawn.own and draw.chance(drawn.invent, 60):
            names = _invented(draw, drawn.choice)
        else:
            names = _phrased(draw, drawn, drawn.phrases if level > 1 else drawn.phrases[:1], words, units)
        out[drawn.name] = _unused((cased(name, case) for name in names), used)
    return out


def _phrased(
    draw: Draw,
    drawn: _Field,
    phrases: tuple[str, ...],
    words: Mapping[str, str],
    units: Mapping[str, tuple[str, ...]],
) -> Iterator[str]:
    """Names of a field made of its phrases, the drawn one first."""
    ends = units.get(drawn.kind, ())
    end = draw.bits(drawn.unit) if len(ends) > 1 else 0
    for i, phrase in enumerate(_from(draw, drawn.choice, phrases)):
        if not drawn.own:
            phrase = phrase.format_map(words)
        if ends:
            phrase += " " + ends[(end + i) % len(ends)]
        yield phrase if i < len(phrases) + len(ends) else f"{phrase} {'value' if i % 2 else 'entry'}"


_VALUES = {value: tuple(phrases.split("|")) for value, phrases in VALUES.items()}


def _values(draw: Draw, level: int, enum: str, case: str) -> dict[str, str]:
    if level == 0:
        return {value: value for value in ENUMS[enum]}
    used: set[str] = set()
    out: dict[str, str] = {}
    for value in ENUMS[enum]:
        phrases = _VALUES[value] if level > 1 else _VALUES[value][:1]
        invented = level == 3 and draw.chance(f"invent/{enum}/{value}", 60)
        choice = f"value/{enum}/{value}"
        names = _invented(draw, choice) if invented else _from(draw, choice, phrases)
        out[value] = _unused((cased(name, case) for name in names), used)
    return out


class _Said(NamedTuple):
    """What the name of an operation is made of: a verb, the phrase of a noun, and whether it is a list of them."""

    verb: str
    phrase: str
    several: bool


def _said(endpoint: Endpoint) -> _Said:
    segments = [part for part in endpoint.path.split("/") if part in RESOURCES]
    noun = segments[0] if segments[-1] in ("bulk", "decision", "stage") else segments[-1]
    template, countable = RESOURCES[noun]
    return _Said(verb_of(endpoint.tool), template, countable and endpoint.many)


def verb_of(tool: str) -> str:
    """The verb that a tool's name begins with, the longest one."""
    return max((verb for verb in VERBS if tool.startswith(verb)), key=len)


_SAID = {endpoint.tool: _said(endpoint) for endpoint in ENDPOINTS}


def _operation(tool: str, words: Mapping[str, str], verbs: Mapping[str, str]) -> str:
    """Phrase for the typed tool of an endpoint: its verb, then the noun of its path that is acted on."""
    said = _SAID[tool]
    phrase = said.phrase.format_map(words)
    return f"{verbs[said.verb]} {plural(phrase) if said.several else phrase}"


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
    return Names(
        draw=draw,
        level=level,
        words=words,
        case=cases["field"] if cases["field"] != "kebab" else "snake",
        fields=field_names(draw, level, words, formats, cases["field"]),
        values=Filled(ENUMS, lambda enum: _values(draw, level, enum, cases["value"])),
        resources=resources if level else {segment: segment for segment in RESOURCES},
        verbs=verbs,
    )


def _distinct(phrases: Mapping[str, str], name: Callable[[str], str]) -> dict[str, str]:
    """A name for each, with a number behind it where it was there before."""
    used: set[str] = set()
    out: dict[str, str] = {}
    for key, phrase in phrases.items():
        made = name(phrase)
        out[key] = _unused(chain((made,), (f"{made}{number}" for number in range(2, _TRIES))), used)
    return out
