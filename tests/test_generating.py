"""What generators share: draws, quick copies, models of which a part is made late."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from agentgym.generating import Draws, Late, late, like


class Deed(BaseModel):
    name: str
    parts: list[str] = []
    note: str = ""


class LateDeed(Late, Deed):
    late = ("parts", "note")


WHOLE = Deed(name="two", parts=["a", "b"], note="made")
MODEL = Deed(name="one")


def made(calls: list[int] | None = None) -> LateDeed:
    def rest() -> dict[str, object]:
        if calls is not None:
            calls.append(1)
        return {"parts": ["a", "b"], "note": "made"}

    return late(LateDeed, MODEL, rest, name="two")


def test_late_fields_are_made_once_when_the_first_is_read() -> None:
    calls: list[int] = []
    deed = made(calls)
    assert deed.name == "two" and calls == []
    assert deed.parts == ["a", "b"] and deed.note == "made" and calls == [1]
    assert type(deed) is Deed


@pytest.mark.parametrize(
    "use",
    [
        copy.copy,
        copy.deepcopy,
        lambda deed: pickle.loads(pickle.dumps(deed)),
        lambda deed: deed.model_copy(),
        lambda deed: deed.model_copy(update={"name": "two"}),
        lambda deed: Deed.model_validate(deed.model_dump()),
        lambda deed: Deed.model_validate_json(deed.model_dump_json()),
        lambda deed: Deed(**dict(deed)),
        lambda deed: deed,
    ],
)
def test_whatever_takes_the_whole_gets_the_whole(use: Callable[[LateDeed], Any]) -> None:
    assert use(made()) == WHOLE
    assert use(made()) == use(made())
    assert WHOLE == made()
    assert repr(made()) == repr(WHOLE)


def test_what_is_no_field_is_none() -> None:
    with pytest.raises(AttributeError, match="'LateDeed' object has no attribute 'colour'"):
        _ = made().colour


def test_a_copy_has_its_own_values_and_leaves_the_model_alone() -> None:
    new = like(MODEL, name="three")
    assert new == Deed(name="three") and MODEL.name == "one"
    assert new.model_copy(update={"note": "x"}).note == "x"


def test_draws_are_the_same_everywhere() -> None:
    draws = Draws(7, "scenario")
    assert [draws.integers(0, 1000) for _ in range(6)] == [775, 669, 814, 709, 721, 2]
    assert draws.integers(0, 10**12) == 611_015_572_551
    assert draws.sample("abcdef", 3) == ["d", "b", "f"]


def test_draws_stay_in_their_range_and_reach_all_of_it() -> None:
    draws = Draws(3, "x")
    assert {draws.integers(-2, 3) for _ in range(400)} == {-2, -1, 0, 1, 2}
    assert {draws.choice("abc") for _ in range(200)} == set("abc")
    large = [draws.integers(0, 10**12) for _ in range(400)]
    assert 0 <= min(large) < 10**11 and 9 * 10**11 < max(large) < 10**12
    taken = draws.sample(range(5), 5)
    assert sorted(taken) == [0, 1, 2, 3, 4]
    assert Draws(3, "x").integers(0, 10**9) != Draws(3, "y").integers(0, 10**9) != Draws(4, "y").integers(0, 10**9)
