"""A scenario file to begin with: empty fields with a comment each, or a copy of another scenario."""

from __future__ import annotations

import importlib
import re
import secrets
from typing import Any

from agentgym.domain import Domain
from agentgym.errors import ScenarioError, did_you_mean
from agentgym.loading import scenario_ids, scenario_text
from agentgym.registration import REGISTERED, entry_point

_NAME = re.compile(r"[a-z0-9_-]+(?:/[a-z0-9_-][a-z0-9_.-]*)+")

_TEMPLATE = """\
# A scenario: one start and everything it is judged by. docs/scenarios.md has each field with an example.
# A field with nothing behind it must be filled. The lines that begin with "#" are examples: one that stands below [] or
# {{}} goes in its place, any other is used by taking away the "#".

id: {id}  # the path of this file
revision: 1  # raised by one whenever the scenario is corrected
canary: {canary}  # made for this file; marks it for searches of leaked data
family:  # what kind of request it is; scenarios of a family count as one cluster in statistics
level: L1  # L1 one plain request ... L5 three requests or conflicting ones
# language: zh  # the user's; en by default
now: 2026-03-14T09:30:00Z  # when the episode starts
instruction:  # one sentence: what the user wants. The agent never sees it
given: []  # numbers that the user may hand over; every other one must be looked up
domain:  # what this environment needs to know of the case
{domain}

# What the world is before the episode: rows to add or change, by table and key. null deletes a row.
initial_state:
  patch: {{}}
    # a_table:
    #   X1: {{status: open, created_at: "2026-03-14T08:55:00Z"}}

user:
  opening:  # the first message, and all that the agent is told at the start
  facts: {{}}  # what the user tells when asked: any phrase of "when" in the agent's message
    # why: {{when: [why, reason], say: "I do not need it any more."}}
  wants: []  # calls that the user agrees to, whatever the policy says; no amounts, else a yes gives them away
    # - {{tool: {write}, arguments: {{}}}}
  patience: 3  # so many proposals refused, then the user leaves
  # pressure: ["But I am a good customer!"]

# Partial progress, each credited once. A call, a query that comes true, a consent, or something said.
checkpoints: []
  # - {{name: looked_up, called: {{name: {read}, arguments: {{}}}}}}

# What decides on success. Write these before the gold plans.
checks:
  end: {{outcome: [done]}}  # done, refused, impossible; or {{hand_off: [reason]}}
  final_state: []  # what must hold in the end. What holds at the start already says so: holds: always
    # - {{sql: SELECT status FROM a_table WHERE its_key = 'X1', expect: closed}}
  may_change: []  # every row that may change, and how. All others must stay as they are
    # - "a_table[its_key='X1'].status"
  # answer: {{type: object, fields: {{reason: {{type: text, value: too_late}}}}}}
  said: []  # what must be told, as typed values
    # - {{must: [{{type: money, value: 2500, currency: EUR}}]}}
  process:
    # required: [{{name: {read}, arguments: {{}}}}]
    # order: [[{read}, {write}]]
    # confirm_before: [{write}]
    max_steps: 30  # budget; gold must fit into it

# Calls and states that end the episode. The environment has its standing rules besides.
veto: []
  # - {{call: {write}}}

# What nobody may learn from the agent, by the values at the start.
secrets: []
  # - {{sql: SELECT a_column FROM a_table WHERE its_key = 'X1'}}

# What a stated plan is judged by.
# plan: {{subgoals: [{{name: find out what it is about, critical: true, tools: [{read}]}}]}}

# Two ways to 1.0 that differ in what they read or write. A value that is not in the opening or the policy is a binding,
# {{from: LABEL, path: $.x}}, to the result of the action "as: LABEL", or a calculation,
# {{sql: "SELECT :a * 85 / 100", a: {{from: ...}}}}.
gold: []
  # - plan: [Look it up, Tell the result, Finish]
  #   actions:
  #     - {{name: {read}, as: found, arguments: {{}}}}
  #     - {{name: finish, arguments: {{outcome: done}}}}
# single_route: why there is no second way  # at most a fifth of the scenarios have this
"""


def skeleton(name: str) -> str:
    """The text of a scenario to be filled; it is YAML, and refused by `agentgym.loading` field by field until it is.

    Args:
        name: its id, "refund/my-001".

    Raises:
        ScenarioError: the id is not one, or names no domain.
    """
    domain = _domain(name)
    fields = domain.scenario_model.model_fields
    lines = [
        f"  {field}: {_default(entry)}  # {_hint(domain, field)}".replace(":   #", ":  #")
        for field, entry in fields.items()
    ]
    read = next((tool.name for tool in domain.tools if not tool.writes), "respond")
    write = next((tool.name for tool in domain.tools if tool.writes), "respond")
    return _TEMPLATE.format(id=name, canary=_canary(), domain="\n".join(lines) or "  {}", read=read, write=write)


def copied(name: str, source: str) -> str:
    """The text of the scenario *source* as that of a new one: another id and canary, revision 1, all else as it was.

    Raises:
        ScenarioError: one of the two ids is not one, or they are of different domains.
    """
    domain = _domain(name)
    if source.partition("/")[0] != domain.name:
        raise ScenarioError(
            source, "id", f"a scenario of {source.partition('/')[0]}", f"one of {domain.name}, as {name} is"
        )
    text = scenario_text(source)
    for field, value in (("id", name), ("canary", _canary()), ("revision", "1")):
        text, count = re.subn(rf"(?m)^{field}:.*$", f"{field}: {value}", text, count=1)
        if not count:
            text = f"{field}: {value}\n{text}"
    return text


def _domain(name: str) -> Domain:
    head = name.partition("/")[0]
    if not _NAME.fullmatch(name):
        raise ScenarioError(
            name, "id", repr(name), "DOMAIN/NAME of small letters, digits, - and _, such as refund/my-001"
        )
    envs = {domain: env for env, domain in REGISTERED.items()}
    if head not in envs:
        raise ScenarioError(name, "id", f"the domain {head!r}", f"one of {', '.join(envs)}{did_you_mean(head, envs)}")
    if name in scenario_ids(head):
        raise ScenarioError(name, "id", "a curated scenario of this id", "a name of its own")
    module, _, class_name = entry_point(envs[head]).partition(":")
    found: Domain = getattr(importlib.import_module(module), class_name).domain
    return found


def _canary() -> str:
    # Not from a seed: two people who write scenarios must never get the same one.
    return f"agentgym:{secrets.token_hex(16)}"


def _default(entry: Any) -> str:
    return "" if entry.is_required() else str(entry.get_default())


def _hint(domain: Domain, field: str) -> str:
    """What the model's docstring says of a field."""
    match = re.search(rf"^\s*{field}:\s*(.+)$", domain.scenario_model.__doc__ or "", re.MULTILINE)
    return match[1].rstrip(".") if match else "see the environment's scenario model"
