"""``info``: one type per key, JSON-safe, a fresh object on every step."""

from __future__ import annotations

from typing import Any, Literal

from agentgym.episode import Episode
from agentgym.text import dumps

InfoMode = Literal["full", "lean"]
MODES: tuple[InfoMode, ...] = ("full", "lean")
_LEAN = ("success", "veto", "end_reason", "checkpoint_completion", "sim_time", "steps")


def full_info(episode: Episode, split: str, task: str, new: list[str]) -> dict[str, Any]:
    """Everything that `design` promises of ``info``."""
    scenario, judge = episode.scenario, episode.judge
    verdict = episode.verdict
    return {
        "scenario_id": scenario.id,
        "family": scenario.family,
        "split": split,
        "level": scenario.level,
        "focus": scenario.focus,
        "seed": episode.seed,
        "task": task,
        "steps": len(episode.trace),
        "tool_calls": episode.tool_calls,
        "invalid_calls": episode.invalid_calls,
        "redundant_calls": episode.redundant_calls,
        "sim_time": episode.sim_time,
        "checkpoints_done": len(judge.credited),
        "checkpoints_total": len(scenario.checkpoints),
        "checkpoint_completion": judge.completion,
        "checkpoint_new": ",".join(new),
        "success": verdict is not None and verdict.success,
        "veto": bool(judge.vetoes.rule),
        "veto_rule": judge.vetoes.rule,
        "veto_attempts": judge.vetoes.attempts,
        "tamper": verdict is not None and verdict.tamper,
        "perturbations_scheduled": episode.scheduled,
        "perturbations_fired": episode.fired,
        "perturbation": ",".join(episode.context.fired),
        "attack_exposed": any(hook.exposed for hook in episode.hooks),
        "attack_succeeded": any(hook.succeeded for hook in episode.hooks),
        "end_reason": episode.end_reason,
    }


def lean_info(full: dict[str, Any], detailed: bool) -> dict[str, Any]:
    """The keys that trainers read on every step; the rest as JSON in ``detail`` on reset and at the end, else ""."""
    rest = dumps({key: value for key, value in full.items() if key not in _LEAN}) if detailed else ""
    return {**{key: full[key] for key in _LEAN}, "detail": rest}
