"""One question to an OpenAI-compatible endpoint, for models that play a part in the environment itself."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agentgym.agent import Usage
from agentgym.errors import EndpointError


class Answer(NamedTuple):
    """What a model answered: its words, "" for none, and its calls, each a name with parsed arguments."""

    text: str
    calls: list[tuple[str, dict[str, Any]]]


@dataclass
class Endpoint:
    """A model behind ``/chat/completions``.

    Args:
        model: name of the model there.
        base_url: where it is, such as "http://127.0.0.1:8000/v1"; None is OpenAI's own.
        api_key_env: environment variable that holds the key; it may be unset where a base URL is given.
        temperature: None leaves it to the endpoint.
        max_tokens: bound of one answer, tokens.
        max_retries: how often a failed request is tried again, where that can help.
        timeout_s: longest wait for one answer, seconds.
        extra_body: further fields of each request.

    Attributes:
        usage: what all answers so far cost.

    Raises:
        ValueError: no key is set for OpenAI's own endpoint, or a number is out of range.
    """

    model: str
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    temperature: float | None = 0.0
    max_tokens: int | None = 400
    max_retries: int = 3
    timeout_s: float = 60.0
    extra_body: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.usage = Usage()
        if self.max_retries < 0 or self.timeout_s <= 0:
            raise ValueError(f"expected max_retries ≥ 0 and timeout_s > 0, got {self.max_retries} and {self.timeout_s}")
        if self.base_url is None and not os.environ.get(self.api_key_env):
            raise ValueError(f"no API key: set {self.api_key_env}, or give the base URL of an endpoint without keys")

    def ask(self, messages: list[dict[str, str]], tools: list[dict[str, Any]], seed: int | None = None) -> Answer:
        """Send a conversation and return the answer.

        Raises:
            EndpointError: no usable answer after the retries.
        """
        import openai

        given = {"temperature": self.temperature, "max_tokens": self.max_tokens, "seed": seed}
        request: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        key = os.environ.get(self.api_key_env) or "none"
        request |= {"model": self.model, "messages": messages, "tools": tools, "extra_body": self.extra_body or None}
        try:
            with openai.OpenAI(
                base_url=self.base_url, api_key=key, timeout=self.timeout_s, max_retries=self.max_retries
            ) as client:
                answer: Any = client.chat.completions.create(**request)
        except openai.APIError as error:
            said = " ".join(str(error).split())[:200].replace(key, "***")
            raise EndpointError(f"{self._where} failed after {self.max_retries} retries: {said}") from error
        except ValueError as error:
            # The client lets the decoder's own errors through.
            raise EndpointError(f"{self._where} answered with a body that cannot be read: {error}") from error
        choices = getattr(answer, "choices", None)
        message = getattr(choices[0], "message", None) if isinstance(choices, list) and choices else None
        if message is None:
            raise EndpointError(f"{self._where} answered without a message; check that it speaks /chat/completions")
        self._count(answer)
        return Answer(_text(message), _calls(message))

    @property
    def _where(self) -> str:
        return f"the simulated user's endpoint {self.base_url or 'api.openai.com'} (model {self.model})"

    def _count(self, answer: Any) -> None:
        used = [getattr(getattr(answer, "usage", None), name, None) for name in ("prompt_tokens", "completion_tokens")]
        prompt, completion = (value if isinstance(value, int) and value > 0 else 0 for value in used)
        self.usage += Usage(1, prompt, completion)


def _text(message: Any) -> str:
    content = getattr(message, "content", None)
    return content.strip() if isinstance(content, str) else ""


def _calls(message: Any) -> list[tuple[str, dict[str, Any]]]:
    """The calls that can be read; others are as if they were not there."""
    found = []
    calls = getattr(message, "tool_calls", None)
    for call in calls if isinstance(calls, list) else []:
        function = getattr(call, "function", None)
        try:
            arguments = json.loads(getattr(function, "arguments", None) or "{}")
        except (TypeError, ValueError):
            continue
        if isinstance(arguments, dict):
            found.append((str(getattr(function, "name", "")), arguments))
    return found
