"""A tool-calling agent over any OpenAI-compatible endpoint.

::

    python -m agentgym.baselines.openai_agent Refund-v0 --scenario refund/partial-001 \
        --model MODEL --base-url http://127.0.0.1:8000/v1
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import gymnasium as gym

from agentgym import ChatSession, EndpointError, Usage

if TYPE_CHECKING:
    import openai

_ADVICE = {
    400: "the request does not suit this model; check that it takes tools and the length of its context",
    401: "check the API key in ${key}",
    403: "the API key in ${key} may not use this model",
    404: "check the model's name and that the base URL ends where /chat/completions begins (often in /v1)",
    429: "run fewer episodes at once, wait, or raise max_retries",
}


@dataclass
class OpenAIAgent:
    """Plays an episode with a model's tool calls.

    Args:
        model: name of the model at the endpoint.
        base_url: where the endpoint is, such as "http://127.0.0.1:8000/v1"; None is OpenAI's own.
        api_key_env: environment variable that holds the key; it may be unset where a base URL is given.
        temperature: None leaves it to the endpoint.
        model_seed: with the episode's seed added it goes with each request, so that trials differ; None sends none.
        max_tokens: bound of one answer, tokens.
        max_retries: how often a failed request is tried again, where that can help; waits grow, and the endpoint's own
            ``retry-after`` is followed.
        timeout_s: longest wait for one answer, seconds.
        price_prompt: US dollars for a million prompt tokens.
        price_completion: US dollars for a million completion tokens.
        price_cached: US dollars for a million cached prompt tokens; None: as other prompt tokens.
        extra_body: further fields of each request.
        name: in result tables; by default "openai/MODEL".

    Attributes:
        usage: what the last episode cost, also where it failed.
        call_seconds: wall time of each model call of the last episode.

    Raises:
        ValueError: no key is set for OpenAI's own endpoint, or a number is out of range.
    """

    model: str
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    temperature: float | None = 0.0
    model_seed: int | None = None
    max_tokens: int | None = None
    max_retries: int = 4
    timeout_s: float = 120.0
    price_prompt: float = 0.0
    price_completion: float = 0.0
    price_cached: float | None = None
    extra_body: dict[str, Any] = field(default_factory=dict)
    name: str = ""

    def __post_init__(self) -> None:
        self.name = self.name or f"openai/{self.model}"
        self.usage = Usage()
        self.call_seconds: list[float] = []
        if self.max_retries < 0 or self.timeout_s <= 0:
            raise ValueError(f"expected max_retries ≥ 0 and timeout_s > 0, got {self.max_retries} and {self.timeout_s}")
        if self.base_url is None and not os.environ.get(self.api_key_env):
            raise ValueError(f"no API key: set {self.api_key_env}, or give the base URL of an endpoint without keys")

    def run(self, env: gym.Env[Any, Any], *, seed: int | None, options: dict[str, Any]) -> Usage:
        """Play one episode and return what it cost.

        Raises:
            EndpointError: the endpoint failed after the retries.
        """
        self.play(ChatSession(env), seed=seed, options=options)
        return self.usage

    def play(self, session: ChatSession, *, seed: int | None, options: dict[str, Any]) -> None:
        """Play one episode in *session*, whose messages can be read afterwards. Raises as `run`."""
        import openai

        self.usage, self.call_seconds = Usage(), []
        session.reset(seed=seed, options=options)
        request = self._request(seed)
        key = os.environ.get(self.api_key_env) or "none"
        with openai.OpenAI(
            base_url=self.base_url, api_key=key, timeout=self.timeout_s, max_retries=self.max_retries
        ) as client:
            while not session.done:
                choice = self._ask(client, {**request, "messages": session.messages, "tools": session.tools})
                session.send(choice.message, choice.finish_reason)

    def _request(self, seed: int | None) -> dict[str, Any]:
        given = {
            "model": self.model,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "seed": None if self.model_seed is None else (self.model_seed + (seed or 0)) % 2**31,
            "extra_body": self.extra_body or None,
        }
        return {key: value for key, value in given.items() if value is not None}

    def _ask(self, client: openai.OpenAI, request: dict[str, Any]) -> Any:
        """Return the first choice of a completion. An answer that is none is asked for again like a failed request."""
        found = ""
        for attempt in range(self.max_retries + 1):
            if attempt:
                time.sleep(min(0.5 * 2 ** (attempt - 1), 8.0))
            answer = self._answer(client, request)
            choices = getattr(answer, "choices", None)
            if isinstance(choices, list) and choices and getattr(choices[0], "message", None) is not None:
                self.usage += self._used(answer)
                return choices[0]
            found = _short(str(answer))
        raise EndpointError(
            f"{self._where()} answered {self.max_retries + 1} times without a message, last with {found}; "
            "check that it speaks /chat/completions"
        )

    def _answer(self, client: openai.OpenAI, request: dict[str, Any]) -> Any:
        """Return what the endpoint answered, whatever it is; the client itself retries where that can help."""
        import openai

        start = time.perf_counter()
        try:
            return client.chat.completions.create(**request)
        except openai.APIError as error:
            raise EndpointError(self._explained(error)) from error
        except ValueError as error:
            # The client lets the decoder's own errors through: the body is no JSON, or no UTF-8.
            return f"a body that cannot be read: {error}"
        finally:
            seconds = time.perf_counter() - start
            self.call_seconds.append(seconds)
            self.usage += Usage(wall_s=seconds)

    def _used(self, answer: Any) -> Usage:
        usage = getattr(answer, "usage", None)
        prompt, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
        cached = min(_count(getattr(usage, "prompt_tokens_details", None), "cached_tokens"), prompt)
        price_cached = self.price_prompt if self.price_cached is None else self.price_cached
        cost = (prompt - cached) * self.price_prompt + cached * price_cached + completion * self.price_completion
        return Usage(1, prompt, completion, cost / 1e6)

    def _where(self) -> str:
        return f"{self.base_url or 'api.openai.com'} (model {self.model})"

    def _explained(self, error: openai.APIError) -> str:
        """What happened and what to do, without the key."""
        import openai

        tries = f"after {self.max_retries} retries"
        if isinstance(error, openai.APITimeoutError):
            return f"{self._where()} gave no answer within {self.timeout_s:g} s, {tries}; raise the time-out"
        if isinstance(error, openai.APIConnectionError):
            cause = _short(str(error.__cause__ or error))
            return f"{self._where()} cannot be reached, {tries}: {cause}; check that it runs and the base URL"
        status = error.status_code if isinstance(error, openai.APIStatusError) else 0
        retried = f" {tries}" if status in (408, 409, 429) or status >= 500 else ""
        advice = _ADVICE.get(status, "look into the server's log" if status >= 500 else "check the request's settings")
        said = _short(error.message)
        key = os.environ.get(self.api_key_env)
        said = said.replace(key, "***") if key else said
        return f"{self._where()} answered {status}{retried}: {said}; {advice.format(key=self.api_key_env)}"


def _count(usage: Any, name: str) -> int:
    value = getattr(usage, name, None)
    return value if isinstance(value, int) and value > 0 else 0


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else line[:199] + "…"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m agentgym.baselines.openai_agent",
        description="Play one episode with a model behind an OpenAI-compatible endpoint.",
    )
    parser.add_argument("env", help='environment id, such as "Refund-v0"')
    parser.add_argument("--scenario", help='scenario id, such as "refund/partial-001"; by default the seed chooses')
    parser.add_argument("--split", default="test", help="train or test (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the episode (default %(default)s)")
    parser.add_argument("--model", required=True, help="name of the model at the endpoint")
    parser.add_argument("--base-url", help="of the endpoint, such as http://127.0.0.1:8000/v1; default: OpenAI")
    parser.add_argument("--api-key-env", default="OPENAI_API_KEY", help="variable with the key (default %(default)s)")
    parser.add_argument("--temperature", type=float, default=0.0, help="(default %(default)s)")
    parser.add_argument("--model-seed", type=int, help="seed of the model's sampling")
    parser.add_argument("--max-tokens", type=int, help="bound of one answer")
    parser.add_argument("--max-retries", type=int, default=4, help="of a failed request (default %(default)s)")
    parser.add_argument("--timeout", type=float, default=120.0, help="of one answer, seconds (default %(default)s)")
    parser.add_argument("--price-prompt", type=float, default=0.0, help="US dollars for a million prompt tokens")
    parser.add_argument("--price-completion", type=float, default=0.0, help="… for a million completion tokens")
    parser.add_argument("--price-cached", type=float, help="… for a million cached prompt tokens")
    parser.add_argument("--messages", action="store_true", help="print the conversation")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Play one episode from the command line: 0 when it was played, 2 for wrong arguments, 3 for a failed endpoint."""
    parser = _parser()
    args = parser.parse_args(argv)
    names = "model base_url api_key_env temperature model_seed max_tokens max_retries price_prompt price_completion"
    settings = {name: getattr(args, name) for name in [*names.split(), "price_cached"]}
    try:
        agent = OpenAIAgent(timeout_s=args.timeout, **settings)
    except ValueError as error:
        parser.error(str(error))
    env_id = args.env if ":" in args.env else f"agentgym:{args.env}"
    env = gym.make(env_id, split=args.split)
    session = ChatSession(env)
    try:
        agent.play(session, seed=args.seed, options={"scenario": args.scenario} if args.scenario else {})
    except EndpointError as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    finally:
        env.close()
    if args.messages:
        print(json.dumps(session.messages, ensure_ascii=False, indent=2))
    result = {"success": session.info["success"], "return": session.reward, "end_reason": session.info["end_reason"]}
    print(json.dumps({**result, **dataclasses.asdict(agent.usage)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
