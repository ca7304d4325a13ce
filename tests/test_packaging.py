"""What is shipped, what may import what, and that the lists which say so are true."""

from __future__ import annotations

import ast
import importlib
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import agentgym

ROOT = Path(__file__).resolve().parent.parent
LINKED = ("baselines", "envs", "images", "scenarios")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NOT_SHIPPED = shutil.ignore_patterns(
    ".*", "__pycache__", "build", "dist", "*.egg-info", "*.db", "tests", "docs", "examples", "benchmarks", "runs"
)
WORLD_SIDE = ("agentgym.world", "agentgym.tools", "agentgym.snapshot", "agentgym.server", "agentgym.backends.embedded")


def source(module: str) -> Path | None:
    """The file of a module of the checkout, None for what is not ours."""
    base = ROOT.joinpath(*module.split("."))
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


def domain_modules() -> list[str]:
    return [
        f"agentgym.envs.{path.parent.name}.{path.stem}"
        for path in sorted((ROOT / "envs").glob("*/*.py"))
        if path.stem in ("tools", "world")
    ]


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """Each import in a file, at any depth, as (module, name or ""), without those that only type checkers see."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    unseen = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if node in unseen:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}:{node.lineno}: imports are absolute"
            yield from ((node.module or "", alias.name) for alias in node.names)


def copy_without_links(target: Path) -> Path:
    """Copy what a wheel is built from, without the links in agentgym/."""

    def ignore(folder: str, names: list[str]) -> set[str]:
        links = {name for name in names if os.path.islink(os.path.join(folder, name))}
        return links | set(NOT_SHIPPED(folder, names))

    shutil.copytree(ROOT, target, ignore=ignore)
    return target


def build_wheel(checkout: Path, out: Path) -> list[str]:
    """Build a wheel with the tools of this environment and return the names of its files."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(checkout)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    (wheel,) = out.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return sorted(name for name in archive.namelist() if ".dist-info/" not in name)


@pytest.fixture(scope="module")
def bare_checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_without_links(tmp_path_factory.mktemp("bare") / "checkout")


def shipped() -> list[str]:
    """The files that a wheel must have, by their place in the wheel."""
    names = ["agentgym/py.typed"]
    for folder, prefix in (("agentgym", "agentgym"), *((name, f"agentgym/{name}") for name in LINKED)):
        for base, folders, files in os.walk(ROOT / folder):
            folders[:] = [name for name in folders if name != "__pycache__"]
            place = Path(prefix, Path(base).relative_to(ROOT / folder))
            kinds = (".md", ".npz", ".py", ".sha256", ".sql", ".yaml")
            wanted = (name for name in files if Path(name).suffix in kinds or name == "Dockerfile")
            names += [(place / name).as_posix() for name in wanted]
    names += [f"agentgym/envs/{path.parent.name}/snapshot.db" for path in (ROOT / "envs").glob("*/world.py")]
    return sorted(names)


def test_a_wheel_has_each_file_once_and_every_snapshot_even_from_a_checkout_without_links(
    bare_checkout: Path, tmp_path: Path
) -> None:
    assert build_wheel(bare_checkout, tmp_path / "bare") == shipped()


