"""``agentgym play``: a person is the agent."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import click
import gymnasium as gym

from agentgym.cli.common import known_env
from agentgym.cli.interrupting import insistent_interrupts
from agentgym.play import Game
from agentgym.play_line import Completer

_COLOURS = {"user": "cyan", "error": "red", "notice": "yellow", "end": "green"}


@click.command("play")
@click.argument("env")
@click.option("--scenario", metavar="ID", help="By default the seed chooses.")
@click.option("--split", type=click.Choice(["test", "train", "private"]), default="test", show_default=True)
@click.option("--folder", type=click.Path(), help="Scenario files of the private split.")
@click.option("--seed", type=int, help="Of the episode; by default one is drawn.")
def play_command(env: str, scenario: str | None, split: str, folder: str | None, seed: int | None) -> None:
    """Be the agent in ENV, in this terminal: type calls, read results, and see the verdict at the end.

    Tab completes tool names, argument names and values that were seen. Ctrl-D or /quit leaves.
    """
    if (split == "private") != (folder is not None):
        raise click.UsageError("--folder names the files of --split private; give both or neither")
    made = gym.make(known_env(env), disable_env_checker=True, split=split, scenarios=folder)
    try:
        game = Game(made, click.echo, _styled, seed, {"scenario": scenario} if scenario else {})
        with insistent_interrupts():
            _play(game, _reader(game.completer))
    finally:
        made.close()


def _play(game: Game, read: Callable[[], str]) -> None:
    while not game.over:
        try:
            line = read()
        except EOFError:
            # The prompt's line is still open.
            click.echo()
            return
        game.enter(line)


def _styled(text: str, role: str) -> str:
    return click.style(text, fg=_COLOURS[role]) if role in _COLOURS else text


def _reader(completer: Completer) -> Callable[[], str]:
    """What reads a line: with a prompt and completion in a terminal, plainly from a file or pipe."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        # What is no text in the terminal's encoding is a mistyped line, not the end of the game.
        sys.stdin.reconfigure(errors="replace")
    if not sys.stdin.isatty():
        return input
    _completing(completer)
    return lambda: input("> ")


def _completing(completer: Completer) -> None:
    try:
        import readline
    except ImportError:
        # Some builds of Python have none; typing works without.
        return
    found: list[str] = []

    def complete(word: str, number: int) -> str | None:
        if number == 0:
            found[:] = completer.complete(readline.get_line_buffer()[: readline.get_begidx()], word)
        return found[number] if number < len(found) else None

    _bind(readline, complete)


def _bind(readline: ModuleType, complete: Callable[[str, int], Any]) -> None:
    readline.set_completer(complete)
    # Names are completed up to and with "=", values behind it, so only blanks part words.
    readline.set_completer_delims(" \t\n")
    if getattr(readline, "backend", "") == "editline" or "libedit" in (readline.__doc__ or ""):
        readline.parse_and_bind("bind ^I rl_complete")
    else:
        readline.parse_and_bind("tab: complete")
        # A completion brings its own blank.
        readline.parse_and_bind("set completion-ignore-case off")
