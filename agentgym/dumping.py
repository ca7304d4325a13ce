"""From scenarios to YAML files that `agentgym.loading` reads back as they were."""

from __future__ import annotations

from typing import Any

import yaml

from agentgym.errors import ScenarioError
from agentgym.loading import parse
from agentgym.scenario import Scenario
from agentgym.world import iso


class _Dumper(yaml.SafeDumper):
    """Long texts folded, lists indented, no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write everything out."""
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists in mappings."""
        super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    # What YAML 1.2 reads as a number, and PyYAML does not, is quoted as well.
    quoted = "'" if text[:1].isdigit() or text[:1] in "-+.~" or text in ("true", "false", "null", "") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=quoted)


_Dumper.add_representer(str, _text)


def to_yaml(data: dict[str, Any]) -> str:
    """*data* as YAML, keys in their order, 120 columns wide."""
    return str(yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=118))


def scenario_yaml(scenario: Scenario) -> str:
    """The scenario as the text of a file; fields that have their default are left out.

    Raises:
        ScenarioError: it would not be read back as it is.
    """
    data = scenario.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    text = to_yaml({**data, "now": iso(scenario.now)})
    if parse(text, scenario.id) != scenario:
        raise ScenarioError(scenario.id, "file", "a text that is read back as something else", "plain values")
    return text