def test_a_wheel_from_a_checkout_with_links_is_the_same(bare_checkout: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    shutil.copytree(bare_checkout, linked)
    for name in LINKED:
        (linked / "agentgym" / name).symlink_to(Path("..", name))
    assert build_wheel(linked, tmp_path / "out") == shipped()


def test_a_wheel_whose_snapshot_is_not_the_committed_one_is_not_built(bare_checkout: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed"
    shutil.copytree(bare_checkout, changed)
    (changed / "envs" / "refund" / "snapshot.sha256").write_text("0" * 64 + "\n", encoding="ascii")
    with pytest.raises(AssertionError, match=r"envs/refund: the snapshot built .* snapshot\.sha256 says 0{64}"):
        build_wheel(changed, tmp_path / "out")


@pytest.mark.parametrize("name", LINKED)
def test_the_checkout_has_the_link_that_gives_it_the_shape_of_the_wheel(name: str) -> None:
    assert (ROOT / "agentgym" / name).is_symlink()
    assert os.readlink(ROOT / "agentgym" / name) == f"../{name}"


def test_the_explicit_list_of_packages_is_complete() -> None:
    found = {"agentgym"}
    for folder, prefix in (("agentgym", "agentgym"), *((name, f"agentgym.{name}") for name in LINKED)):
        for init in (ROOT / folder).rglob("__init__.py"):
            inner = init.parent.relative_to(ROOT / folder).parts
            found.add(".".join((prefix, *inner)))
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == found


def test_every_dependency_is_locked_and_the_lock_names_no_index() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    locked = {re.split("==", line)[0] for line in text.splitlines()}
    extras = PROJECT["project"]["optional-dependencies"]
    for requirement in [*PROJECT["project"]["dependencies"], *extras["dev"], *extras["report"]]:
        name = re.split(r"[\[<>=~!; ]", requirement)[0].lower().replace("_", "-")
        assert name in locked, f"{name} is not in requirements.lock: run python3 dev.py lock"
    assert "://" not in text
    assert all("==" in line for line in text.splitlines())


def test_the_version_is_in_the_changelog_and_each_release_says_whether_scores_can_be_compared() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    releases = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert f"[{PROJECT['project']['version']}]" in text
    assert PROJECT["project"]["version"] == agentgym.__version__
    for release in releases:
        assert release.startswith("[Unreleased]") or "\n### Scores\n" in release, release.splitlines()[0]


def lint_imports(checkout: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)


def test_the_import_contracts_hold() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout
    assert f"{len(PROJECT['tool']['importlinter']['contracts'])} kept, 0 broken" in done.stdout


def test_the_import_contracts_see_a_core_that_knows_a_domain_and_a_world_that_needs_a_package(
    bare_checkout: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(bare_checkout, broken)
    for name in LINKED:
        (broken / "agentgym" / name).symlink_to(Path("..", name))
    (broken / "agentgym" / "shortcut.py").write_text("import agentgym.envs.refund\n", encoding="utf-8")
    with (broken / "envs" / "refund" / "world.py").open("a", encoding="utf-8") as file:
        file.write("\n\ndef late() -> None:\n    import numpy\n")
    done = lint_imports(broken)
    assert done.returncode == 1, done.stdout
    assert "agentgym.shortcut -> agentgym.envs.refund (l.1)" in done.stdout
    assert "agentgym.envs.refund.world -> numpy" in done.stdout


@pytest.mark.parametrize("module", [*WORLD_SIDE, *domain_modules()])
def test_what_may_run_in_a_container_imports_the_standard_library_only(module: str) -> None:
    seen, waiting = set(), [module]
    while waiting:
        name = waiting.pop()
        path = source(name)
        assert path is not None, f"{name} is not a module of the checkout"
        seen.add(name)
        for target, part in imported(path):
            if target.split(".")[0] != "agentgym":
                assert target.split(".")[0] in sys.stdlib_module_names, f"{name} imports {target}"
                continue
            inner = f"{target}.{part}" if part and source(f"{target}.{part}") else target
            assert inner != "agentgym", (
                f"{name} imports {part} from agentgym: import it from the module that defines it"
            )
            waiting += [inner] if inner not in seen else []


def test_what_may_run_in_a_container_is_imported_by_a_python_without_packages() -> None:
    packages = {"agentgym": ROOT / "agentgym", "agentgym.envs": ROOT / "envs"}
    packages |= {module.rpartition(".")[0]: ROOT / "envs" / module.split(".")[2] for module in domain_modules()}
    code = "import importlib, sys, types\n"
    for name, folder in packages.items():
        code += (
            f"sys.modules[{name!r}] = types.ModuleType({name!r}); sys.modules[{name!r}].__path__ = [{str(folder)!r}]\n"
        )
    code += "".join(f"importlib.import_module({module!r})\n" for module in [*WORLD_SIDE, *domain_modules()])
    done = subprocess.run([sys.executable, "-I", "-S", "-B", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", sorted((ROOT / "baselines").glob("*.py")), ids=lambda path: path.name)
def test_an_agent_uses_what_agentgym_exports_and_nothing_behind_it(path: Path) -> None:
    for module, name in imported(path):
        top = module.split(".")[0]
        assert top not in LINKED, f"{path.name} imports {module}: the bare name exists only in the checkout's root"
        if module == "agentgym":
            assert name in ("", *agentgym.__all__), f"{path.name} imports {name}, which agentgym.__all__ does not have"
        elif top == "agentgym":
            assert re.match(r"agentgym\.(baselines|errors|spaces)\b", module), f"{path.name} imports {module}"


def modules() -> list[str]:
    names = ["agentgym"]
    names += [info.name for info in pkgutil.walk_packages(agentgym.__path__, "agentgym.")]
    return [name for name in names if not name.endswith("__main__")]


@pytest.mark.parametrize("name", modules())
def test_every_module_imports_and_its_all_is_true(name: str) -> None:
    module = importlib.import_module(name)
    names = list(getattr(module, "__all__", []))
    assert len(names) == len(set(names))
    missing = [entry for entry in names if not hasattr(module, entry)]
    assert not missing, f"{name}.__all__ has {missing}, which do not exist"


def test_the_package_shows_no_public_name_that_its_all_does_not_have() -> None:
    shown = {
        name
        for name, value in vars(agentgym).items()
        if not name.startswith("_") and str(getattr(value, "__module__", "")).startswith("agentgym")
    }
    assert shown <= set(agentgym.__all__)
