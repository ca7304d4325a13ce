"""The container engine: reaching it, saying what is wrong with it, and whose a container is.

`docker` is imported when an engine is first wanted.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from agentgym.errors import BackendError

OWNER = "agentgym.owner"
"""Label: process id of the owner and when that process started."""

HOST = "agentgym.host"
"""Label: the machine and the process table in which the owner's id means something."""

_EMBEDDED = 'or use backend="embedded", which needs no engine'
_clients: dict[tuple[int, str], Any] = {}
_lock = threading.Lock()


def address() -> str:
    """Where the engine is looked for, as in DOCKER_HOST."""
    return os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"


def client() -> Any:
    """The low-level client of the engine, one a process.

    Raises:
        BackendError: no engine answers, or this user may not use it.
    """
    key = (os.getpid(), address())
    with _lock:
        found = _clients.get(key)
        if found is None:
            import docker

            with explained("reach the container engine"):
                _knock(address())
                found = docker.from_env(timeout=60).api
                found.ping()
            _clients[key] = found
    return found


def _knock(where: str) -> None:
    """Try a local socket first: the client does not say plainly what is wrong with it, and leaves it open."""
    if where.startswith("unix://"):
        with socket.socket(socket.AF_UNIX) as door:
            door.settimeout(10)
            door.connect(where.removeprefix("unix://"))


def unavailable() -> str:
    """Why there is no engine to use here, "" where there is one."""
    try:
        client()
    except BackendError as error:
        return str(error)
    return ""


@contextlib.contextmanager
def explained(action: str) -> Iterator[None]:
    """Turn the errors of the engine and of the way to it into a `BackendError` that says what to do."""
    import docker.errors
    import requests

    try:
        yield
    except (docker.errors.DockerException, requests.RequestException, OSError) as error:
        raise BackendError(f"cannot {action}: {advice(f'{type(error).__name__}: {error}')}") from error


def advice(text: str) -> str:
    """What an error text of the engine means and what to do about it."""
    low = text.lower()
    if "no space left" in low or "disk quota" in low:
        return (
            f"the disk is full ({text}); free space where the engine keeps its data (docker system df shows what takes "
            "it, docker system prune frees some) and in the temporary folder"
        )
    if "permission denied" in low or "permissionerror" in low:
        return (
            f"this user may not use the engine at {address()} ({text}); add the user to the group of that socket "
            f"(usermod -aG docker USER, then log in again), set DOCKER_HOST to an engine of your own, {_EMBEDDED}"
        )
    if any(sign in low for sign in ("filenotfounderror", "connection refused", "connectionrefused", "no such host",
                                    "error while fetching server api version", "failed to resolve", "timed out",
                                    "connection aborted", "max retries")):  # fmt: skip
        return (
            f"no container engine answers at {address()} ({text}); start one (systemctl start docker, or Docker "
            f"Desktop), set DOCKER_HOST to one that runs, {_EMBEDDED}"
        )
    return text


def owner_labels() -> dict[str, str]:
    """Labels that say whose a container is."""
    return {OWNER: f"{os.getpid()}:{_started(os.getpid())}", HOST: _host()}


def is_dead(labels: Mapping[str, str]) -> bool:
    """Whether the owner named by *labels* is known to be gone; what another machine owns is never known to be."""
    if labels.get(HOST) != _host():
        return False
    pid, _, started = labels.get(OWNER, "").partition(":")
    if not pid.isdigit():
        return False
    return _started(int(pid)) != started


def _started(pid: int) -> str:
    """When a process started, "" when there is none."""
    if Path("/proc/self/stat").exists():
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        # The second field is the name in brackets, in which anything may stand; a zombie is no owner.
        fields = stat.rpartition(")")[2].split()
        return "" if fields[0] in "ZX" else fields[19]
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass
    return "unknown"


@lru_cache
def _host() -> str:
    parts = [socket.gethostname()]
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
            parts = [boot, os.readlink("/proc/self/ns/pid")]
    return " ".join(parts)


def history(name: str) -> list[dict[str, Any]]:
    """What the engine remembers of a container, also after its end, in order."""
    api = client()
    # By the engine's clock, which may be another machine's.
    whole, _, rest = api.info()["SystemTime"].partition(".")
    fraction = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    zone = rest[len(fraction) :] or whole[19:]
    seconds = round(datetime.fromisoformat(whole[:19] + zone).timestamp())
    until = f"{seconds}.{fraction.ljust(9, '0')[:9]}"
    return list(api.events(since="1", until=until, filters={"container": name, "type": "container"}, decode=True))


def reap() -> list[str]:
    """Remove the containers whose owners are dead, and no others; return their names."""
    api = client()
    removed = []
    with explained("list containers"):
        found = api.containers(all=True, filters={"label": OWNER})
    for entry in found:
        if is_dead(entry["Labels"]):
            remove(entry["Id"])
            removed.append(entry["Names"][0].lstrip("/") if entry["Names"] else entry["Id"][:12])
    return removed


def remove(name: str) -> None:
    """Kill and remove one container; one that is gone already, or on its way, is fine."""
    import docker.errors

    with explained(f"remove the container {name}"):
        try:
            client().remove_container(name, force=True, v=True)
        except docker.errors.NotFound:
            pass
        except docker.errors.APIError as error:
            if error.status_code != 409:
                raise
