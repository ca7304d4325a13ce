from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest

from agentgym.envs.hr.api import request
from agentgym.envs.hr.endpoints import ENDPOINTS
from agentgym.envs.hr.operations import api
from agentgym.envs.hr.records import ENUMS, RECORDS
from agentgym.envs.hr.style import Style, style, typed

SEEDS = range(50)


def paths(style_: Style) -> tuple[str, ...]:
    return tuple(f"{route.method} {route.path(style_.names.fields)}" for route in style_.routes.values())


@pytest.mark.parametrize("level", [1, 2, 3])
def test_fifty_seeds_give_fifty_apis(level: int) -> None:
    styles = [style(seed, level) for seed in SEEDS]
    assert len({paths(style_) for style_ in styles}) == len(SEEDS)
    assert len({tuple(style_.names.fields.values()) for style_ in styles}) == len(SEEDS)


@pytest.mark.parametrize("level", [1, 2, 3])
def test_a_request_of_one_api_is_none_of_another(level: int) -> None:
    """Whole plans are not portable: of the seeds' requests for one record, hardly two are alike."""
    asked = Counter(
        str(
            request(
                style(seed, level),
                "list_attendance",
                {"employee_id": "E1", "from_date": "2026-01-01", "to_date": "2026-01-31"},
            )
        )
        for seed in SEEDS
    )
    assert max(asked.values()) == 1


def test_level_0_is_the_same_plain_rest_for_every_seed() -> None:
    one, two = style(1, 0), style(2, 0)
    assert paths(one) == paths(two)
    assert paths(one) == tuple(f"{endpoint.method} /api/{endpoint.path}" for endpoint in ENDPOINTS)
    assert all(name == shown for name, shown in one.names.fields.items())


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_names_are_unique_in_their_scope(level: int) -> None:
    for seed in range(300):
        style_ = style(seed, level)
        names, made = style_.names, api(style_)
        for group in (names.fields, names.operations, names.sections, names.records, *names.values.values()):
            assert len(set(group.values())) == len(group), (seed, group)
        assert set(names.values) == set(ENUMS) and set(names.records) == set(RECORDS)
        assert len(set(paths(style_))) == len(ENDPOINTS)
        assert len(set(style_.errors.codes.values())) == len(style_.errors.codes)
        taken = {made.many_key("employee"), *([style_.envelope.meta] if style_.envelope.meta else ())}
        taken |= {name for name, _ in style_.envelope.constants}
        if not style_.envelope.meta:
            taken |= {style_.paging.place, style_.paging.size, style_.paging.total, style_.paging.own}
        assert style_.key_name not in names.fields.values()
        for operation in made.operations.values():
            assert not {style_.paging.place, style_.paging.size} & {*operation.query, *operation.body}
            assert (
                len(operation.path) + len(operation.query) + len(operation.body)
                >= len(operation.endpoint.parameters) - 1
            )


def test_thousands_of_seeds_have_no_two_routes_alike() -> None:
    for level in (1, 2, 3):
        for seed in range(1000, 2000):
            assert len(style.__wrapped__(seed, level).routes) == len(ENDPOINTS)


@pytest.mark.parametrize("level", [1, 2, 3])
def test_every_choice_is_taken_by_some_seed(level: int) -> None:
    styles = [style(seed, level) for seed in range(300)]
    assert {s.paging.kind for s in styles} == {"page", "offset", "cursor", "link", "links"}
    assert {s.plan.kind for s in styles} == {"rest", "keyed", "rpc"}
    assert {s.formats["money"] for s in styles} == {"minor", "decimal", "object"}
    assert {s.formats["date"] for s in styles} == {"iso", "dots", "compact", "slashes", "american", "named"}
    assert {s.formats["minutes"] for s in styles} == {"int", "clock", "duration", "hours"}
    assert {s.version_place for s in styles} == {"header", "query", "body"}
    assert {s.errors.kind for s in styles} == {"flat", "nested", "list"}
    assert {s.omit_nulls for s in styles} == {True, False}


def test_higher_levels_keep_fewer_of_the_plain_words() -> None:
    def kept(level: int) -> float:
        same = [
            shown.lower().replace("-", "").replace("_", "") == name.replace("_", "")
            for seed in SEEDS
            for name, shown in style(seed, level).names.fields.items()
        ]
        return sum(same) / len(same)

    assert kept(0) == 1
    assert kept(1) > 0.4 > kept(2) > kept(3)


def test_a_style_is_the_same_in_another_process() -> None:
    code = (
        "from agentgym.envs.hr.style import style\n"
        "import hashlib\n"
        "s = style(4711, 3)\n"
        "n = s.names\n"
        "parts = [n, n.records, n.operations, n.sections, s.routes, s.formats, s.paging, s.errors, s.envelope]\n"
        "print(hashlib.sha256(repr(parts).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": salt, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, text=True, check=True,
        ).stdout
        for salt in ("0", "1")
    }  # fmt: skip
    assert len(digests) == 1


def test_a_typed_style_needs_neither_headers_nor_links() -> None:
    for seed in SEEDS:
        style_ = typed(style(seed, 2))
        assert style_.paging.kind in ("page", "offset", "cursor")
        assert style_.version_place != "header" and style_.key_place == "body"


@pytest.mark.parametrize("level", [-1, 4, 99])
def test_a_level_that_there_is_not_is_refused(level: int) -> None:
    with pytest.raises(ValueError, match=rf"expected a level in 0\.\.3, got {level}"):
        style(1, level)
