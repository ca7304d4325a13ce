"""Simulated users: what they tell, what they do not know, how long they bear it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from spawned import CONFIRM, LOOK, TinyEnv, call, confirm, play, variant

from agentgym.scenario import Fact, UserChange, UserSpec, Want
from agentgym.users import Confirmation, Reply, ScriptedUser, agrees, make_user
from agentgym.wrappers import SimulatedUser

Make = Callable[..., TinyEnv]


def user(**spec: Any) -> ScriptedUser:
    made = ScriptedUser()
    made.start(UserSpec.model_validate({"opening": "Hi", **spec}), "en")
    return made


PHONE = {"facts": {"phone": {"when": ["phone", "telephone number"], "say": "It is 555-0100."}}}


@pytest.mark.parametrize("message", ["Your phone?", "PHONE", "what's the telephone-number", "（ｐｈｏｎｅ）?", "phone"])
def test_a_fact_is_told_when_asked_for(message: str) -> None:
    assert user(**PHONE).reply(message) == Reply("It is 555-0100.")


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("Do you have a microphone?", "I don't know."),
        ("Your e-mail?", "I don't know."),
        ("Thanks.", "OK."),
        ("?", "I don't know."),
    ],
)
def test_what_is_not_scripted_is_not_known_and_nothing_is_invented(message: str, reply: str) -> None:
    assert user(**PHONE).reply(message).text == reply


def test_several_facts_asked_for_at_once_are_all_told_in_the_order_of_the_script() -> None:
    facts = {"a": {"when": ["colour"], "say": "Red."}, "b": {"when": ["size"], "say": "Large."}}
    assert user(facts=facts).reply("size and colour?").text == "Red. Large."


def test_pressure_comes_line_by_line_when_nothing_was_asked_for_and_then_no_more() -> None:
    one = user(**PHONE, pressure=["Come on.", "I will complain."])
    said = [one.reply(text).text for text in ("No.", "Your phone?", "No.", "No.")]
    assert said == ["Come on.", "It is 555-0100.", "I will complain.", "OK."]


def test_a_chinese_user_answers_in_chinese_and_hears_phrases_anywhere() -> None:
    one = ScriptedUser()
    one.start(UserSpec.model_validate({"opening": "你好", "facts": {"p": {"when": ["电话"], "say": "五五五。"}}}), "zh")
    assert [one.reply(text).text for text in ("您的电话是多少？", "为什么？", "好")] == [
        "五五五。",
        "我不知道。",
        "好的。",
    ]


def test_an_english_phrase_is_heard_within_chinese_text() -> None:
    one = ScriptedUser()
    one.start(UserSpec.model_validate({"opening": "你好", "facts": {"p": {"when": ["email"], "say": "a@b.c"}}}), "zh")
    assert one.reply("请问您的email是什么？").text == "a@b.c"


def test_a_changed_mind_changes_wants_and_adds_facts() -> None:
    one = user(**PHONE, wants=[{"tool": "renew_loan", "arguments": {"days": 7}}])
    assert one.confirm("renew_loan", {"days": 7}).granted
    one.change(UserChange(wants=[Want(tool="add_note")], facts={"mail": Fact(when=["mail"], say="a@b.c")}))
    assert not one.confirm("renew_loan", {"days": 7}).granted and one.confirm("add_note", {"body": "x"}).granted
    assert one.reply("phone, mail?").text == "It is 555-0100. a@b.c"
    one.change(UserChange(say="Oh."))
    assert one.confirm("add_note", {}).granted


@pytest.mark.parametrize(
    ("wanted", "found", "agreed"),
    [
        ({}, {"days": 7}, True),
        ({"days": 7}, {"days": 7, "loan_id": "L1"}, True),
        ({"days": 7}, {"days": 8}, False),
        ({"days": 7}, {"days": "7"}, False),
        ({"days": 7}, {}, False),
        ({"days": 1}, {"days": True}, False),
        ({"days": {"any_of": [7, {"min": 20}]}}, {"days": 21}, True),
        ({"days": {"any_of": [7, 8]}}, {"days": 9}, False),
        ({"days": {"min": 7, "max": 9}}, {"days": 9}, True),
        ({"days": {"min": 7}}, {"days": True}, False),
        ({"days": {"max": 9}}, {"days": "8"}, False),
        ({"items": ["a", "b"]}, {"items": ["b", "a"]}, False),
        ({"key": None}, {"key": None}, True),
    ],
)
def test_a_want_covers_what_it_names(wanted: Any, found: Any, agreed: bool) -> None:
    assert agrees(wanted, found) is agreed


def test_the_state_of_a_user_is_json_and_goes_on_alike() -> None:
    one = user(**PHONE, pressure=["a", "b"], patience=3)
    one.reply("x")
    one.confirm("renew_loan", {})
    one.change(UserChange(wants=[Want(tool="add_note")]))
    two = user(**PHONE, pressure=["a", "b"], patience=3)
    two.set_state(json.loads(json.dumps(one.get_state())))
    for each in (one, two):
        assert [each.reply("x").text, each.reply("x").text] == ["b", "OK."]
        assert each.confirm("add_note", {}).granted
        assert [each.confirm("x", {}).leaves for _ in range(2)] == [False, True]


def test_make_user_takes_a_name_a_callable_or_a_user_and_tells_what_it_expects() -> None:
    own = ScriptedUser()
    assert make_user(own) is own and isinstance(make_user("scripted"), ScriptedUser)
    assert make_user(lambda message: message[::-1]).reply("abc").text == "cba"
    with pytest.raises(ValueError, match="expected user=\"scripted\", a callable or a User, got 'human'"):
        make_user("human")
    with pytest.raises(TypeError, match='expected user="scripted", a callable or a User, got int'):
        make_user(3)


def test_a_callable_that_gives_no_string_is_infrastructure_and_the_next_reset_is_clean(tiny: Make) -> None:
    env = tiny(user=lambda message: None)
    env.reset(seed=1)
    _, _, terminated, truncated, info = env.step("Hello")
    assert (terminated, truncated, info["end_reason"]) == (False, True, "infrastructure")
    assert (
        env.verdict is not None and env.verdict.error == "TypeError: a user callable must return a string, got NoneType"
    )
    env.reset(seed=1)
    assert env.step(LOOK)[0]["role"] == "tool"


@pytest.mark.parametrize("dirty", ["half \ud83d", "nul \x00", "\ud83d\ude00"])
def test_words_of_a_user_that_cannot_be_written_are_shown_visibly(tiny: Make, dirty: str) -> None:
    env = tiny(user=lambda message: dirty)
    env.reset(seed=1)
    observation, *_ = env.step("Hello")
    assert observation in env.observation_space and observation["role"] == "user"
    json.dumps(env.trace[-1].to_json()).encode()


class Counting:
    """A callable with state of its own."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, message: str) -> str:
        self.count += 1
        return f"{self.count}: {message}"


