"""The first page of the documentation: what holds for every endpoint of an API."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from agentgym.envs.hr.answers import Problem, respond, status_of
from agentgym.envs.hr.asking import page_query
from agentgym.envs.hr.endpoints import LARGEST_PAGE, PAGE_SIZE
from agentgym.envs.hr.operations import LARGEST_PAGE_NUMBER, LONGEST_KEY, Api, api
from agentgym.envs.hr.style import CODES, Style

_MEANINGS = {
    "bad_request": "the request cannot be read, or lacks something, or has something that is not known",
    "forbidden": "the role may not see or do this",
    "not_found": "there is no such path or record",
    "method_not_allowed": "the path does not take this method; the header Allow has those that it takes",
    "conflict": "a rule forbids it as things are",
    "version_conflict": "the record has changed since it was read; read it again",
    "payload_too_large": "the body is longer than 1 MiB",
    "unsupported_media_type": "the body is no JSON",
    "unprocessable": "a value has the wrong form, or is none of those that can be",
    "precondition_required": "the version that was read is missing",
    "rate_limited": "too many calls; the header Retry-After has the seconds to wait",
    "unavailable": "the service is down or under maintenance; if no Retry-After says that nothing has happened, the "
    "request may or may not have taken effect",
}


if set(_MEANINGS) != set(CODES):
    raise ValueError(f"these codes have no meaning: {sorted(set(CODES) ^ set(_MEANINGS))}")

_encode = json.JSONEncoder(ensure_ascii=False).encode


def overview(style: Style) -> str:
    """The page."""
    made = api(style)
    parts: list[Callable[[Api], str]] = [_intro, _requests, _formats, _answers, _lists, _errors, _versions, _limits]
    return "\n\n".join(part(made) for part in parts) + "\n"


def _intro(made: Api) -> str:
    style = made.style
    rules, changes = style.names.sections["rules"], style.names.sections["changelog"]
    return (
        f"# {style.title}\n\nAn HTTP API for people, departments, working time, pay, leave and recruiting. "
        "Every path begins "
        f"with `{style.plan.base}/`. Requests are made for the person of this session and need no credentials. "
        "Which role may "
        f"see what is in the section `{rules}`; what is deprecated is in `{changes}` and nowhere else. Every "
        "other section has "
        "the endpoints, records and values of one subject."
    )


def _requests(made: Api) -> str:
    lines = [
        "## Requests",
        "A body is a JSON object (`Content-Type: application/json`). A field or query parameter that is not "
        "documented is an "
        "error. In a body, null counts as left out. Values in paths and queries are percent-encoded.",
        "The name in parentheses behind a path is that of the operation, for clients in which operations are "
        "functions. "
        "There, what would stand in a header is an argument: the version "
        f"`{made.style.names.fields['version']}`, and the key under the name that the function gives it.",
    ]
    return "\n".join(lines)


def _formats(made: Api) -> str:
    style = made.style
    kinds = ("date", "month", "moment", "money", "minutes", "hundredths", "bool")
    lines = ["## Formats", "The kind of a value stands behind its name:"]
    lines += [f"- {kind}: {made.codec(kind).expects}" for kind in kinds]
    if style.formats["money"] != "object":
        lines[-4] += f", in the currency that stands beside it in `{style.names.fields['currency']}`"
    if style.formats["money"] != "minor":
        lines[-4] += "; JPY has no decimals"
    else:
        lines[-4] += "; JPY has no smaller unit, 1234 means JPY 1234"
    lines.append(
        "- id, text: as they are. int: a whole number. ids: an array of ids. enum: one of the values on the page"
    )
    if style.omit_nulls:
        lines.append("A field that may be empty is left out when it is; a confidential one is null then.")
    else:
        lines.append("A field that may be empty is null when it is.")
    return "\n".join(lines)


def _show(value: Any) -> str:
    return f"`{_encode(value)}`"


def _answers(made: Api) -> str:
    style = made.style
    record = {"…": "…"}
    key = made.single_key("department")
    single = {**dict(style.envelope.constants), key: record} if key else record
    named = " (the key is the name of the record)" if style.envelope.single == "named" else ""
    entered = "" if style.created == 200 else f" What has been entered is answered by {style.created}."
    return f"## Answers\nOne record comes as {_show(single)}{named}, with status 200.{entered}"


def _lists(made: Api) -> str:
    """Paging, with an example of a first page."""
    style, paging = made.style, made.style.paging
    result = {"items": [], "page": 1, "page_size": PAGE_SIZE, "total": 45}
    answer = respond(style, "list_departments", result, {})
    shown = {"headers": answer.headers, "body": answer.body} if answer.headers else answer.body
    named = " The key of the records is the name of the record in the plural." if style.envelope.many == "named" else ""
    how = {
        "page": f"`{paging.place}` is the number of the page, the first one is {paging.first}.",
        "offset": f"`{paging.place}` is how many records to pass over, a multiple of `{paging.size}`, 0 by default.",
        "cursor": f"`{paging.place}` is the value of `{paging.following}` in the page before; without it the "
        "list begins. "
        f"It holds the size of the pages as well. On the last page `{paging.following}` is "
        f"{'left out' if style.omit_nulls else 'null'}.",
        "link": f'The header `Link` has the address of the next page (rel="next"), none on the last one; '
        f"`{paging.place}` in it is the number of the page, the first one is {paging.first}.",
        "links": f"`{paging.following}` is the address of the next page, "
        f"{'left out' if style.omit_nulls else 'null'} on the last one; `{paging.place}` in it is the number of "
        "the page, "
        f"the first one is {paging.first}.",
    }[paging.kind]
    total = f"The {'header' if paging.kind == 'link' else 'field'} `{paging.total}` has the number of all records."
    second = page_query(style, "list_departments", 2, LARGEST_PAGE)
    return (
        f"## Lists\nA list comes in pages, {PAGE_SIZE} records each; the query parameter `{paging.size}` "
        "changes that, at "
        f"most {LARGEST_PAGE}. {how} {total}{named} The second page of {LARGEST_PAGE}: query {_show(second)}. A "
        "list of 45 "
        f"begins like this, its records left out here: {_show(shown)}. There are {LARGEST_PAGE_NUMBER} pages at most."
    )


def _errors(made: Api) -> str:
    style = made.style
    problem = Problem("version_conflict", "…", {"current_version": 4})
    answer = respond(style, "", problem)
    codes = style.errors.codes
    lines = [f"- {status_of(style, code)} `{codes[code]}`: {meaning}" for code, meaning in _MEANINGS.items()]
    return "\n".join([f"## Errors\nAn error looks like this: {_show(answer.body)}. The codes:", *lines])


def _versions(made: Api) -> str:
    style = made.style
    version = style.names.fields["version"]
    place = {
        "header": f"in the header `{style.version_name}`" + (' as an entity tag such as `"3"`' if style.etag else ""),
        "query": f"in the query parameter `{style.version_name}`",
        "body": f"in the field `{style.version_name}` of the body (of a DELETE: in the query parameter of that name)",
    }[style.version_place]
    header = (
        f" and in the header `{'ETag' if style.etag else style.version_name}`"
        if style.version_place == "header"
        else ""
    )
    key = "header" if style.key_place == "header" else "field of the body"
    return (
        f"## Changes\nA record that others may change has a `{version}`{header}. A request that changes it "
        "names the one that "
        f"was read, {place}; when the record has another one by now, nothing is changed. For a change that "
        "enters something "
        "beside the record (a grade), it is that of the person.\n"
        f"A request that enters something may carry a key of your own, in the {key} `{style.key_name}` (1 to "
        f"{LONGEST_KEY} "
        "characters): the same request with the same key again changes nothing and has the first one's answer. A key "
        f"is good for one request only: another request with it is refused with {status_of(style, 'unprocessable')} "
        f"`{style.errors.codes['unprocessable']}`."
    )


def _limits(made: Api) -> str:
    return (
        "## Limits\nSome endpoints have a limit of calls a minute. Beyond it the answer is "
        f"`{made.style.errors.codes['rate_limited']}`; nothing has happened then, and the call may be made "
        "again after the time named."
    )
