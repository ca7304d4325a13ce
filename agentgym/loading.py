"""From YAML files to scenarios. A file that is wrong is refused with its name, the field, what was found and expected.

The YAML is the plain part of version 1.2: only ``true`` and ``false`` are booleans, ``010`` and times stay text, no key
stands twice. `agentgym.lint` then holds the scenario against its domain.
"""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Hashable, Iterable
from functools import lru_cache
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from agentgym.domain import Domain
from agentgym.errors import ScenarioError, did_you_mean
from agentgym.misfit import misfit
from agentgym.scenario import Scenario

_SUFFIX = ".yaml"
_CANARY = re.compile(r"agentgym:[0-9a-f]{32}")
_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]
    """Plain YAML 1.2, each key once."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        found: dict[Hashable, Any] = {}
        for key_node, value_node in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str | int) or isinstance(key, bool):
                raise yaml.constructor.ConstructorError(None, None, f"the key {key!r}", key_node.start_mark)
            if key in found:
                raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} twice", key_node.start_mark)
            found[key] = self.construct_object(value_node, deep=True)
        return found


def _construct_map(loader: Any, node: Any) -> dict[Hashable, Any]:
    return dict(loader.construct_mapping(node))


_Loader.yaml_implicit_resolvers = {}
_Loader.add_constructor("tag:yaml.org,2002:map", _construct_map)
for _tag, _regex, _first in (
    ("bool", r"true|false", "tf"),
    ("int", r"-?(?:0|[1-9][0-9]*)", "-0123456789"),
    ("float", r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", "-0123456789"),
    ("null", r"~|null|", ["~", "n", ""]),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_regex})$"), list(_first))


def parse(text: str, file: str) -> Scenario:
    """Parse one scenario; *file* is its name in error texts.

    Raises:
        ScenarioError: the text is not YAML, or not a scenario.
    """
    try:
        data = yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "file"
        raise ScenarioError(file, place, error.problem, "YAML in which each key is text and stands once") from None
    except yaml.YAMLError as error:
        raise ScenarioError(file, "file", str(error).splitlines()[0], "YAML") from None
    if not isinstance(data, dict):
        raise ScenarioError(file, "file", f"a {type(data).__name__}", "a mapping with id, family, now, …")
    return build(data, file)


def read_yaml(path: Path) -> Any:
    """The plain data of a YAML file that is no scenario.

    Raises:
        ScenarioError: the text is not such YAML.
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except yaml.YAMLError as error:
        raise ScenarioError(str(path), "file", str(error).splitlines()[0], "YAML") from None


def build(data: dict[str, Any], file: str = "") -> Scenario:
    """Make a scenario of plain data, as a generator or a file gives it.

    Raises:
        ScenarioError: the data is a draft, or not a scenario; the first misfit is told in full, others are counted.
    """
    if "draft" in data:
        missing = [name for name in ("checkpoints", "checks", "gold") if not data.get(name)]
        todo = f"{', '.join(missing)} to be written, then " if missing else ""
        raise ScenarioError(
            file or str(data.get("id", "scenario")), "draft", "a draft", f"{todo}this line to be taken away"
        )
    try:
        return Scenario.model_validate(data)
    except ValidationError as error:
        raise misfit(file or str(data.get("id", "scenario")), data, error, Scenario) from None


def load_scenario(path_or_id: str | Path, domain: Domain | None = None) -> Scenario:
    """Load one scenario.

    Args:
        path_or_id: a YAML file, or the id of a curated scenario such as "refund/partial-001".
        domain: whose scenario it must be; by default the one that the id names.

    Raises:
        ScenarioError: there is no such scenario, or it is wrong.
        TypeError: neither a path nor an id is given.
    """
    if not isinstance(path_or_id, str | Path):
        raise TypeError(f"expected a path or an id such as 'refund/partial-001', got {path_or_id!r:.200}")
    if isinstance(path_or_id, Path) or path_or_id.endswith((_SUFFIX, ".yml")):
        return _outside(Path(path_or_id), domain)
    name = domain.name if domain else path_or_id.partition("/")[0]
    files = _files(_folder(domain or name), name)
    if path_or_id not in files:
        raise _unknown(path_or_id, name, files)
    return _load(files[path_or_id], path_or_id)


