"""The documents keep to the code: fields of scenarios, checks."""

from __future__ import annotations

import re
import typing
from pathlib import Path
from typing import Any

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
MODULES = ("agentgym.scenario", "agentgym.specs", "agentgym.chain_spec")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", SCENARIOS, re.MULTILINE | re.DOTALL)


def models(annotation: Any) -> set[type[BaseModel]]:
    """The models of scenarios in an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {annotation} if annotation.__module__ in MODULES else set()
    return {model for argument in typing.get_args(annotation) for model in models(argument)}


def fields(model: type[BaseModel], around: frozenset[type[BaseModel]] = frozenset()) -> set[str]:
    """The keys of a model and of all that are in it, *around* those that it is in."""
    found = set()
    for name, field in model.model_fields.items():
        found.add(field.alias or name)
        for inner in models(field.annotation) - around:
            found |= fields(inner, around | {inner})
    return found


def keys(value: Any) -> set[str]:
    """Every key that an example shows."""
    if isinstance(value, dict):
        return {key for name, entry in value.items() for key in {name, *keys(entry)}}
    return {key for entry in value for key in keys(entry)} if isinstance(value, list) else set()


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.split(":")[0])
def test_an_example_of_a_field_is_one_that_the_loader_takes(block: str) -> None:
    build(renewal("tiny/docs-001", 14) | yaml.safe_load(block))


def test_every_field_of_a_scenario_has_an_example() -> None:
    examples = {key for block in BLOCKS for key in keys(yaml.safe_load(block))}
    assert fields(Scenario) - examples == set()
    assert {"opening", "wants", "canary", "as", "holds", "single_route", "read_to_end", "in_text"} <= fields(Scenario)


def test_the_page_of_checks_has_every_check_with_its_name_and_no_other() -> None:
    load_checks()
    text = (DOCS / "checks.md").read_text(encoding="utf-8")
    found = dict(re.findall(r"^### ([VD]\d\d[PF]?) (.+)$", text, re.MULTILINE))
    assert found == {check.id: check.name + (" (N)" if check.nightly else "") for check in CHECKS.values()}


def test_each_check_has_a_paragraph() -> None:
    text = (DOCS / "checks.md").read_text(encoding="utf-8")
    for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        assert len(body.split("\n## ")[0].split()) > 10, heading