def test_a_deep_copy_copies_the_state_of_a_callable_user(tiny: Make) -> None:
    env = tiny(user=Counting())
    env.reset(seed=1)
    assert env.step("a")[0]["content"] == "1: a"
    twin = copy.deepcopy(env)
    assert [env.step("b")[0]["content"], env.step("c")[0]["content"]] == ["2: b", "3: c"]
    assert twin.step("d")[0]["content"] == "2: d"
    twin.reset(seed=1)
    assert (twin.step("e")[0]["content"], env.step("f")[0]["content"]) == ("3: e", "4: f")
    twin.close()


class Own(ScriptedUser):
    """A user of one's own: grants everything, then leaves by a field, whatever the text says."""

    def reply(self, message: str) -> Reply:
        return Reply("I stay forever.", leaves=message == "bye")

    def confirm(self, tool: str, arguments: Any) -> Confirmation:
        return Confirmation(True, "no")


def test_a_user_of_ones_own_speaks_by_fields_not_by_words(tiny: Make) -> None:
    env = tiny(user=Own())
    env.reset(seed=1, options={"scenario": variant()})
    steps = play(env, [confirm("renew_loan", loan_id="L101", days=7), "###STOP### goodbye, I am leaving", "bye"])
    assert json.loads(steps[0][0]["content"]) == {"confirmed": True, "reply": "no"}
    assert [step[4]["end_reason"] for step in steps] == ["", "", "user_left"]
    assert steps[2][2] and not steps[2][3]


def test_the_conversation_stays_open_after_a_yes(tiny: Make) -> None:
    env = tiny()
    env.reset(seed=1, options={"scenario": variant()})
    assert [step[2] for step in play(env, [CONFIRM, "Thank you", call("wait", seconds=5)])] == [False, False, False]


def test_a_wrapper_puts_another_user_in_for_its_episodes_only_and_the_outermost_counts(tiny: Make) -> None:
    base = tiny()
    wrapped = SimulatedUser(SimulatedUser(base, lambda message: "inner"), lambda message: "outer")
    wrapped.reset(seed=1)
    assert wrapped.step("Hello?")[0]["content"] == "outer"
    base.reset(seed=1)
    assert base.step("Hello?")[0]["content"] == "I don't know."
    with pytest.raises(ValueError, match="there is no scenario 'tiny/none'"):
        wrapped.reset(options={"scenario": "tiny/none"})
    base.reset(seed=1)
    assert base.step("Hello?")[0]["content"] == "I don't know."


def test_the_users_of_copies_are_their_own(tiny: Make) -> None:
    env = SimulatedUser(tiny(), Counting())
    env.reset(seed=1)
    env.step("a")
    twin = copy.deepcopy(env)
    assert [env.step("b")[0]["content"], twin.step("c")[0]["content"]] == ["2: b", "2: c"]
    twin.reset(seed=1)
    assert twin.step("d")[0]["content"] == "3: d"
    assert env.step("e")[0]["content"] == "3: e"
    twin.close()


def test_a_saved_state_goes_on_with_the_wrappers_user(tiny: Make) -> None:
    env = SimulatedUser(tiny(), Own())
    env.reset(seed=1, options={"scenario": variant()})
    state = env.unwrapped.save_state()  # type: ignore[attr-defined]
    env.step(LOOK)
    env.unwrapped.restore_state(state)  # type: ignore[attr-defined]
    assert env.step("Hello?")[0]["content"] == "I stay forever."
