"""The documents keep to the code: fields of scenarios, checks."""

from __future__ import annotations

import re
import types
import typing
from pathlib import Path
from typing import Annotated, Any

import pytest
import yaml
from pydantic import BaseModel
from tiny_domain import renewal

from agentgym.loading import build
from agentgym.scenario import Scenario
from agentgym.validate import CHECKS
from agentgym.validate.registry import load_checks

DOCS = Path(__file__).resolve().parent.parent / "docs"
SCENARIOS = (DOCS / "scenarios.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", SCENARIOS, re.MULTILINE | re.DOTALL)


def models(annotation: Any) -> set[type[BaseModel]]:
    """The models in an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {annotation}
    if typing.get_origin(annotation) is Annotated:
        return models(typing.get_args(annotation)[0])
    found: set[type[BaseModel]] = set()
    for argument in (
        typing.get_args(annotation) if not isinstance(annotation, types.GenericAlias | str) else annotation.__args__
    ):
        found |= models(argument)
    return found


def fields(model: type[BaseModel], path: str = "") -> set[str]:
    """Every field of a scenario, as the names of the model and the field."""
    found = set()
    for name, field in model.model_fields.items():
        found.add(f"{path}{field.alias or name}")
        for inner in models(field.annotation):
            if inner.__module__ == "agentgym.scenario":
                found |= fields(inner, f"{path}{field.alias or name}.")
    return found


def shown(value: Any, path: str = "") -> set[str]:
    """Every key that an example shows, by its path."""
    if isinstance(value, list):
        return {name for entry in value for name in shown(entry, path)}
    if not isinstance(value, dict):
        return set()
    found = set()
    for name, entry in value.items():
        found |= {f"{path}{name}", *shown(entry, f"{path}{name}.")}
    return found


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.split(":")[0])
def test_an_example_of_a_field_is_one_that_the_loader_takes(block: str) -> None:
    build(renewal("tiny/docs-001", 14) | yaml.safe_load(block))


def test_every_field_of_a_scenario_has_an_example() -> None:
    examples = {name for block in BLOCKS for name in shown(yaml.safe_load(block))}
    named = {
        "facts": r"user\.facts\.\w+",
        "events": r"events\.user\.facts\.\w+",
        "answers": r"checks\.answer_state\.\w+",
    }
    for pattern in named.values():
        # The names in these mappings are the author's own.
        examples |= {
            re.sub(rf"^({pattern.rpartition('.')[0]}\.)?{pattern.rpartition('.')[2]}", "", name) for name in examples
        }
    flat = {
        name.replace(".why.", ".").replace(".sure.", ".").replace(".return_id.", ".").replace(".outage.", ".")
        for name in examples
    }
    lacking = {name for name in fields(Scenario) if name not in flat and not optional(name)}
    assert not lacking, sorted(lacking)


def optional(name: str) -> bool:
    """Options that every query or call has, shown at one place."""
    return name.rpartition(".")[2] in (
        "params",
        "currency",
        "tolerance",
        "items",
        "any_of",
        "type",
        "arguments",
        "expect",
        "name",
    )


def test_the_page_of_checks_has_every_check_with_its_name_and_no_other() -> None:
    load_checks()
    text = (DOCS / "checks.md").read_text(encoding="utf-8")
    found = dict(re.findall(r"^### ([VD]\d\d) (.+)$", text, re.MULTILINE))
    assert found == {check.id: check.name + (" (N)" if check.nightly else "") for check in CHECKS.values()}


def test_each_check_has_a_paragraph() -> None:
    text = (DOCS / "checks.md").read_text(encoding="utf-8")
    for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        assert len(body.split("\n## ")[0].split()) > 10, heading