def load_folder(folder: str | Path, prefix: str = "") -> dict[str, Scenario]:
    """Load all scenarios of a folder and the folders in it, by id, sorted.

    Args:
        folder: where the YAML files are.
        prefix: what stands before the path in an id: "" for a folder of domains, "refund" for a folder of one domain.

    Raises:
        ScenarioError: one is wrong, an id is not the file's path, or two share a canary.
    """
    root = Path(folder)
    if not root.is_dir():
        raise ScenarioError(str(folder), "folder", "no such folder", "a folder of scenarios as YAML files")
    return _load_all(root, prefix)


def load_curated(domain: Domain | str) -> dict[str, Scenario]:
    """Load the curated scenarios of a domain, by id, sorted.

    Raises:
        ScenarioError: one is wrong.
    """
    return _load_all(_folder(domain), domain if isinstance(domain, str) else domain.name)


def scenario_ids(domain: Domain | str) -> list[str]:
    """The ids of the curated scenarios of a domain, sorted. No file is read."""
    return list(_files(_folder(domain), domain if isinstance(domain, str) else domain.name))


def scenario_text(name: str) -> str:
    """The file of a curated scenario as it stands.

    Raises:
        ScenarioError: there is no such scenario.
    """
    domain = name.partition("/")[0]
    files = _files(_folder(domain), domain)
    if name not in files:
        raise _unknown(name, domain, files)
    return files[name].read_text(encoding="utf-8")


def _unknown(name: str, domain: str, files: Iterable[str]) -> ScenarioError:
    known = list(files)
    hint = did_you_mean(name, known) or (f" such as {min(known)}" if known else "")
    return ScenarioError(name, "id", "no such scenario", f"one of the {len(known)} scenarios of {domain}{hint}")


def _folder(domain: Domain | str) -> Traversable:
    if isinstance(domain, Domain) and domain.scenarios is not None:
        return domain.scenarios
    name = domain if isinstance(domain, str) else domain.name
    return importlib.resources.files("agentgym.scenarios").joinpath(name)


def _files(folder: Traversable, prefix: str) -> dict[str, Traversable]:
    if not folder.is_dir():
        return {}
    found: dict[str, Traversable] = {}
    for entry in folder.iterdir():
        name = f"{prefix}/{entry.name}" if prefix else entry.name
        if entry.is_dir():
            found |= _files(entry, name)
        elif name.endswith(_SUFFIX):
            found[name.removesuffix(_SUFFIX)] = entry
    return dict(sorted(found.items()))


def _load_all(folder: Traversable, prefix: str) -> dict[str, Scenario]:
    scenarios = {name: _load(file, name) for name, file in _files(folder, prefix).items()}
    owners: dict[str, str] = {}
    for name, scenario in scenarios.items():
        first = owners.setdefault(scenario.canary, name)
        if first != name:
            raise ScenarioError(
                name, "canary", f"the canary of {first}", "a canary of its own: agentgym: and 32 hex digits"
            )
    return scenarios


def _outside(path: Path, domain: Domain | None) -> Scenario:
    """Load a file wherever it lies. The last part of its id is the file's name, the first the domain's."""
    if not path.is_file():
        raise ScenarioError(str(path), "file", "no such file", "a scenario as a YAML file")
    scenario = _load(path, "")
    head, _, rest = scenario.id.partition("/")
    if rest.rpartition("/")[2] != path.name.removesuffix(path.suffix):
        raise ScenarioError(
            str(path), "id", repr(scenario.id), f"an id that ends in {path.stem!r}, the name of the file"
        )
    if domain is not None and head != domain.name:
        raise ScenarioError(str(path), "id", repr(scenario.id), f"a scenario of the domain {domain.name!r}")
    return scenario


def _load(file: Any, expected_id: str) -> Scenario:
    # A file that was changed on disk is read again.
    stat = file.stat() if isinstance(file, Path) else None
    return _cached(file, expected_id, (stat.st_mtime_ns, stat.st_size) if stat else None)


@lru_cache(maxsize=4096)
def _cached(file: Any, expected_id: str, version: tuple[int, int] | None) -> Scenario:
    name = str(file)
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ScenarioError(name, "file", f"bytes that are not UTF-8 ({error.reason})", "UTF-8 text") from None
    except OSError as error:
        raise ScenarioError(name, "file", str(error.strerror), "a file that can be read") from None
    scenario = parse(text, name)
    if expected_id and scenario.id != expected_id:
        raise ScenarioError(name, "id", repr(scenario.id), f"{expected_id!r}, the path of the file")
    if not _CANARY.fullmatch(scenario.canary):
        raise ScenarioError(
            name, "canary", repr(scenario.canary), "agentgym: and 32 hex digits, made once for this file"
        )
    return scenario
