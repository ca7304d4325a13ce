"""A user whose words come from a model; what it agrees to still follows the scenario, and its faults are counted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agentgym.endpoint import Answer, Endpoint
from agentgym.scenario import UserChange, UserSpec
from agentgym.user_faults import consents, invented
from agentgym.users import Confirmation, Reply, ScriptedUser, phrases

_RULES = """\
You are the customer in a conversation with a service agent. The other side is the agent. Stay the customer.
- You know only what stands below. To every other question say that you do not know. Never make up a number, an order,
  a date, an amount, an address or a name.
- Tell a fact only when you are asked for it. One to three sentences a message, in {language}.
- Agree only to what you want. If you are asked to decide on a proposal, call `decide`.
- You cannot end the conversation by words. Call `leave` only when the agent has refused you again and again."""

_LANGUAGES = {"en": "English", "zh": "Chinese"}


def _tool(name: str, description: str, **properties: dict[str, str]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


_LEAVE = _tool("leave", "End the conversation, for good.", reason={"type": "string"})
_DECIDE = _tool(
    "decide",
    "Say yes or no to the call that the agent proposes.",
    agree={"type": "boolean"},
    words={"type": "string", "description": "what you say to the agent"},
)


class ModelUser(ScriptedUser):
    """A user played by a model behind an OpenAI-compatible endpoint.

    It has the persona, the facts and the wishes of the scenario. Whatever it says, consent follows the scenario's
    wants, and it leaves when the scripted user would. A message with a fault is replaced by what the script says, so
    that the episode stays valid; the fault is reported with the reply and kept in the trace (`agentgym.user_faults`).

    Args:
        model: name of the model at the endpoint.
        base_url: where the endpoint is; None is OpenAI's own.
        persona: who it is, where the scenario does not say.
        model_seed: goes with each request, with the number of the message added; None sends none.
        max_messages: after so many messages in an episode it is taken out of the conversation.
        **settings: see `agentgym.endpoint.Endpoint`.

    Raises:
        ValueError: a number is out of range, or there is no key for OpenAI's own endpoint.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        persona: str = "",
        model_seed: int | None = None,
        max_messages: int = 30,
        **settings: Any,
    ) -> None:
        super().__init__()
        if max_messages < 1:
            raise ValueError(f"expected max_messages ≥ 1, got {max_messages}")
        self.endpoint = Endpoint(model, base_url, **settings)
        self._persona, self._model_seed, self._bound = persona, model_seed, max_messages
        self._language, self._opening = "en", ""
        self._history: list[dict[str, str]] = []
        self._heard: list[str] = []
        self._asked_model = 0

    def start(self, spec: UserSpec, language: str) -> None:
        """Begin an episode."""
        super().start(spec, language)
        self._language = language
        self._history = [{"role": "assistant", "content": spec.opening}]
        self._heard, self._asked_model = [], 0

    def reply(self, message: str) -> Reply:
        """Let the model answer.

        Raises:
            EndpointError: the endpoint failed: infrastructure.
        """
        scripted = super().reply(message)
        self._heard.append(message)
        if len(self._heard) > self._bound:
            return Reply(phrases(self._language)["gone"], True, ("never_ends",))
        answer = self._ask(message, [_LEAVE])
        text, faults = self._checked(answer)
        if any(name == "leave" for name, _ in answer.calls):
            faults.append("ends_early")
        elif not answer.text:
            faults.append("silent")
        text = text or scripted.text
        self._history.append({"role": "assistant", "content": text})
        return Reply(text, scripted.leaves, tuple(faults))

    def confirm(self, tool: str, arguments: Mapping[str, Any]) -> Confirmation:
        """Let the model decide, count where it decides otherwise than its wants, and follow these.

        Raises:
            EndpointError: the endpoint failed: infrastructure.
        """
        right = super().confirm(tool, arguments)
        proposal = f"I propose this call: {tool} {json.dumps(dict(arguments), ensure_ascii=False)}. Please decide."
        self._heard.append(proposal)
        answer = self._ask(proposal, [_DECIDE, _LEAVE])
        decided = [given for name, given in answer.calls if name == "decide" and isinstance(given.get("agree"), bool)]
        words = str(decided[0].get("words") or "") if decided else ""
        text, faults = self._checked(Answer(words, []), proposed=True)
        if any(name == "leave" for name, _ in answer.calls) and not right.leaves:
            faults.append("ends_early")
        elif not decided:
            faults.append("silent")
        agreed = bool(decided and decided[0]["agree"])
        if decided and agreed != right.granted:
            faults.append("gives_in" if agreed else "balks")
        text = text if decided and agreed == right.granted and text else right.text
        self._history.append({"role": "assistant", "content": text})
        return Confirmation(right.granted, text, right.leaves, tuple(faults))

    def change(self, change: UserChange) -> None:
        """Take up new wants and facts, and that it said so."""
        super().change(change)
        if change.say:
            self._history.append({"role": "assistant", "content": change.say})

    def get_state(self) -> dict[str, Any]:
        """The script's state and the conversation."""
        own = {"history": self._history, "heard": self._heard, "asked_model": self._asked_model}
        return {**super().get_state(), "model": json.loads(json.dumps(own))}

    def set_state(self, state: dict[str, Any]) -> None:
        """Take up a state."""
        super().set_state(state)
        own = state["model"]
        self._history, self._heard = [dict(each) for each in own["history"]], list(own["heard"])
        self._asked_model = own["asked_model"]

    def _ask(self, message: str, tools: list[dict[str, Any]]) -> Answer:
        self._history.append({"role": "user", "content": message})
        self._asked_model += 1
        seed = None if self._model_seed is None else (self._model_seed + self._asked_model) % 2**31
        return self.endpoint.ask([{"role": "system", "content": self._system()}, *self._history], tools, seed)

    def _checked(self, answer: Answer, proposed: bool = False) -> tuple[str, list[str]]:
        """The words, "" where they cannot be used, and their faults."""
        faults = []
        if invented(answer.text, self._known()):
            faults.append("invents")
        if not proposed and not self._wants and consents(answer.text):
            faults.append("gives_in")
        return ("" if faults else answer.text), faults

    def _known(self) -> str:
        """All that the user may say values of: its script, and what was said so far."""
        spec = self._spec
        lines = [spec.opening, spec.persona, self._persona, *spec.pressure, *self._heard]
        lines += [line for stage in spec.stages for line in stage.say]
        lines += [text for fact in self._facts.values() for text in (fact.say, fact.lie)]
        lines += [entry["content"] for entry in self._history if entry["role"] == "assistant"]
        lines += [json.dumps(want.arguments, ensure_ascii=False) for want in self._wants]
        return "\n".join(lines)

    def _system(self) -> str:
        facts = [self._fact(name) for name in self._facts]
        wants = [f"- {want.tool} {json.dumps(want.arguments, ensure_ascii=False)}" for want in self._wants]
        parts = [
            _RULES.format(language=_LANGUAGES[self._language]),
            f"Who you are: {self._spec.persona or self._persona or 'a customer'}",
            "What you know, told only when asked:\n" + ("\n".join(facts) or "- nothing more than your first message"),
            "Calls that you would agree to:\n" + ("\n".join(wants) or "- none"),
        ]
        if self._spec.pressure:
            parts.append(
                "What you say when you are refused:\n" + "\n".join(f"- {line}" for line in self._spec.pressure)
            )
        return "\n\n".join(parts)

    def _fact(self, name: str) -> str:
        fact = self._facts[name]
        if fact.held_back:
            first = fact.lie or "(ask back what it is good for)"
            return f"- {name}: the first {fact.held_back} times say: {first} Only when asked again: {fact.say}"
        return f"- {name}: {fact.say}"
