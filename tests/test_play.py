"""A person plays in a terminal: a real one (a pseudo-terminal), driven by what a person would type."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from spawned import TinyEnv

from agentgym import GoldRunner
from agentgym.play import Game, printable
from agentgym.play_line import Completer, LineError, by_name, parse_line, split_arguments

SCENARIO = "refund/defective-001"
PATIENCE_S = 60


def environment() -> dict[str, str]:
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)
    return {**os.environ, "PYTHONPATH": path, "TERM": "dumb", "INPUTRC": os.devnull, "PYTHONUTF8": "1"}


class Terminal:
    """The command ``agentgym play`` in a terminal of its own."""

    def __init__(self, *arguments: str, program: Sequence[str] = ("-m", "agentgym.cli", "play")) -> None:
        self._side, other = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, *program, *arguments],
            stdin=other,
            stdout=other,
            stderr=other,
            env=environment(),
            # A terminal of its own, so that Ctrl-C reaches the game and nobody else.
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(other)
        self.shown = ""

    def until(self, text: str) -> str:
        """Read until *text* shows up; what was shown since the last call."""
        end = time.monotonic() + PATIENCE_S
        while text not in self.shown:
            if not self._more(end):
                raise AssertionError(f"the terminal never showed {text!r}, only: {self.shown[-2000:]}")
        before, _, self.shown = self.shown.partition(text)
        return before

    def type(self, keys: str | bytes) -> None:
        os.write(self._side, keys if isinstance(keys, bytes) else keys.encode())

    def enter(self, line: str) -> str:
        """Type a line; what came up to the next prompt or the end."""
        self.type(line + "\n")
        return self.until("\n> ")

    def end(self) -> int:
        """Wait for the end; the exit code."""
        end = time.monotonic() + PATIENCE_S
        while self._more(end):
            pass
        code = self.process.wait(PATIENCE_S)
        os.close(self._side)
        return code

    def _more(self, end: float) -> bool:
        ready, _, _ = select.select([self._side], [], [], max(0.0, end - time.monotonic()))
        try:
            data = os.read(self._side, 65536) if ready else b""
        except OSError:
            # Linux's word for a terminal whose other side is closed.
            return False
        self.shown += data.decode(errors="replace").replace("\r", "")
        return bool(data)


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def terminal() -> Iterator[Callable[..., Terminal]]:
    made: list[Terminal] = []

    def start(*arguments: str, **options: Any) -> Terminal:
        made.append(Terminal(*arguments, **options))
        return made[-1]

    yield start
    for each in made:
        if each.process.poll() is None:
            each.process.kill()
            each.process.wait()


def gold_lines(scenario: str) -> list[str]:
    """The calls of a gold plan as a person types them, in each of the ways in turn."""
    env = gym.make("agentgym:Refund-v0", split="test")
    observation, _ = env.reset(seed=1, options={"scenario": scenario})
    gold = GoldRunner(env.unwrapped.scenario, 0)  # type: ignore[attr-defined]
    lines: list[str] = []
    ended = False
    action = gold.next(observation)
    while action is not None and not ended:
        lines.append(typed(action, len(lines)))
        observation, _, ended, _, _ = env.step(action)
        action = gold.next(observation)
    env.close()
    return lines


def typed(action: dict[str, Any], number: int) -> str:
    name, arguments = action["name"], action["arguments"]
    if name == "respond":
        return f"say {arguments['message']}"
    if name == "confirm_with_user":
        return f"confirm {arguments['tool']} {json.dumps(arguments['arguments'])}"
    if any(isinstance(value, dict | list) for value in arguments.values()) or number % 3 == 0:
        return f"{name} {json.dumps(arguments)}"
    named = [f"{key}={json.dumps(value)}" for key, value in arguments.items()]
    return " ".join([name, *(named if number % 3 == 1 else [part.partition("=")[2] for part in named])])


def test_a_scenario_is_solved_by_typing(terminal: Callable[..., Terminal]) -> None:
    lines = gold_lines(SCENARIO)
    game = terminal("Refund-v0", "--scenario", SCENARIO, "--seed", "1")
    start = game.until("\n> ")
    assert "user    Hello, the over-ear headphones" in start and "/tools" in start
    for line in lines[:-1]:
        shown = game.enter(line)
        assert "error  " not in shown, (line, shown)
    game.type(lines[-1] + "\n")
    game.until("success (finished), return 1, checkpoints 100%")
    assert game.end() == 0
    assert "FAILED" not in game.shown and "ok  end" in game.shown


def test_tab_completes_tools_arguments_and_what_was_seen(terminal: Callable[..., Terminal]) -> None:
    game = terminal("Refund-v0", "--scenario", SCENARIO, "--seed", "1")
    game.until("\n> ")
    assert "ticket_id: T6003" in game.enter("get_tic\tT6\t")
    shown = game.enter("get_cust\tcustomer_id=C2\t")
    assert "get_customer customer_id=C2009" in shown and "tier: " in shown
    game.type("/quit\n")
    assert game.end() == 0


@pytest.mark.parametrize(("keys", "code", "said"), [("\x04", 0, ""), ("\x03", 130, "interrupted"), ("/quit\n", 0, "")])
def test_leaving_is_clean(terminal: Callable[..., Terminal], keys: str, code: int, said: str) -> None:
    game = terminal("Refund-v0", "--scenario", SCENARIO)
    game.until("\n> ")
    game.enter("get_ticket T6003")
    game.type(keys)
    assert game.end() == code
    assert said in game.shown and "Traceback" not in game.shown


def test_ctrl_c_in_half_a_line_leaves_too(terminal: Callable[..., Terminal]) -> None:
    game = terminal("Refund-v0", "--scenario", SCENARIO)
    game.until("\n> ")
    game.type("get_or")
    game.until("get_or")
    game.type("\x03")
    assert game.end() == 130 and "Traceback" not in game.shown


_LOST = """
import readline, signal
from agentgym.cli.interrupting import insistent_interrupts
# The line editor drops what its hooks raise: the press is lost, as one that comes just before it waits.
readline.set_startup_hook(lambda: signal.raise_signal(signal.SIGINT))
try:
    with insistent_interrupts():
        input("> ")
