"""The command ``agentgym``: list, show, play, run, results, users, validate, new, draft, variants, doctor, images.

Standard output carries data only; what goes on and what went wrong is on standard error. Exit codes: 0 fine · 1 a check
failed · 2 wrong use, or a file that cannot be used · 3 trials are missing after a run · 130 interrupted.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import traceback
from collections.abc import Sequence

import click

import agentgym
from agentgym.cli.common import Commands, Interrupted
from agentgym.cli.doctoring import doctor_command
from agentgym.cli.drafting import draft_command, variants_command
from agentgym.cli.images import images_command
from agentgym.cli.listing import list_command, show_command
from agentgym.cli.people import users_command
from agentgym.cli.playing import play_command
from agentgym.cli.reporting import results_command
from agentgym.cli.running import run_command
from agentgym.cli.scaffolding import new_command
from agentgym.cli.validating import validate_command
from agentgym.errors import AgentGymError

__all__ = ["main"]

DEBUG = "AGENTGYM_DEBUG"
"""Environment variable that does what --debug does, in worker processes too."""


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(agentgym.__version__, message="agentgym %(version)s")
@click.option("--debug", is_flag=True, help="Show a traceback with an error.")
@click.pass_context
def cli(ctx: click.Context, debug: bool) -> None:
    """Environments for language-model agents: what there is, and how agents do in it."""
    if debug:
        os.environ[DEBUG] = "1"
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


for command in (
    list_command,
    show_command,
    play_command,
    run_command,
    results_command,
    users_command,
    validate_command,
    new_command,
    draft_command,
    variants_command,
    doctor_command,
    images_command,
):
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Args:
        arguments: without the name of the program; by default those of the process.
    """
    if not os.environ.get(DEBUG):
        # The error itself is told; its stack is for whoever asks.
        logging.getLogger("agentgym").addHandler(logging.NullHandler())
    try:
        code = cli.main(args=arguments, prog_name="agentgym", standalone_mode=False)
        sys.stdout.flush()
    except (click.Abort, KeyboardInterrupt):
        return _told("interrupted", Interrupted.exit_code)
    except BrokenPipeError:
        return _unread()
    except SystemExit as error:
        # click's own answer to a broken pipe, the one case in which it exits here; 1 is for checks that fail.
        return _unread() if error.code == 1 else 0
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "agentgym"
        return _told(f"{error.format_message()} (see {where} --help)", 2)
    except click.ClickException as error:
        return _told(error.format_message(), error.exit_code)
    except (AgentGymError, ValueError, OSError) as error:
        return _told(str(error), 2)
    except Exception as error:  # noqa: BLE001 - a bug of ours is told like any error; --debug shows where
        return _told(f"unexpected {type(error).__name__}: {error} (run agentgym --debug ... to see where)", 2)
    return code if isinstance(code, int) else 0


def _unread() -> int:
    """Whoever read the output has enough: end as a program does that the system's signal ends."""
    # Python would complain at exit about what is left in the buffer.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 128 + signal.SIGPIPE


def _told(message: str, code: int) -> int:
    if os.environ.get(DEBUG):
        traceback.print_exc()
    line = " ".join(message.split())
    click.echo(line if code == Interrupted.exit_code else f"error: {line}", err=True)
    return code
