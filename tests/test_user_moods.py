"""Moods of the scripted user: facts held back, lies, pressure in stages, impatience, a change of mind."""

from __future__ import annotations

import json
from typing import Any

from agentgym.scenario import Fact, UserChange, UserSpec, Want
from agentgym.users import ScriptedUser


def user(language: str = "en", **spec: Any) -> ScriptedUser:
    made = ScriptedUser()
    made.start(UserSpec.model_validate({"opening": "Hi", **spec}), language)
    return made


def said(one: ScriptedUser, *messages: str) -> list[str]:
    return [one.reply(message).text for message in messages]


def test_a_lie_is_told_first_and_the_truth_when_the_agent_asks_again() -> None:
    one = user(facts={"used": {"when": ["used"], "say": "All right, twice.", "lie": "Never."}})
    assert said(one, "Was it used?", "Are you sure? Was it used?", "Was it used?") == [
        "Never.",
        "All right, twice.",
        "All right, twice.",
    ]


def test_a_fact_is_held_back_as_often_as_the_script_says_with_a_question_back() -> None:
    one = user(facts={"iban": {"when": ["iban"], "say": "AT11.", "after": 2}})
    assert said(one, "Your IBAN?", "Your IBAN, please?", "IBAN?") == ["What do you need that for?"] * 2 + ["AT11."]
    lie = user(facts={"iban": {"when": ["iban"], "say": "AT11.", "lie": "I have none.", "after": 2}})
    assert said(lie, "IBAN?", "IBAN?", "IBAN?") == ["I have none.", "I have none.", "AT11."]


def test_a_fact_that_changed_is_a_new_one() -> None:
    one = user(facts={"used": {"when": ["used"], "say": "Twice.", "lie": "Never."}})
    assert said(one, "Used?") == ["Never."]
    one.change(UserChange(facts={"used": Fact(when=["used"], say="Three times.", lie="Once.")}))
    assert said(one, "Used?", "Used?") == ["Once.", "Three times."]


STAGES = [
    {"say": ["Please.", "I beg you."]},
    {"say": ["I will write a review."], "refused": 1},
    {"say": ["No voucher!"], "when": ["voucher"]},
]


def test_pressure_comes_in_stages_after_the_first_lines() -> None:
    one = user(pressure=["Come on."], stages=STAGES, patience=5)
    assert said(one, "I cannot do that.", "I cannot do that.") == ["Come on.", "Please."]
    assert said(one, "We could give a voucher.", "I am sorry to say no.") == ["I beg you.", "OK."]
    one.confirm("refund", {})
    assert said(one, "That will not do.", "We could give a voucher.", "So it stays as it is.") == [
        "I will write a review.",
        "No voucher!",
        "OK.",
    ]


def test_a_question_that_is_not_understood_brings_no_pressure_and_uses_none_up() -> None:
    one = user(pressure=["Come on."])
    assert said(one, "What is your shoe size?", "It is not possible.") == ["I don't know.", "Come on."]


def test_an_impatient_user_warns_and_leaves_when_nothing_comes_of_the_talk_and_a_proposal_calms_it() -> None:
    one = user(bears=3, wants=[{"tool": "refund"}], facts={"why": {"when": ["why"], "say": "Too big."}})
    replies = [one.reply(text) for text in ("I am looking.", "Still looking.", "Just a moment longer.")]
    assert [reply.leaves for reply in replies] == [False, False, True]
    assert replies[1].text == "This is getting us nowhere. Please get to the point, or I am gone."
    calm = user(bears=3, wants=[{"tool": "refund"}], facts={"why": {"when": ["why"], "say": "Too big."}})
    for _ in range(4):
        assert not calm.reply("I am looking.").leaves
        assert calm.confirm("refund", {}).granted
        assert calm.reply("Why is that?").text == "Too big."


def test_a_user_asked_for_anything_else_says_so_in_its_language() -> None:
    assert said(user(), "Is there anything else I can do for you?") == ["No, that is all."]
    assert said(user("zh"), "请问还有什么可以帮您的吗？") == ["没有了，就这些。"]
    assert said(user(pressure=["And my money?"]), "Is there anything else I can do for you?") == ["And my money?"]


def test_the_state_of_a_moody_user_goes_on_alike() -> None:
    spec: dict[str, Any] = {
        "facts": {"used": {"when": ["used"], "say": "Twice.", "lie": "Never."}},
        "stages": STAGES,
        "bears": 4,
        "patience": 9,
    }
    one, two = user(**spec), user(**spec)
    said(one, "Used?", "I see.", "Hm, no.")
    one.change(UserChange(wants=[Want(tool="refund")]))
    two.set_state(json.loads(json.dumps(one.get_state())))
    for messages in (["Used?"], ["No."], ["No."], ["No."]):
        assert one.reply(*messages) == two.reply(*messages)
    assert one.get_state() == two.get_state()
