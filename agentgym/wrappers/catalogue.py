"""Perturbations by name, as the command line and files give them.

A spec is ``KIND``, ``KIND:RATE``, ``KIND:RATE,name=value,…`` or ``KIND,name=value``; ``+`` puts one around the other,
the first innermost; a composition is a name for several.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym

from agentgym.errors import did_you_mean
from agentgym.wrappers.base import STRONGEST, Perturbation
from agentgym.wrappers.dynamic_state import DynamicState, Shutdown
from agentgym.wrappers.format_shift import FormatShift
from agentgym.wrappers.injection import Injection
from agentgym.wrappers.interruption import Interruption
from agentgym.wrappers.jitter import Jitter
from agentgym.wrappers.noise import Noise
from agentgym.wrappers.outage import OutageAfterCommit, OutageBeforeCommit
from agentgym.wrappers.pollution import Pollution
from agentgym.wrappers.schema_drift import SchemaDrift


@dataclass(frozen=True)
class Kind:
    """A kind of perturbation by its name: the wrapper and the arguments that make it this kind."""

    wrapper: type[Perturbation]
    arguments: Mapping[str, Any]


KINDS: Mapping[str, Kind] = {
    "jitter": Kind(Jitter, {}),
    "outage-before-commit": Kind(OutageBeforeCommit, {}),
    "outage-after-commit": Kind(OutageAfterCommit, {}),
    "format-shift": Kind(FormatShift, {}),
    "schema-drift": Kind(SchemaDrift, {}),
    "pollution": Kind(Pollution, {}),
    "dynamic-state": Kind(DynamicState, {}),
    "interruption": Kind(Interruption, {}),
    "interruption-change": Kind(Interruption, {"way": "change"}),
    "noise-wording": Kind(Noise, {"level": "wording"}),
    "noise-structure": Kind(Noise, {"level": "structure"}),
    "noise-knowledge": Kind(Noise, {"level": "knowledge"}),
    "injection": Kind(Injection, {}),
    "shutdown": Kind(Shutdown, {}),
}

COMPOSITIONS: Mapping[str, str] = {
    "flaky-network": "jitter+outage-before-commit:0.15+outage-after-commit:0.1",
    "api-upgrade": "schema-drift+format-shift",
    "hard-to-follow": "noise-wording+noise-structure+interruption",
    "untrusted": "pollution+injection",
    "bad-day": "jitter+outage-before-commit:0.1+dynamic-state+interruption",
}
"""Name → spec."""

_SHAPE = "KIND, KIND:RATE or KIND:RATE,name=value, joined by +"


@dataclass(frozen=True)
class Spec:
    """One perturbation with its arguments."""

    kind: str
    arguments: Mapping[str, Any]

    def wrap(self, env: gym.Env[Any, Any]) -> Perturbation:
        """Put it around an environment.

        Raises:
            ValueError: an argument is out of its range or unknown.
        """
        kind = KINDS[self.kind]
        try:
            return kind.wrapper(env, **{**kind.arguments, **self.arguments})
        except TypeError as error:
            if "unexpected keyword" in str(error):
                raise ValueError(f"{self.kind}: {str(error).rpartition('argument ')[2]} is no argument of it") from None
            raise


def read_specs(text: str) -> list[Spec]:
    """Take a spec apart, innermost first.

    Raises:
        ValueError: a kind is unknown, or the form is another.
        TypeError: it is no text.

    >>> [spec.kind for spec in read_specs("jitter+outage-before-commit:0.3")]
    ['jitter', 'outage-before-commit']
    """
    if not isinstance(text, str):
        raise TypeError(f"expected perturbations as a text, {_SHAPE}, got {text!r:.200}")
    found: list[Spec] = []
    for part in text.split("+"):
        part = part.strip()
        if part in COMPOSITIONS:
            found += read_specs(COMPOSITIONS[part])
        else:
            found.append(_spec(part))
    return found


def _spec(text: str) -> Spec:
    head, *options = text.split(",")
    name, colon, rate = head.partition(":")
    if name not in KINDS:
        known = [*KINDS, *COMPOSITIONS]
        raise ValueError(f"there is no perturbation {name!r}{did_you_mean(name, known)}; there are {', '.join(known)}")
    arguments: dict[str, Any] = {}
    if colon:
        try:
            arguments["rate"] = float(rate)
        except ValueError:
            raise ValueError(f"perturbation {text!r}: expected a rate in 0..1 after the colon, got {rate!r}") from None
    for option in options:
        key, equals, value = option.partition("=")
        if not equals or not key.isidentifier() or key in arguments:
            raise ValueError(f"perturbation {text!r}: expected {_SHAPE}, got {option!r}")
        arguments[key] = _value(value)
    return Spec(name, arguments)


def _value(text: str) -> Any:
    if "|" in text:
        return [_value(part) for part in text.split("|")]
    # "503" and "429" are names of modes.
    if text in ("503", "429"):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def perturb(env: gym.Env[Any, Any], spec: str) -> gym.Env[Any, Any]:
    """Put the perturbations of a spec around an environment; "" is none.

    Raises:
        ValueError: the spec is wrong, or an argument is out of its range.
        TypeError: *spec* is no text, or *env* no environment that a kind can be over.

    >>> import agentgym, gymnasium
    >>> perturb(gymnasium.make("Refund-v0"), "flaky-network")  # doctest: +ELLIPSIS
    <OutageAfterCommit<OutageBeforeCommit<Jitter<...>>>>
    """
    for entry in read_specs(spec) if spec != "" else []:
        env = entry.wrap(env)
    return env


def read_file(path: str | Path) -> dict[str, str]:
    """The perturbations of a YAML file: name → spec, where a spec may also be a list of specs.

    Raises:
        ValueError: the file is none of that, or a spec is wrong.
    """
    from agentgym.loading import read_yaml

    data = read_yaml(Path(path))
    if not isinstance(data, dict) or not data:
        raise ValueError(f"{path}: expected a mapping from names to perturbations, such as 'slow: jitter,intensity=3'")
    found: dict[str, str] = {}
    for name, value in data.items():
        parts: Sequence[Any] = value if isinstance(value, list) else [value]
        if not all(isinstance(part, str) for part in parts):
            raise ValueError(f"{path}: {name}: expected a text or a list of texts, got {value!r}")
        found[str(name)] = "+".join(parts)
        read_specs(found[str(name)])
    return found


def sweep_specs(text: str) -> list[tuple[int, str]]:
    """The levels and specs of a sweep, ``KIND=0..4`` or ``KIND,name=value=0..4``.

    Raises:
        ValueError: the kind is unknown or the levels are no range in 0..4.

    >>> sweep_specs("jitter=0..2")
    [(0, ''), (1, 'jitter,intensity=1'), (2, 'jitter,intensity=2')]
    """
    spec, equals, levels = text.rpartition("=")
    low, dots, high = levels.partition("..")
    if not (equals and dots and low.isdigit() and high.isdigit() and 0 <= int(low) < int(high) <= STRONGEST):
        raise ValueError(f"expected a sweep such as jitter=0..{STRONGEST}, got {text!r}")
    if len(read_specs(spec)) != 1:
        raise ValueError(f"a sweep is over one kind, got {spec!r}")
    return [(level, f"{spec},intensity={level}" if level else "") for level in range(int(low), int(high) + 1)]
