"""The lending desk with scenarios of one's own, to plant faults that `agentgym validate` must find."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import gymnasium as gym
import yaml
from tiny_domain import FOLDER, TINY, renewal

from agentgym.domain import Domain
from agentgym.env import ToolEnv
from agentgym.tools import Tool
from agentgym.validate.registry import CHECKS, Finding, load_checks
from agentgym.validate.subject import Subject

Data = dict[str, Any]
_numbers = itertools.count()


def _with_other_examples(tool: Tool) -> Tool:
    """The manual's examples must not be the keys that gold looks up."""
    text = json.dumps(tool.parameters).replace("L101", "L900").replace("M1", "M90")
    return dataclasses.replace(tool, parameters=json.loads(text))


DESK: Domain = dataclasses.replace(TINY, tools=tuple(map(_with_other_examples, TINY.tools)), generator=None)


def renew(name: str = "tiny/renew-001") -> Data:
    """A good scenario with writes: the curated one."""
    data: Data = yaml.safe_load((FOLDER / "scenarios" / "renew-001.yaml").read_text(encoding="utf-8"))
    return {**data, "id": name, "now": "2026-03-14T09:30:00Z"}


def refuse(name: str = "tiny/refuse-001") -> Data:
    """A good scenario where refusing is right: the answer names the loan, which has to be looked up."""
    data: Data = yaml.safe_load((FOLDER / "scenarios" / "refuse-001.yaml").read_text(encoding="utf-8"))
    fields = {"reason": {"type": "text"}, "loan_id": {"type": "id"}}
    data["checks"]["answer"] = {
        "type": "object",
        "value": {"reason": "renewal_limit", "loan_id": "L102"},
        "fields": fields,
    }
    for plan, label in zip(data["gold"], ("loans", "found"), strict=True):
        plan["actions"][-2]["as"] = label
        loan: Data = {"sql": f"SELECT value ->> 'loan_id' FROM json_each(:{label}) WHERE value ->> 'title' = 'Dune'"}
        loan[label] = {"from": label, "path": "$.loans"}
        plan["actions"][-1]["arguments"]["answer"] = {"reason": "renewal_limit", "loan_id": loan}
    return {**data, "id": name, "now": "2026-03-14T09:30:00Z"}


def simple(name: str = "tiny/simple", days: int = 14) -> Data:
    """A renewal as the generator makes it."""
    return renewal(name, days)


def put(data: Data, path: str, value: Any) -> Data:
    """A copy with the value at a dotted path replaced; ``+`` appends to a list."""
    changed = copy.deepcopy(data)
    *heads, last = path.split(".")
    current: Any = changed
    for head in heads:
        current = current[int(head)] if isinstance(current, list) else current.setdefault(head, {})
    if last == "+":
        current.append(value)
    else:
        current[int(last) if isinstance(current, list) else last] = value
    return changed


def subject_of(folder: Path, *scenarios: Data, domain: Domain = DESK, full: bool = False) -> Subject:
    """Register an environment whose curated scenarios are these, and put it under validation."""
    number = next(_numbers)
    home = folder / f"scenarios-{number}"
    home.mkdir()
    for data in scenarios:
        canary = hashlib.sha256(f"{number}/{data['id']}".encode()).hexdigest()[:32]
        file = home / f"{data['id'].partition('/')[2]}.yaml"
        file.write_text(json.dumps({**data, "canary": f"agentgym:{canary}"}), encoding="utf-8")
    own = dataclasses.replace(domain, scenarios=home)
    make = cast("Callable[..., ToolEnv]", type("FaultyEnv", (ToolEnv,), {"domain": own}))
    gym.register(f"Faulty{number}-v0", entry_point=make)
    return Subject(f"Faulty{number}-v0", generated=0, full=full)


def find(check: str, subject: Subject) -> Finding:
    """Run one check."""
    load_checks()
    return CHECKS[check].function(subject)