except KeyboardInterrupt:
    print("seen")
"""


def test_a_press_that_the_line_editor_loses_is_seen_all_the_same(terminal: Callable[..., Terminal]) -> None:
    game = terminal(program=["-c", _LOST])
    game.until("seen")
    assert game.end() == 0


def test_nonsense_costs_nothing_and_the_game_goes_on(terminal: Callable[..., Terminal]) -> None:
    game = terminal("Refund-v0", "--scenario", SCENARIO)
    game.until("\n> ")
    for line, answer in (
        ("gett_order A1", 'there is no tool or command "gett_order" (did you mean "get_order"?)'),
        ("/nothing", "there is no command /nothing"),
        ("get_order A1 A2", "get_order takes order_id; one is too many"),
        ('get_order {"order_id": ', "check quotes and brackets"),
        ("get_order order=A1", "get_order has no argument order"),
        ("/help nobody", "there is no tool nobody"),
        ("get_order", "order_id"),
        ("   ", ""),
        ("🦆 \u202e ünïcode", "there is no tool or command"),
    ):
        assert answer in game.enter(line), line
    game.type(b"\xff\xfe\x80\n")
    game.until("there is no tool or command")
    game.until("\n> ")
    assert "ticket_id: T6003" in game.enter("get_ticket T6003")
    game.type("\x04")
    assert game.end() == 0 and "Traceback" not in game.shown


def test_a_file_plays_as_well_and_the_output_has_no_prompt_and_no_colours() -> None:
    command = [sys.executable, "-m", "agentgym.cli", "play", "Refund-v0", "--scenario", SCENARIO, "--seed", "1"]
    lines = "\n".join([*gold_lines(SCENARIO), "never read"])
    done = subprocess.run(command, input=lines, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "success (finished), return 1" in done.stdout
    assert "\x1b" not in done.stdout and "> " not in re.sub(r"[-=]>", "", done.stdout)


def test_bytes_that_are_no_text_end_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "agentgym.cli", "play", "Refund-v0", "--scenario", SCENARIO]
    noise = b"\x00\xff\xfe\n\x1b[2J\n" + b"x" * 100_000 + b"\nget_ticket T6003\n"
    done = subprocess.run(command, input=noise, env=environment(), capture_output=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert b"ticket_id: T6003" in done.stdout and b"\x1b" not in done.stdout and b"\x00" not in done.stdout


def test_a_signal_to_end_it_leaves_no_process(terminal: Callable[..., Terminal]) -> None:
    game = terminal("Refund-v0", "--scenario", SCENARIO)
    game.until("\n> ")
    game.process.send_signal(signal.SIGTERM)
    assert game.end() == -signal.SIGTERM


TOOLS = by_name(TinyEnv.domain.schemas)


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        ("renew_loan L101 14", {"loan_id": "L101", "days": 14}),
        ("renew_loan days=14 loan_id=L101", {"loan_id": "L101", "days": 14}),
        ("renew_loan days=14 L101", {"loan_id": "L101", "days": 14}),
        ('renew_loan {"loan_id": "L101", "days": 14}', {"loan_id": "L101", "days": 14}),
        ("renew_loan L101 many", {"loan_id": "L101", "days": "many"}),
        ("renew_loan", {}),
        ("say  it is due, isn't it? {no}", {"message": "it is due, isn't it? {no}"}),
        ('say "quoted"', {"message": '"quoted"'}),
        ("confirm renew_loan L101 14", {"tool": "renew_loan", "arguments": {"loan_id": "L101", "days": 14}}),
        ("confirm", {"tool": "", "arguments": {}}),
        ("finish refused reason=late days=3", {"outcome": "refused", "answer": {"reason": "late", "days": 3}}),
        ('finish done {"a": [1, "x y"]}', {"outcome": "done", "answer": {"a": [1, "x y"]}}),
        ("hand_off other 'two words'", {"reason": "other", "summary": "two words"}),
        ("wait 60", {"seconds": 60}),
    ],
)
def test_a_line_is_read_as_it_was_meant(line: str, arguments: dict[str, Any]) -> None:
    assert parse_line(line, TOOLS)["arguments"] == arguments


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("renew L1", r'there is no tool or command "renew"'),
        ("renew_loan L1 2 3", r"renew_loan takes loan_id, days; one is too many: \"3\""),
        ("renew_loan loan=L1", r'renew_loan has no argument loan \(did you mean "loan_id"\?\)'),
        ("hand_off 'open", r"a quote is never closed"),
        ("finish done {", r"as JSON; check quotes and brackets"),
        ("finish done " + "[" * 100_000, r"as JSON; check quotes and brackets"),
        ("confirm nothing", r'there is no tool or command "nothing"'),
    ],
)
def test_a_line_that_means_nothing_says_what_would(line: str, text: str) -> None:
    with pytest.raises(LineError, match=text):
        parse_line(line, TOOLS)


def test_a_number_stays_text_where_text_is_wanted() -> None:
    assert split_arguments("5 a=5") == [(None, "5"), ("a", "5")]
    tools = {"note": {"properties": {"text": {"type": "string"}, "count": {"type": ["integer", "null"]}}}}
    assert parse_line("note 5 null", tools)["arguments"] == {"text": "5", "count": None}


def test_completion_offers_what_may_come_next() -> None:
    completer = Completer(TinyEnv.domain.schemas)
    assert completer.complete("", "rene") == ["renew_loan "]
    assert completer.complete("", "/q") == ["/quit "]
    assert completer.complete("confirm ", "rene") == ["renew_loan "]
    assert completer.complete("/help ", "rene") == ["renew_loan "]
    assert completer.complete("renew_loan ", "da") == ["days="]
    completer.learn('{"loans": [{"loan_id": "L101"}]}')
    assert "L101 " in completer.complete("renew_loan ", "")
    assert completer.complete("renew_loan loan_id=L101 ", "loan_id") == []
    assert completer.complete("renew_loan ", "loan_id=L") == ["loan_id=L101 "]
    assert completer.complete("finish ", "re") == ["refused "]
    assert completer.complete("nothing ", "x") == []


def test_what_would_steer_a_terminal_is_not_shown() -> None:
    assert printable("a\x1b[31mb\x07\u202ec\r\nd\te") == "a\ufffd[31mb\ufffd\ufffdc\ufffd\nd    e"


def test_after_the_end_lines_do_nothing(tiny: Callable[..., TinyEnv]) -> None:
    shown: list[str] = []
    env = tiny(split="test")
    game = Game(env, shown.append, seed=1, options={"scenario": "tiny/renew-001"})
    game.enter("finish refused")
    assert game.over and game.verdict is not None and not game.verdict.success
    steps = len(env.trace)
    game.enter("finish refused")
    assert len(env.trace) == steps
    assert shown[-1].startswith("end     no success (finished), return 0") and "FAILED  end" in shown[-1]
