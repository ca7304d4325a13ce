"""A user that is a model behind a real endpoint on loopback: each of its faults is found, counted and made harmless."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import pytest
import rollout_parts  # noqa: F401 - registers the environment
from fault_server import FaultServer, Reply, Script, assistant, completion, free_port, tool_call
from spawned import CONFIRM, TinyEnv, confirm, variant

from agentgym.cli import main
from agentgym.model_user import ModelUser
from agentgym.rollout import Rollout, run_cells
from agentgym.store import Store
from agentgym.user_faults import consents, invented
from agentgym.user_report import UserReport, report
from agentgym.users import make_user
from agentgym.wrappers import SimulatedUser

Make = Callable[..., TinyEnv]
FACT = "It is the blue card, number 40017."
SPEC = {
    "opening": "Hello, Ada here, ada@example.org. Please renew loan L101 until the 20th.",
    "facts": {"card": {"when": ["card"], "say": FACT}},
    "wants": [{"tool": "renew_loan", "arguments": {"days": 14}}],
    "patience": 2,
}


def says(text: str) -> Script:
    return lambda request: completion(assistant(content=text), "stop")


def calls(name: str, **arguments: Any) -> Script:
    return lambda request: completion(assistant(tool_call(name, json.dumps(arguments))))


def played(
    server: FaultServer, *actions: Any, spec: dict[str, Any] | None = None, **settings: Any
) -> gym.Env[Any, Any]:
    """An environment in which the actions were taken with a user of this server."""
    one = ModelUser("m", server.url, max_retries=0, **settings)
    env = SimulatedUser(TinyEnv(split="test"), one)
    env.reset(seed=1, options={"scenario": variant(user=spec or SPEC)})
    for action in actions:
        env.step(action)
    assert server.refused == []
    return env


def rows(env: gym.Env[Any, Any]) -> list[Any]:
    return [(step.shown, step.user_faults) for step in env.unwrapped.trace]  # type: ignore[attr-defined]


def test_the_model_gets_persona_facts_and_wishes_and_what_it_says_is_shown() -> None:
    with FaultServer(says("Number 40017, the blue one.")) as server:
        env = played(server, "Your card?", persona="a hasty student")
    assert rows(env) == [("Number 40017, the blue one.", [])]
    system, opening, asked = server.requests[0]["messages"]
    assert all(text in system["content"] for text in ("a hasty student", FACT, 'renew_loan {"days": 14}', "in English"))
    assert opening == {"role": "assistant", "content": SPEC["opening"]}
    assert asked == {"role": "user", "content": "Your card?"}


@pytest.mark.parametrize(
    "words",
    [
        "It is the card 51234.",
        "I think it was loan L777.",
        "I borrowed it on Monday.",
        "Ask Jonathan about it.",
        "Write to bob@example.org.",
        "That makes twelve euros.",
    ],
)
def test_a_user_that_invents_is_counted_and_the_scripted_words_are_shown(words: str) -> None:
    with FaultServer(says(words)) as server:
        env = played(server, "Your card, please?", "What is your shoe size?")
    assert rows(env) == [(FACT, ["invents"]), ("I don't know.", ["invents"])]


def test_a_user_that_repeats_what_it_knows_or_was_told_is_not_at_fault() -> None:
    with FaultServer(says("Ada, loan L101 until the 20th, card 40017, and you said 12.50 EUR on Friday.")) as server:
        env = played(server, "The fine is EUR 12.5, due on Friday. Your card?")
    assert [faults for _, faults in rows(env)] == [[]]


def test_a_user_that_wants_to_leave_early_is_counted_and_stays() -> None:
    with FaultServer(calls("leave", reason="bored")) as server:
        env = played(server, "Hello?", "One moment.", CONFIRM)
    assert [faults for _, faults in rows(env)] == [["ends_early"]] * 3
    assert env.unwrapped.trace[-1].granted is True  # type: ignore[attr-defined]
    assert env.step("Still there?")[2] is False


@pytest.mark.parametrize("words", ["###STOP###", "Goodbye, I am leaving.", '{"leaves": true}'])
def test_no_words_of_the_model_end_the_conversation(words: str) -> None:
    with FaultServer(says(words)) as server:
        env = played(server, "Hello?")
        assert env.step("Still there?")[2] is False


def test_a_user_that_never_ends_is_taken_out_at_the_bound() -> None:
    with FaultServer(says("And another thing.")) as server:
        env = played(server, *["I see."] * 4, max_messages=3)
    base: Any = env.unwrapped
    assert [step.user_faults for step in base.trace] == [[], [], [], ["never_ends"]]
    assert base.verdict.end_reason == "user_left"
    assert len(server.requests) == 3


def test_a_user_that_gives_in_is_counted_and_consent_follows_the_wants() -> None:
    with FaultServer(calls("decide", agree=True, words="Yes, gladly.")) as server:
        env = played(server, confirm("renew_loan", loan_id="L101", days=28), CONFIRM)
    base: Any = env.unwrapped
    assert [(step.granted, step.user_faults) for step in base.trace] == [(False, ["gives_in"]), (True, [])]
    shown = [json.loads(step.shown)["reply"] for step in base.trace]
    assert shown == ["No, I don't want that.", "Yes, gladly."]


def test_a_user_that_refuses_what_it_wants_or_gives_no_decision_is_counted() -> None:
    with FaultServer(calls("decide", agree=False, words="Never.")) as server:
        env = played(server, CONFIRM)
        assert env.unwrapped.trace[0].user_faults == ["balks"]  # type: ignore[attr-defined]
    with FaultServer(says("Hm.")) as server:
        env = played(server, CONFIRM)
    step = env.unwrapped.trace[0]  # type: ignore[attr-defined]
    assert (step.granted, step.user_faults) == (True, ["silent"])


def test_a_yes_in_words_by_a_user_that_wants_nothing_is_giving_in() -> None:
    with FaultServer(says("All right, go ahead.")) as server:
        env = played(server, "I could renew it for a month.", spec={**SPEC, "wants": []})
    assert rows(env) == [("OK.", ["gives_in"])]


def test_patience_ends_with_a_model_as_with_a_script() -> None:
    with FaultServer(calls("decide", agree=False, words="No.")) as server:
        env = played(server, *[confirm("renew_loan", loan_id="L101", days=28)] * 2)
    base: Any = env.unwrapped
    assert base.verdict.end_reason == "user_left" and base.trace[-1].user_faults == []


@pytest.mark.parametrize(
    "broken", [Reply({"error": {"message": "down"}}, 503), Reply(b"{", 200), Reply({"choices": []}), Reply(close=True)]
)
def test_an_endpoint_that_fails_is_infrastructure(broken: Reply) -> None:
    with FaultServer(lambda request: broken) as server:
        env = played(server, "Hello?")
    base: Any = env.unwrapped
    assert base.verdict.end_reason == "infrastructure"
    assert base.verdict.error.startswith("EndpointError: the simulated user's endpoint http://127.0.0.1")


def test_a_user_goes_on_alike_from_a_saved_state_and_in_a_copy() -> None:
    with FaultServer(
        lambda request: completion(assistant(content="I see. " * len(request["messages"])), "stop")
    ) as server:
        env = played(server, "One.", "Again.")
        state = env.unwrapped.save_state()  # type: ignore[attr-defined]
        twin = copy.deepcopy(env)
        first = [env.step("And?")[0]["content"], twin.step("And?")[0]["content"]]
        env.unwrapped.restore_state(state)  # type: ignore[attr-defined]
        assert [*first, env.step("And?")[0]["content"]] == ["I see. I see. I see. I see. I see. I see. I see."] * 3
        twin.close()


def test_a_text_names_a_model_user_and_wrong_ones_are_told() -> None:
    made = make_user("model:model=m1,base_url=http://127.0.0.1:1/v1,persona=a lawyer,max_messages=5")
    assert isinstance(made, ModelUser) and made.endpoint.model == "m1"
    with pytest.raises(ValueError, match='user "model:persona=x": no model; write "model:model=NAME,base_url=URL"'):
        make_user("model:persona=x")
    with pytest.raises(ValueError, match="unexpected keyword argument 'colour'"):
        make_user("model:model=m,base_url=http://x,colour=red")
    with pytest.raises(ValueError, match="user option api_key would stand in the result store"):
        make_user("model:model=m,api_key=sk")
    with pytest.raises(ValueError, match="expected max_messages ≥ 1, got 0"):
        ModelUser("m", "http://x", max_messages=0)


def test_the_report_counts_replies_faults_and_episodes() -> None:
    talk = {"ran": {"name": "respond", "arguments": {}}, "role": "user"}
    found = report(
        [
            {"agent": "a", "trace": [{**talk, "user_faults": ["invents", "ends_early"]}, talk, {"ran": None}]},
            {"agent": "a", "trace": [talk, {**talk, "user_faults": []}]},
            {"agent": "b", "trace": None},
        ]
    )
    assert list(found) == ["a"]
    assert found["a"].to_json() == {
        "episodes": 2,
        "replies": 4,
        "faulty": 1,
        "faulty_episodes": 1,
        "faults": {"ends_early": 1, "invents": 1},
        "rate": 0.25,
        "interval": list(found["a"].interval()),
    }
    with pytest.raises(ValueError, match="undefined: the user gave no answer"):
        UserReport().rate  # noqa: B018


def test_a_run_with_a_model_user_keeps_its_faults_and_the_command_shows_the_rate(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    with FaultServer(calls("decide", agree=True, words="Yes, and bring 99 books.")) as server:
        rollout = Rollout(
            rollout_parts.ENV, ("rollout_parts:Gold",), user=f"model:model=m,base_url={server.url},max_retries=0"
        )
        with rollout.open(tmp_path / "run.db") as store:
            assert run_cells(store, workers=1).keys() == {"done"}
    assert main(["users", str(tmp_path / "run.db"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["rollout_parts:Gold"]
    assert found["faults"]["invents"] > 0 and found["rate"] == 1.0
    assert main(["users", str(tmp_path / "run.db")]) == 0
    assert "gives in" in capsys.readouterr().out


def test_a_dead_endpoint_of_the_user_leaves_the_trial_missing(tmp_path: Any) -> None:
    user = f"model:model=m,base_url=http://127.0.0.1:{free_port()}/v1,max_retries=0"
    with Rollout(rollout_parts.ENV, ("rollout_parts:Gold",), user=user).open(tmp_path / "run.db") as store:
        run_cells(store, workers=1)
        assert {row["error_kind"] for row in store.rows() if row["status"] == "error"} == {"infrastructure"}


@pytest.mark.parametrize(
    ("text", "known", "found"),
    [
        ("It is A1007.", "order A1007", []),
        ("It was 1,234.50 euros", "you pay 1234.5", []),
        ("On the 3rd.", "the 3rd of May", []),
        ("I paid 20 dollars.", "twenty dollars", []),
        ("One or two more things.", "", []),
        ("Hello! Thanks, OK. I'm fine.", "", []),
        ("In Vienna, by Maria.", "", ["Vienna", "Maria"]),
        ("五百元，3月8日。", "3月8日", ["五百"]),
    ],
)
def test_values_that_cannot_be_known_are_found(text: str, known: str, found: list[str]) -> None:
    assert invented(text, known) == found


@pytest.mark.parametrize(
    ("text", "yes"),
    [
        ("OK, please do that.", True),
        ("Fine, I accept.", True),
        ("I don't agree.", False),
        ("Yes, I see the point.", False),
        ("我同意。", True),
        ("我不同意。", False),
    ],
)
def test_a_yes_is_told_from_other_words(text: str, yes: bool) -> None:
    assert consents(text) is yes


def test_the_store_is_read_without_a_model(tmp_path: Any) -> None:
    with Rollout(rollout_parts.ENV, ("rollout_parts:Gold",)).open(tmp_path / "run.db") as store:
        run_cells(store, workers=1)
    with Store.read(tmp_path / "run.db") as store:
        assert report(store.rows())["rollout_parts:Gold"].faulty == 0
