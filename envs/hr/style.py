"""A style: how the HR API of one episode is spelt. Pure and deterministic in (seed, level).

Level 0 is plain REST with canonical names. Level 1 has other formats, cases, envelopes, paging and paths. Level 2 has
other words as well, level 3 invented ones. What the API can do is the same in all of them. Every choice is drawn from
a hash of the seed, the level and the name of the choice, so the same seed gives the same API under every version of
Python. Standard library only: this runs inside the container image too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from agentgym.envs.hr.layout import Plan, Route, lay_out, plan
from agentgym.envs.hr.naming import Names, make_names
from agentgym.envs.hr.words import Draw, cased

LEVELS = range(4)

CODES: Mapping[str, int] = {
    "bad_request": 400,
    "forbidden": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "conflict": 409,
    "version_conflict": 412,
    "payload_too_large": 413,
    "unsupported_media_type": 415,
    "unprocessable": 422,
    "precondition_required": 428,
    "rate_limited": 429,
    "unavailable": 503,
}
"""Canonical code of a problem → its canonical status."""

_CODE_WORDS: Mapping[str, str] = {
    "bad_request": "bad request|malformed|invalid input",
    "forbidden": "forbidden|not permitted|access denied",
    "not_found": "not found|no such thing|unknown object",
    "method_not_allowed": "method not allowed|wrong method|unsupported method",
    "conflict": "conflict|rule violated|not possible now",
    "version_conflict": "version conflict|stale version|changed meanwhile",
    "payload_too_large": "payload too large|body too big|too much data",
    "unsupported_media_type": "unsupported media type|json only|wrong content type",
    "unprocessable": "unprocessable|validation failed|invalid value",
    "precondition_required": "precondition required|version missing|no version given",
    "rate_limited": "rate limited|too many requests|slow down",
    "unavailable": "unavailable|service down|try later",
}


@dataclass(frozen=True)
class Paging:
    """How lists come in pages.

    Attributes:
        kind: ``page`` (number and size), ``offset`` (and limit), ``cursor``, ``link`` (header) or ``links`` (in the
            body; pages by number).
        place: name of the parameter that says which page: a number, an offset or a cursor.
        size: name of the parameter with records a page.
        total: name of the field or header with the number of all records.
        first: number of the first page, 0 or 1.
        following: name of the field with the next cursor or link.
        own: name of the field with the cursor or link of this page.
    """

    kind: str = "page"
    place: str = "page"
    size: str = "page_size"
    total: str = "total"
    first: int = 1
    following: str = "next"
    own: str = "self"


@dataclass(frozen=True)
class Envelope:
    """What stands around a record or a list.

    Attributes:
        single: key of a record, "" for none.
        many: key of the records of a list.
        meta: key of what is said of the page, "" beside the records.
        constants: fields that every answer has.
        named: the keys are the names of the record instead.
    """

    single: str = ""
    many: str = "items"
    meta: str = ""
    constants: tuple[tuple[str, object], ...] = ()
    named: bool = False


@dataclass(frozen=True)
class ErrorShape:
    """What an error looks like.

    Attributes:
        kind: ``flat``, ``nested`` (one object under *outer*), ``list`` (a list of one under *outer*).
        outer: key of the object or list.
        code, message, details, status: names of the fields; *status* "" for none.
        codes: canonical code → shown code.
        invalid: status of a request that has a wrong value, 400 or 422.
        detail_names: canonical key of the details → name.
    """

    kind: str
    outer: str
    code: str
    message: str
    details: str
    status: str
    codes: Mapping[str, str]
    invalid: int
    detail_names: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Style:
    """One API's spelling; compared by identity, since `style` gives one object for one seed and level.

    Attributes:
        seed, level: what it was drawn from.
        names: names of everything.
        routes: tool → method, path, places of parameters.
        formats: kind of a field (``date`` ``month`` ``moment`` ``money`` ``minutes`` ``hundredths`` ``bool``) → format.
        omit_nulls: fields without a value are left out (confidential ones are null even then).
        plan, paging, envelope, errors: see there.
        filters: ``plain``, ``bracket`` (``filter[x]``) or ``by`` (``by_x``): names of optional query parameters.
        version_place: ``header``, ``query`` or ``body``; deletions take ``query`` for ``body``.
        version_name: name of the header, or of the parameter.
        etag: with ``header``: the version is an entity tag (``If-Match``), else the bare number.
        key_place, key_name: where an idempotency key stands, ``header`` or ``body``.
        created: status of a created record.
        title: what the API is called.
        case: the case of fields.
    """

    seed: int
    level: int
    names: Names
    routes: Mapping[str, Route]
    formats: Mapping[str, str]
    omit_nulls: bool
    plan: Plan
    paging: Paging
    envelope: Envelope
    errors: ErrorShape
    filters: str
    version_place: str
    version_name: str
    etag: bool
    key_place: str
    key_name: str
    created: int
    title: str
    case: str

    def filter_name(self, name: str) -> str:
        """The name of an optional query parameter, from that of its field."""
        if self.filters == "bracket":
            return f"filter[{name}]"
        return f"by_{name}" if self.filters == "by" else name


@lru_cache(maxsize=1024)
def style(seed: int, level: int) -> Style:
    """The style of *seed* at *level*.

    Raises:
        ValueError: *level* is not in 0..3.
    """
    if level not in LEVELS:
        raise ValueError(f"expected a level in 0..3, got {level!r}")
    draw = Draw(f"hr-api/{seed}/{level}")
    formats, cases = _formats(draw, level), _cases(draw, level)
    names = make_names(draw, level, formats, cases, plurals=level == 0 or draw.chance("plural", 60))
    plan_ = plan(draw, level, cases["path"])
    case, used = cases["field"], set(names.fields.values())
    version_place = draw.pick("version/place", ("header", "query", "body")) if level else "body"
    etag = version_place == "header" and draw.chance("version/etag", 65)
    key_place = draw.pick("key/place", ("header", "body")) if level else "header"
    key = draw.pick("key/name", ("idempotency key", "request token", "client token", "dedup key", "operation key"))
    header = draw.pick("version/header", ("X Revision", "X Record Version", "X Expected Version"))
    return Style(
        seed=seed,
        level=level,
        names=names,
        routes=lay_out(draw, level, plan_, names),
        formats=formats,
        omit_nulls=level > 0 and draw.chance("nulls", 50),
        plan=plan_,
        paging=_paging(draw, level, case, used),
        envelope=_envelope(draw, level, case),
        errors=_errors(draw, level, case, names.fields),
        filters=draw.pick("filters", ("plain", "plain", "bracket", "by")) if level else "plain",
        version_place=version_place,
        version_name=("If-Match" if etag else header.replace(" ", "-")) if version_place == "header"
        else names.fields["version"],
        etag=etag,
        key_place=key_place,
        key_name=_key_name(key if level else "idempotency key", key_place, case),
        created=draw.pick("created", (200, 201)) if level else 201,
        title=draw.pick("title", ("People Hub", "Staffbase", "Workforce Core", "HR Gateway", "Personnel Desk")),
        case=case,
    )  # fmt: skip


@lru_cache(maxsize=1024)
def typed(style_: Style) -> Style:
    """The style with everything in arguments and bodies, for tools that have neither headers nor links."""
    paging = style_.paging
    if paging.kind in ("link", "links"):
        paging = replace(paging, kind="page")
    place = "body" if style_.version_place == "header" else style_.version_place
    return replace(
        style_,
        paging=paging,
        filters="plain",
        version_place=place,
        version_name=style_.names.fields["version"],
        etag=False,
        key_place="body",
        key_name=_key_name(style_.key_name.replace("-", " ").lower().removeprefix("x "), "body", style_.case),
    )


def _key_name(words: str, place: str, case: str) -> str:
    if place == "header":
        name = "-".join(word.capitalize() for word in words.split())
        return name if words == "idempotency key" else f"X-{name}"
    return cased(words, case) if " " in words else words


def _formats(draw: Draw, level: int) -> dict[str, str]:
    if level == 0:
        return {
            "date": "iso", "month": "iso", "moment": "iso", "money": "minor", "minutes": "int", "hundredths": "int",
            "bool": "json",
        }  # fmt: skip
    return {
        "date": draw.pick("format/date", ("iso", "dots", "compact", "slashes", "american", "named")),
        "month": draw.pick("format/month", ("iso", "compact", "reversed", "dots", "named")),
        "moment": draw.pick("format/moment", ("iso", "seconds", "milliseconds", "spaced")),
        "money": draw.pick("format/money", ("minor", "decimal", "object")),
        "minutes": draw.pick("format/minutes", ("int", "clock", "duration", "hours")),
        "hundredths": draw.pick("format/hundredths", ("int", "number", "text")),
        "bool": draw.pick("format/bool", ("json", "json", "yes", "letter")),
    }


def _cases(draw: Draw, level: int) -> dict[str, str]:
    if level == 0:
        return {"field": "snake", "path": "kebab", "value": "snake"}
    return {
        "field": draw.pick("case/field", ("snake", "camel", "pascal", "kebab")),
        "path": draw.pick("case/path", ("kebab", "snake", "camel", "pascal")),
        "value": draw.pick("case/value", ("snake", "upper", "kebab", "pascal", "title")),
    }


def _paging(draw: Draw, level: int, case: str, used: set[str]) -> Paging:
    if level == 0:
        return Paging()
    kind = draw.pick("paging", ("page", "offset", "cursor", "link", "links"))
    places = {
        "offset": ("offset", "skip", "start at", "first row"),
        "cursor": ("cursor", "page token", "continuation", "after"),
    }.get(kind, ("page", "page number", "p", "sheet"))
    sizes = ("limit", "page size", "per page", "max rows", "take")
    totals = ("total", "total count", "count all", "rows overall")
    if kind == "link":
        total = draw.pick("total", ("X-Total-Count", "X-Total", "X-Row-Count"))
    else:
        total = _free(draw, "total", totals, case, used)
    nexts, owns = ("next", "next page", "following", "more"), ("current", "this page", "self", "here")
    return Paging(
        kind=kind,
        place=_free(draw, "place", places, case, used),
        size=_free(draw, "size", sizes, case, used),
        total=total,
        first=draw.pick("first page", (1, 1, 0)),
        following=_free(draw, "next", nexts, case, used),
        own=_free(draw, "own", owns, case, used),
    )


def _free(draw: Draw, name: str, options: tuple[str, ...], case: str, used: set[str]) -> str:
    """A drawn name that no field has."""
    free = [cased(option, case) for option in options if cased(option, case) not in used]
    return draw.pick(f"paging/{name}", free or [cased(f"{options[0]} of list", case)])


def _envelope(draw: Draw, level: int, case: str) -> Envelope:
    if level == 0:
        return Envelope()
    constants: tuple[tuple[str, object], ...] = draw.pick(
        "constants", ((), (), (("ok", True),), (("status", "success"),), (("apiVersion", "1"),))
    )
    single = draw.pick("single", ("", "data", "result", "payload", "named"))
    many = draw.pick("many", ("items", "data", "results", "records", "rows", "named"))
    return Envelope(
        # A bare record has no place for constants: they could be taken for fields.
        single=_key(single if single or not constants else "data", case),
        many=_key(many, case),
        meta=cased(draw.pick("meta", ("meta", "paging", "page info", "list info")), case)
        if draw.chance("meta apart", 60) else "",
        constants=tuple((cased(name, case) if name == "ok" else name, value) for name, value in constants),
        named="named" in (single, many),
    )  # fmt: skip


def _key(word: str, case: str) -> str:
    return word if word in ("", "named") else cased(word, case)


def _errors(draw: Draw, level: int, case: str, fields: Mapping[str, str]) -> ErrorShape:
    details = {"current_version": "current version", "retry_after_s": "retry after s"}
    if level == 0:
        return ErrorShape(
            "nested", "error", "code", "message", "details", "status", {code: code for code in CODES}, 422,
            {**fields, **{key: cased(words, "snake") for key, words in details.items()}},
        )  # fmt: skip
    details["current_version"] = f"current {draw.pick('detail', ('version', 'revision', 'state'))}"
    details["retry_after_s"] = draw.pick("retry", ("retry after seconds", "wait seconds", "seconds to wait"))
    outer = {"nested": ("error", "fault", "problem"), "list": ("errors", "faults", "problems"), "flat": ("",)}
    kind = draw.pick("error", ("nested", "list", "flat"))
    return ErrorShape(
        kind=kind,
        outer=cased(draw.pick("error/outer", outer[kind]), case) if kind != "flat" else "",
        code=cased(draw.pick("error/code", ("code", "type", "error code", "reason code")), case),
        message=cased(draw.pick("error/message", ("message", "detail", "title", "explanation")), case),
        details=cased(draw.pick("error/details", ("details", "context", "info", "extra")), case),
        status=cased(draw.pick("error/status", ("status", "http status")), case) if draw.chance("status", 66) else "",
        codes=_codes(draw, level),
        invalid=draw.pick("error/invalid", (400, 422)),
        detail_names={**fields, **{key: cased(words, case) for key, words in details.items()}},
    )


def _codes(draw: Draw, level: int) -> dict[str, str]:
    """Canonical code → shown one: words, or numbers at level 3."""
    if level == 3:
        first = draw.bits("code/base")
        return {code: f"E-{(first + 37 * place) % 9000 + 1000}" for place, code in enumerate(CODES)}
    case = draw.pick("code", ("snake", "upper", "kebab", "pascal"))
    phrases = {code: words.split("|")[: 3 if level == 2 else 1] for code, words in _CODE_WORDS.items()}
    return {code: cased(draw.pick(f"code/{code}", options), case) for code, options in phrases.items()}
