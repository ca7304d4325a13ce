"""A person plays an episode: lines in, text out. The terminal around it is `agentgym.cli.playing`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import gymnasium as gym

from agentgym.play_line import COMMANDS, Completer, LineError, parse_line
from agentgym.verdict import Verdict

Style = Callable[[str, str], str]
"""``style(text, role)`` gives the text as the terminal shows it."""

HELP = """\
You are the agent. A line is a tool with its arguments, by position, by name or as JSON:
  get_order A1001    get_order order_id=A1001    get_order {"order_id": "A1001"}
  say TEXT                      speak to the user (respond)
  confirm TOOL ARGUMENTS        ask the user to agree to exactly that call (confirm_with_user)
  finish OUTCOME KEY=VALUE ...  close the case; hand_off REASON "SUMMARY" gives it to a person
  /tools  /help TOOL  /policy  /quit      Tab completes tools, arguments and what was seen"""


def printable(text: str) -> str:
    r"""The text without what would steer a terminal: only line ends are kept of the control characters.

    >>> printable("a\x1b[2Jb\nc")
    'a�[2Jb\nc'
    """
    return "".join(char if char == "\n" or char.isprintable() else "\ufffd" for char in text.replace("\t", "    "))


def readable(content: str) -> str:
    """A result as a person reads it: JSON indented where it is long."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return content
    if not isinstance(value, dict | list) or len(content) <= 100:
        return content
    lines = (
        [f"{key}: {_inline(entry)}" for key, entry in value.items()]
        if isinstance(value, dict)
        else [_inline(entry) for entry in value]
    )
    return "\n".join(lines)


def _inline(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "".join(f"\n- {json.dumps(entry, ensure_ascii=False)}" for entry in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class Game:
    """One episode that a person plays.

    Args:
        env: an environment of this package; reset here.
        write: shows a block of text.
        style: colours a text by the role that it comes from.
        seed: of the episode.
        options: of the reset.

    Attributes:
        completer: completes lines by what the episode has shown.
        over: the episode has ended, or the player has left.
        verdict: the judge's, None until the end.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        write: Callable[[str], None],
        style: Style | None = None,
        seed: int | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self._env, self._write = env, write
        self._style: Style = style or (lambda text, role: text)
        observation, info = env.reset(seed=seed, options=options or {})
        self._schemas: list[dict[str, Any]] = env.get_wrapper_attr("tools")
        self._policy = str(env.get_wrapper_attr("system_prompt"))
        info = info if "task" in info else json.loads(info["detail"])
        task = json.loads(info["task"])
        self.completer = Completer(self._schemas)
        self.completer.learn(str(observation["content"]))
        self.over = False
        self._show(
            "", f"{info['scenario_id']} (seed {info['seed']})\n\n{HELP}\n\n{self._policy.rpartition('## ')[2]}\n"
        )
        self._show("user", task["opening"])

    @property
    def verdict(self) -> Verdict | None:
        """The judge's verdict, None until the end."""
        found: Verdict | None = self._env.get_wrapper_attr("verdict")
        return found

    def enter(self, line: str) -> None:
        """Do what a line says; what it gives is written."""
        line = line.strip()
        if not line or self.over:
            return
        if line.startswith("/"):
            self._command(*line.split()[:2])
            return
        try:
            action = parse_line(line, self.completer.tools)
        except LineError as error:
            self._show("error", str(error))
            return
        # A terminal gives what no encoding takes back as lone surrogates; the environment takes them too.
        observation, _, terminated, truncated, _ = self._env.step(action)
        self.completer.learn(observation["content"])
        self._show(str(observation["role"]), readable(observation["content"]))
        for notice in json.loads(observation["notices"]):
            self._show("notice", notice if isinstance(notice, str) else json.dumps(notice, ensure_ascii=False))
        if terminated or truncated:
            self.over = True
            self._judged()

    def _command(self, name: str, topic: str = "") -> None:
        if name == "/quit":
            self.over = True
        elif name == "/policy":
            self._show("", self._policy)
        elif name == "/tools" or (name == "/help" and topic in self.completer.tools):
            self._show("", "\n".join(_manual(schema["function"], name == "/tools") for schema in self._schemas
                                     if name == "/tools" or schema["function"]["name"] == topic))  # fmt: skip
        elif name == "/help":
            self._show("", f"there is no tool {topic}; /tools lists them" if topic else HELP)
        else:
            self._show("error", f"there is no command {name[:80]}; commands are {', '.join(COMMANDS)}")

    def _show(self, role: str, text: str) -> None:
        if role:
            # What follows stands below, so that a result with many lines is still one block.
            text = f"{role:<7} " + text.replace("\n", "\n" + " " * 8)
        self._write(self._style(printable(text), role))

    def _judged(self) -> None:
        verdict = self.verdict
        if verdict is None:
            return
        total: float = self._env.get_wrapper_attr("episode_return")
        veto = f", forbidden: {verdict.veto_rule}" if verdict.veto else ""
        what = "success" if verdict.success else "no success"
        lines = [
            f"{what} ({verdict.end_reason}{veto}), return {total:g}, checkpoints {verdict.checkpoint_completion:.0%}"
        ]
        lines += [f"  {'done' if step else 'missed'}  {name}" for name, step in verdict.checkpoints]
        for check in verdict.checks:
            lines.append(
                f"  {'ok' if check.ok else 'FAILED'}  {check.name}"
                + ("" if check.ok else f": expected {check.expected}, found {check.found}")
            )
        lines += [f"  grading failed: {verdict.error}"] if verdict.status == "error" else []
        self._show("end", "\n".join(lines))


def _manual(function: dict[str, Any], short: bool) -> str:
    """A tool for a person: its call, and unless *short* what each argument is."""
    schema = function.get("parameters", {})
    required = schema.get("required", [])
    call = " ".join(
        [function["name"], *(name if name in required else f"[{name}]" for name in schema.get("properties", {}))]
    )
    text = (function.get("description") or "").strip()
    if short:
        return f"{call}: {text.splitlines()[0] if text else ''}"
    lines = [call, text]
    for name, entry in schema.get("properties", {}).items():
        values = f" ({', '.join(map(str, entry['enum']))})" if "enum" in entry else ""
        lines.append(f"  {name}: {entry.get('description', '')}{values}")
    return "\n".join(lines)
