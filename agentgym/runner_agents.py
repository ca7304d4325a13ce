"""Agents by name: from a text on the command line to an object, in whichever process it is to run.

A name is a built-in one ("gold"), one with options ("openai:model=m1,base_url=http://127.0.0.1:8000/v1"), or anybody's
class ("my_package.agents:MyAgent", "my_package.agents:MyAgent:beam=4").
"""

from __future__ import annotations

import importlib
import json
import re
from typing import Any

from agentgym.agent import Agent
from agentgym.errors import did_you_mean

BUILT_IN = {
    "do-nothing": "agentgym.baselines.do_nothing:DoNothing",
    "talk-only": "agentgym.baselines.talk_only:TalkOnly",
    "random": "agentgym.baselines.random_agent:RandomAgent",
    "read-only": "agentgym.baselines.read_only:ReadOnly",
    "spammer": "agentgym.baselines.spammer:Spammer",
    "refuser": "agentgym.baselines.refuser:Refuser",
    "hand-off": "agentgym.baselines.hand_off:HandOff",
    "confirmer": "agentgym.baselines.confirmer:Confirmer",
    "confirm-guesser": "agentgym.baselines.confirm_guesser:ConfirmGuesser",
    "novice": "agentgym.baselines.novice:Novice",
    "clerk": "agentgym.baselines.clerk:Clerk",
    "expert": "agentgym.baselines.expert:Expert",
    "analyst": "agentgym.baselines.analyst:Analyst",
    "unmasked": "agentgym.baselines.unmasked:Unmasked",
    "rosterless": "agentgym.baselines.rosterless:Rosterless",
    "page-one": "agentgym.baselines.page_one:PageOne",
    "gold": "agentgym.baselines.gold:Gold",
    "naive": "agentgym.baselines.naive:Naive",
    "retrying": "agentgym.baselines.retrying:Retrying",
    "verifying": "agentgym.baselines.verifying:Verifying",
    "keyword-reader": "agentgym.baselines.keyword_reader:KeywordReader",
    "obedient": "agentgym.baselines.obedient:Obedient",
    "openai": "agentgym.baselines.openai_agent:OpenAIAgent",
}
"""Name → where its class is, as text: the core imports no agent."""

LADDER = ("novice", "clerk", "expert")
"""Agents of rising skill. They know the refund desk and nothing else, so a run has them only when they are named."""

ANALYSTS = ("analyst", "unmasked", "rosterless", "page-one")
"""Agents that work out figures for HR: one with care, three that leave out one thing each. They know nothing else."""

PERTURBED = ("naive", "retrying", "verifying", "keyword-reader", "obedient")
"""Reference agents for perturbations: they know the scenario, as gold does, and differ in what they do about them."""

SCRIPTED = tuple(name for name in BUILT_IN if name not in ("openai", *LADDER, *ANALYSTS, *PERTURBED))
"""The built-in agents that need no model and know no environment: null agents, adversaries and gold."""

_SECRET = re.compile(r"(api_?key|token|secret|password)$", re.IGNORECASE)


def make_agent(spec: str) -> Agent:
    """Make the agent that a text names.

    Raises:
        ValueError: no such agent, an option that it does not have, or one that would write a secret into the results.

    >>> make_agent("golden")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: there is no agent "golden" (did you mean "gold"?); use one of do-nothing, ..., or module:Class
    """
    place, options = parse_spec(spec)
    module_name, _, class_name = place.partition(":")
    try:
        found = getattr(importlib.import_module(module_name), class_name)
    except ImportError as error:
        raise ValueError(f'agent "{spec}": cannot import {module_name}: {error}') from error
    except AttributeError as error:
        raise ValueError(f'agent "{spec}": {module_name} has no {class_name}') from error
    try:
        made = found(**options)
    except TypeError as error:
        raise ValueError(f'agent "{spec}": {error}') from error
    if not callable(getattr(made, "run", None)):
        raise ValueError(f'agent "{spec}": {class_name} has no method run(env, *, seed, options)')
    agent: Agent = made
    return agent


def parse_spec(spec: str) -> tuple[str, dict[str, Any]]:
    """Take a name apart, into "module:Class" and the keyword options; values that are JSON scalars are read as such.

    Raises:
        ValueError: as for `make_agent`.

    >>> parse_spec("openai:model=m1,temperature=0.5,base_url=http://127.0.0.1:8000/v1")[1]
    {'model': 'm1', 'temperature': 0.5, 'base_url': 'http://127.0.0.1:8000/v1'}
    """
    name, _, rest = spec.partition(":")
    if name in BUILT_IN:
        return BUILT_IN[name], options_of(spec, rest)
    class_name, _, rest = rest.partition(":")
    if not class_name or not re.fullmatch(r"[\w.]+", name) or not class_name.isidentifier():
        names = ", ".join(BUILT_IN)
        raise ValueError(
            f'there is no agent "{name}"{did_you_mean(name, BUILT_IN)}; use one of {names}, or module:Class'
        )
    return f"{name}:{class_name}", options_of(spec, rest)


def options_of(spec: str, text: str, what: str = "agent") -> dict[str, Any]:
    """Read options written as "name=value,name=value"; values that are JSON scalars are read as such.

    Raises:
        ValueError: the text is none of that, or an option would write a secret into the results; *what* and *spec* are
            named.
    """
    options: dict[str, Any] = {}
    # A comma inside a value is followed by no "name=".
    for part in re.split(r",(?=\w+=)", text) if text else []:
        key, equals, value = part.partition("=")
        if not equals or not key.isidentifier():
            raise ValueError(f'{what} "{spec}": options look like name=value,name=value, got "{part}"')
        if key in options:
            raise ValueError(f'{what} "{spec}": option {key} is given twice')
        if _SECRET.search(key):
            raise ValueError(
                f"{what} option {key} would stand in the result store; put the secret into an environment variable "
                "(for openai: OPENAI_API_KEY, or another one named by api_key_env)"
            )
        options[key] = _scalar(value)
    return options


def _scalar(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(value, list | dict | str) else value
