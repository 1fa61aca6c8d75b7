"""Fencepost installed from its wheel runs from any folder and needs nothing but the wheel. Offline."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from zipfile import ZipFile

import pytest

from harness.base.paths import CLIENTS, CONTRACT, ROOT, SCENARIOS
from harness.base.user_error import ExitCode
from harness.chaos.plan.scenario_catalogue import find_scenarios
from harness.clients.toolchains.program import PROGRAMS
from harness.contract.catalogue.requirement_catalogue import find
from harness.evidence.run_folder import RunFolder

OUTSIDE = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
"""The environment without what leads to this checkout."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel installed; our libraries are seen through a path, our checkout is not."""
    home = tmp_path_factory.mktemp("installed") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True, timeout=120)
    install = [sys.executable, "-m", "pip", "--python", str(home / "bin" / "python"), "install"]
    install += ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", str(wheel)]
    subprocess.run(install, check=True, capture_output=True, env=OUTSIDE, timeout=120)
    (packages,) = home.glob("lib/python3*/site-packages")
    # A path in a .pth file is appended as it is: the .pth files in that folder, such as our checkout's, are not read.
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return home


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A folder with nothing in it."""
    folder = tmp_path / "empty"
    folder.mkdir()
    return folder


def installed(environment: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command in ``folder``."""
    command = [str(environment / "bin" / "fencepost"), *words]
    return subprocess.run(command, cwd=folder, env=OUTSIDE, capture_output=True, text=True, timeout=120, check=False)


def written(folder: Path) -> set[str]:
    """What the command left in ``folder``; where Hypothesis is installed, importing kio makes it leave its own."""
    return {path.name for path in folder.iterdir()} - {".hypothesis"}


def test_the_code_that_runs_is_the_wheels(environment: Path, empty: Path) -> None:
    python = [str(environment / "bin" / "python"), "-c", "from harness.base import paths; print(paths.ROOT)"]
    printed = subprocess.run(python, cwd=empty, env=OUTSIDE, capture_output=True, text=True, timeout=60, check=True)
    assert environment.resolve() in Path(printed.stdout.strip()).parents


def test_it_lists_the_whole_catalogue_and_every_scenario(environment: Path, empty: Path) -> None:
    listed, scenarios = installed(environment, empty, "list"), installed(environment, empty, "list", "--scenarios")
    assert (listed.returncode, scenarios.returncode) == (ExitCode.KEPT, ExitCode.KEPT), listed.stderr + scenarios.stderr
    assert [entry.requirement.id for entry in find(CONTRACT) if entry.requirement.id not in listed.stdout] == []
    assert [each.name for each in find_scenarios(SCENARIOS) if each.name not in scenarios.stdout] == []
    assert written(empty) == set()


def test_it_has_the_contract_of_clients_and_every_file_of_the_adapters(
    wheel: Path, environment: Path, empty: Path
) -> None:
    listed = installed(environment, empty, "list", "--clients")
    assert [entry.requirement.id for entry in find(CLIENTS) if entry.requirement.id not in listed.stdout] == []
    kept = {file.relative_to(ROOT).as_posix() for file in PROGRAMS.rglob("*") if file.is_file()}
    made = {name for name in kept if "__pycache__" in name}
    with ZipFile(wheel) as packed:
        assert kept - made - set(packed.namelist()) == set()


def test_it_judges_a_recorded_folder_again_and_writes_its_page(environment: Path, empty: Path) -> None:
    requirement = next(find(CONTRACT)).requirement
    folder = RunFolder.create(empty / "run", {"target": "kafka:4.3.1"})
    folder.write_evidence(requirement.id, requirement.accepts[0])
    replayed = installed(environment, empty, "replay", "run")
    assert replayed.returncode == ExitCode.KEPT, replayed.stdout + replayed.stderr
    assert "Kafka 4.3.1 keeps the one promise that was judged" in replayed.stdout
    assert requirement.id in (folder.path / "index.html").read_text(encoding="utf-8")


COMMANDS = ("qualify", "chaos", "falsify", "clients", "replay", "up")
HELPS = """
import contextlib, io, json, sys
from harness.app.cli import main
printed = {}
for command in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()) as text:
        try:
            main([command, "--help"])
        except SystemExit as ended:
            printed[command] = ended.code, text.getvalue()
print(json.dumps(printed))
"""


@pytest.fixture(scope="module")
def helps(environment: Path) -> dict[str, tuple[int, str]]:
    """Exit code and text of every command's help; one process for all, since the import takes most of the time."""
    python = [str(environment / "bin" / "python"), "-c", HELPS, *COMMANDS]
    printed = subprocess.run(
        python, cwd=environment, env=OUTSIDE, capture_output=True, text=True, timeout=120, check=True
    )
    helps: dict[str, tuple[int, str]] = json.loads(printed.stdout)
    return helps


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_its_help(helps: dict[str, tuple[int, str]], command: str) -> None:
    code, text = helps[command]
    assert code == 0
    assert f"fencepost {command}" in text


@pytest.mark.parametrize("words", [("qualify", "kafka:4.3.1", "--select", "NOPE"), ("falsify", "--select", "NOPE")])
def test_a_session_of_pytest_needs_no_file_but_the_wheels(
    environment: Path, empty: Path, words: tuple[str, ...]
) -> None:
    ended = installed(environment, empty, *words)
    assert ended.returncode == ExitCode.USAGE, ended.stdout + ended.stderr
    assert "NOPE" in ended.stderr
    assert "Traceback" not in ended.stderr + ended.stdout
    assert written(empty) <= {"reports"}
