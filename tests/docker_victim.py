"""A process that uses containers until it is killed, run as ``python docker_victim.py HOW``."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent), str(Path(__file__).resolve().parent)]

from hostile_domain import HostileEnv  # noqa: E402 - found by the line above


def main(how: str) -> None:
    """Play for ever: "warm", or "fresh" with a new container for every episode, or "hang" in a call."""
    print("started", flush=True)  # noqa: T201 - for the test
    env = HostileEnv(backend="docker", fresh_container=how == "fresh")
    while True:
        env.begin()
        env.act("put", name="fig", value=8)
        print("playing", flush=True)  # noqa: T201 - for the test
        if how == "hang":
            env.act("hang", how="sleep")
        env.act("finish", outcome="done")


if __name__ == "__main__":
    main(sys.argv[1])
