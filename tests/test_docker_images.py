"""Images: what is in them, what they are called, and what is said where one is missing, old or something else."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hostile_domain import BASE, HOSTILE, HostileEnv, goal
from test_cli import agentgym_command, refused

import agentgym
from agentgym.backends import engine, images
from agentgym.domain import Domain
from agentgym.envs.refund.env import DOMAIN
from agentgym.errors import BackendError
from agentgym.loading import load_curated
from agentgym.server import PROTOCOL, frame, receive, tools_hash
from agentgym.snapshot import expected_hash, logical_hash


def docker_test(function: Callable[..., None]) -> Callable[..., None]:
    """Marks a test that needs an engine; the others of this module need none."""
    marked: Callable[..., None] = pytest.mark.docker(pytest.mark.usefixtures("engine")(function))
    return marked


def unpacked(domain: Domain, folder: Path) -> Path:
    """What the build of an image gets."""
    with tarfile.open(fileobj=images.context(images.spec(domain))) as tar:
        tar.extractall(folder, filter="data")
    return folder / "world" / "opt" / "agentgym"


def test_an_image_holds_the_world_side_and_nothing_else(tmp_path: Path) -> None:
    home = unpacked(DOMAIN, tmp_path)
    found = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}
    core = {f"agentgym/{name}.py" for name in images.CORE}
    empty = {f"agentgym/{name}__init__.py" for name in ("", "backends/", "envs/", "envs/refund/")}
    kinds = ("people", "orders", "parcels", "tickets"), ("money", "goods", "cases", "others")
    tools = [f"{verb}_{kind}" for verb, each in zip(("read", "write"), kinds, strict=True) for kind in each]
    domain = {f"agentgym/envs/refund/{name}.py" for name in (*tools, "desk")}
    assert found == core | empty | domain | {"schema.sql", "snapshot.db", "serve.py", "gold.json", "manifest.json"}
    assert all((home / name).read_bytes() == b"" for name in empty)
    everything = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()).decode("latin-1")
    assert not re.search(r"agentgym:[0-9a-f]{32}", everything)
    for scenario in load_curated(DOMAIN).values():
        assert scenario.canary not in everything
        assert scenario.id not in everything


def test_the_same_files_give_the_same_build_and_the_same_name() -> None:
    assert images.context(images.spec(DOMAIN)).getvalue() == images.context(images.spec(DOMAIN)).getvalue()
    assert images.spec(DOMAIN).name == images.spec(DOMAIN).name
    assert re.fullmatch(r"agentgym-refund:[0-9a-f]{12}", images.spec(DOMAIN).name)
    fewer = replace(HOSTILE, tools=HOSTILE.tools[:-1])
    assert images.spec(fewer).labels[images.TOOLS] != images.spec(HOSTILE).labels[images.TOOLS]
    assert images.spec(fewer).labels[images.TOOLS] == tools_hash(fewer.tools)
    assert images.spec(fewer).name != images.spec(HOSTILE).name


def test_the_server_of_an_image_speaks_over_standard_input_in_any_python(tmp_path: Path) -> None:
    home = unpacked(HOSTILE, tmp_path)
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-B", str(home / "serve.py"), "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def ask(*operations: list[Any], seconds: float = 5.0) -> dict[str, Any]:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(frame({"do": list(operations), "seconds": seconds}))
            process.stdin.flush()
            return receive(process.stdout.read)[0]

        gave = ask(["hello"], ["restore", []], ["hash"], ["call", "get", {"name": "fig"}, 0])["gave"]
        assert gave[0]["protocol"] == PROTOCOL
        assert gave[2] == expected_hash(HOSTILE.folder)
        assert gave[3] == [True, {"name": "fig", "value": 3, "note": None}, "", False, []]
        late = ask(["call", "hang", {"how": "sql"}, 0], seconds=0.3)
        assert late["error"][0] == "late"
        assert ask(["call", "bug", {}, 0])["error"][1].startswith("KeyError: 'missing'")
        assert "there is no operation 'judge'" in ask(["judge"])["error"][1]
        assert ask(["hash"])["gave"] == [gave[2]]
    assert process.returncode == 0


def test_a_message_that_is_too_long_or_none_at_all_is_refused() -> None:
    for data, text in ((b"\xff" * 8, "at most"), (frame({})[:8] + b"[]", "expected a message, got list")):
        rest = bytearray(data)

        def read(count: int, rest: bytearray = rest) -> bytes:
            part = bytes(rest[:count])
            del rest[:count]
            return part

        with pytest.raises(ValueError, match=text):
            receive(read)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("write /var/lib/docker/x: no space left on device", "the disk is full .*docker system prune"),
        ("PermissionError(13, 'Permission denied')", "usermod -aG docker USER"),
        ("ConnectionRefusedError: [Errno 111] Connection refused", "start one .systemctl start docker"),
    ],
)
def test_an_error_of_the_engine_says_what_to_do(text: str, expected: str) -> None:
    assert re.search(expected, engine.advice(text))


def test_a_folder_without_room_says_so(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="cannot make it: the disk is full .*free space"):
        with engine.explained("make it"), open("/dev/full", "wb", buffering=0) as full:
            full.write(b"x")


@docker_test
def test_a_socket_that_this_user_may_not_use_says_so(tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    # Imported first: that user may not read the installation.
    code = "import os, docker, requests\nfrom agentgym.backends.engine import unavailable\n"
    code += "os.setgroups([]); os.setgid(65534); os.setuid(65534)\nprint(unavailable())"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert "this user may not use the engine" in done.stdout, done.stderr


@docker_test
def test_an_image_that_is_missing_or_old_or_something_else_says_how_to_mend_it() -> None:
    changed = images.spec(HOSTILE)
    labels = {**changed.labels, images.CONTENT: "f" * 64, images.SNAPSHOT: "e" * 64}
    old = replace(changed, labels=labels)
    with pytest.raises(
        BackendError, match=r"is from another version \(snapshot .* instead of e{12}, content .*build hostile"
    ):
        images.ready(old)
    missing = replace(old, domain="nowhere")
    with pytest.raises(
        BackendError, match=r"there is no image agentgym-nowhere:f{12} .*run: agentgym images build nowhere"
    ):
        images.ready(missing)
    engine.client().tag(changed.name, "agentgym-hostile", "f" * 12)
    try:
        with pytest.raises(
            BackendError, match=r"has the snapshot .{12}, this installation needs e{12}; run: agentgym images"
        ):
            images.ready(old)
        wrong = replace(old, labels={**labels, images.DOMAIN: "nowhere"})
        with pytest.raises(BackendError, match="has the domain hostile, this installation needs nowhere"):
            images.ready(wrong)
    finally:
        engine.client().remove_image(f"agentgym-hostile:{'f' * 12}")


@docker_test
def test_two_builds_give_the_same_layers() -> None:
    layers = []
    for _turn in range(2):
        for _line in images.build(HOSTILE, os.environ.get(BASE)):
            pass
        layers.append(engine.client().inspect_image(images.spec(HOSTILE).name)["RootFS"]["Layers"])
    assert layers[0] == layers[1]


@docker_test
def test_a_base_that_is_not_here_or_has_no_python_says_so() -> None:
    with pytest.raises(BackendError, match=r"the base image no-such-base:1 is not here .*--base IMAGE"):
        for _line in images.build(HOSTILE, "no-such-base:1"):
            pass


@docker_test
def test_the_command_builds_lists_verifies_and_cleans() -> None:
    base = os.environ.get(BASE)
    name = images.spec(DOMAIN).name
    out, _err = agentgym_command("images", "build", "refund", "-q", *(("--base", base) if base else ()))
    assert out.strip() == name
    listed = json.loads(agentgym_command("images", "list", "--json")[0])
    assert {"domain": "refund", "image": name, "status": "current"}.items() <= listed[0].items()
    said = json.loads(agentgym_command("images", "verify", "Refund-v0", "--json")[0])
    assert said[0]["ok"]
    assert said[0]["snapshot"] == expected_hash(DOMAIN.folder)
    agentgym_command("images", "clean")
    assert images.ready(images.spec(DOMAIN))
    assert 'no domain "refnd" (did you mean "refund"?)' in refused("images", "build", "refnd")


@docker_test
def test_an_old_image_that_lost_its_tag_is_listed_and_cleaned_by_its_identifier() -> None:
    domain = replace(HOSTILE, name="lost")
    label = f"LABEL {images.DOMAIN}={domain.name}"
    with io.BytesIO() as held:
        tarfile.open(fileobj=held, mode="w").close()
        said = engine.client().import_image_from_data(held.getvalue(), changes=[label])
    lost = json.loads(said.splitlines()[-1])["status"]
    assert [images.names(entry) for entry in images.images(domain.name)] == [[lost]]
    assert images.remove_old(domain) == [lost]
    assert not images.images(domain.name)


@docker_test
def test_the_command_runs_a_whole_split_in_containers(tmp_path: Path) -> None:
    command = ["run", "Refund-v0", "--agent", "gold", "--backend", "docker", "--workers", "1", "--json"]
    out, _err = agentgym_command(*command, "--store", tmp_path / "run.db", cwd=tmp_path)
    (gold,) = json.loads(out)["agents"]
    assert gold["successes"] == gold["planned"] > 0


def test_the_command_without_an_engine_says_what_to_do_and_runs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    text = refused("run", "Refund-v0", "--agent", "gold", "--backend", "docker", cwd=tmp_path)
    assert "no container engine answers at unix:///nowhere/docker.sock" in text
    assert not list(tmp_path.iterdir())


def test_the_snapshot_in_the_build_is_the_packages_own(tmp_path: Path) -> None:
    import sqlite3

    connection = sqlite3.connect(unpacked(DOMAIN, tmp_path) / "snapshot.db")
    assert logical_hash(connection) == expected_hash(Path(agentgym.__file__).parent / "envs" / "refund")
    connection.close()


@docker_test
def test_an_environment_without_its_image_is_refused_at_reset() -> None:
    class Stranger(HostileEnv):
        domain = replace(HOSTILE, name="stranger")

    env = Stranger(backend="docker")
    scenario = goal().model_copy(update={"id": "stranger/apple-001"})
    with pytest.raises(BackendError, match="there is no image agentgym-stranger:.*agentgym images build stranger"):
        env.reset(seed=1, options={"scenario": scenario})
    env.close()
