"""The npm toolchain, with scripts in place of node and npm; the adapters' lock files."""

import json
from pathlib import Path

import pytest

from harness.base.user_error import ExitCode
from harness.clients.stdio.adapter_name import adapter_command
from harness.clients.toolchains.npm import NPM_TOOLCHAIN
from harness.clients.toolchains.program import PROGRAMS, Program
from harness.clients.toolchains.shipped import SHIPPED
from suites.selfcheck.fixtures.user_errors import raises_user_error

CONFLUENT_JAVASCRIPT, KAFKAJS = SHIPPED["confluent-javascript"], SHIPPED["kafkajs"]

PROGRAMS_OF_NPM = (KAFKAJS, CONFLUENT_JAVASCRIPT)
SCRIPT_FAILED = """{"error": {"code": 1, "summary": "command failed", "detail":
"sh -c node-pre-gyp install --fallback-to-build\\ngyp ERR! stack Error: not found: make\\n[error] Error: later"}}"""
UNREACHABLE = (
    """{"error": {"code": "ECONNREFUSED", "summary": "FetchError: no registry\\nmore", "detail": "a proxy?"}}"""
)
UNKNOWN = """{"error": {"code": "E404", "summary": "No match found for version 9.9", "detail": ""}}"""


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the whole PATH, but for the system's own tools."""
    folder = tmp_path / "path"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def npm(path: Path, answer: str, code: int = 0) -> Path:
    """An npm that writes down how it was called, and answers so; the file with what it wrote."""
    calls = path / "calls"
    noted = f'echo "$@ json=$npm_config_json linking=$CKJS_LINKING" >> {calls}'
    for name in ("node", "npm"):
        script = path / name
        script.write_text(f"#!/bin/sh\n{noted}\ncat <<'END'\n{answer}\nEND\necho 'npm warn it' >&2\nexit {code}\n")
        script.chmod(0o755)
    return calls


def test_a_machine_without_node_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (NPM_TOOLCHAIN.missing() or "").startswith("node and npm is not on the PATH: install Node.js 18")
    with raises_user_error(ExitCode.TOOL_MISSING, match=r"^kafkajs needs Node\.js: .*apt install npm"):
        adapter_command("kafkajs", print)


@pytest.mark.parametrize(
    ("answer", "version"),
    [('"2.1.0"', "2.1.0"), ('["2.1.9", "2.1.10", "2.1.2"]', "2.1.10")],
    ids=["one", "several"],
)
def test_a_part_of_a_version_is_the_newest_that_begins_so(path: Path, answer: str, version: str) -> None:
    calls = npm(path, answer)
    assert NPM_TOOLCHAIN.resolve(KAFKAJS, "2.1") == version
    assert calls.read_text() == "view kafkajs@2.1 version json=true linking=dynamic\n"


def test_our_own_version_is_known_without_npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert NPM_TOOLCHAIN.resolve(KAFKAJS, KAFKAJS.version) == KAFKAJS.version


def test_a_version_that_is_not_there_is_told_with_ours(path: Path) -> None:
    npm(path, UNKNOWN, 1)
    with raises_user_error(ExitCode.TARGET_UNKNOWN, match=r"there is no kafkajs 9\.9 \(kafkajs\); 2\.2\.4 is ours"):
        NPM_TOOLCHAIN.resolve(KAFKAJS, "9.9")


def test_a_registry_that_does_not_answer_is_no_unknown_version(path: Path) -> None:
    npm(path, UNREACHABLE, 1)
    with raises_user_error(ExitCode.TARGET_UNKNOWN, match="npm says ECONNREFUSED: FetchError: no registry"):
        NPM_TOOLCHAIN.resolve(KAFKAJS, "9.9")


@pytest.mark.parametrize(
    ("version", "called"), [("2.2.4", "ci"), ("2.1.0", "install --save-exact kafkajs@2.1.0")], ids=["locked", "other"]
)
def test_what_is_installed(path: Path, tmp_path: Path, version: str, called: str) -> None:
    calls = npm(path, "{}")
    folder = tmp_path / "folder"
    folder.mkdir()
    NPM_TOOLCHAIN.install(KAFKAJS, version, folder)
    assert calls.read_text() == f"{called} json=true linking=dynamic\n"
    assert {"package-lock.json", "kafkajs_program.js", "adapter_lines.js"} <= {file.name for file in folder.iterdir()}


def test_the_script_of_a_package_that_failed_is_told_by_its_first_error(path: Path, tmp_path: Path) -> None:
    npm(path, SCRIPT_FAILED.replace("\n", " "), 1)
    sentence = "cannot install confluent-javascript 1.10.1: npm says 1: command failed: not found: make"
    with raises_user_error(ExitCode.TARGET_UNKNOWN, match=f"^{sentence}$"):
        NPM_TOOLCHAIN.install(CONFLUENT_JAVASCRIPT, CONFLUENT_JAVASCRIPT.version, tmp_path)


def test_what_a_library_needs_to_be_built_is_told_with_its_failure(path: Path) -> None:
    npm(path, SCRIPT_FAILED.replace("\n", " "), 1)
    remedy = r"not found: make; where its release .* apt install build-essential .* libzstd-dev\)$"
    with raises_user_error(ExitCode.TARGET_UNKNOWN, match=remedy):
        adapter_command("confluent-javascript", print)


def test_an_npm_that_answers_no_object_is_told_by_its_last_words(path: Path, tmp_path: Path) -> None:
    npm(path, "", 1)
    with raises_user_error(ExitCode.TARGET_UNKNOWN, match="cannot install kafkajs 2.2.4: npm warn it"):
        NPM_TOOLCHAIN.install(KAFKAJS, KAFKAJS.version, tmp_path)


@pytest.mark.parametrize("program", PROGRAMS_OF_NPM, ids=lambda program: program.library)
def test_the_lock_file_pins_the_version_and_every_hash_and_names_no_registry(program: Program) -> None:
    lock = json.loads((PROGRAMS / program.source / "package-lock.json").read_text())
    packages = {name: fields for name, fields in lock["packages"].items() if name}
    assert packages[f"node_modules/{program.package}"]["version"] == program.version
    assert all(fields["integrity"].startswith("sha512-") and "resolved" not in fields for fields in packages.values())


@pytest.mark.parametrize("program", PROGRAMS_OF_NPM, ids=lambda program: program.library)
def test_the_command_starts_the_program_that_is_shipped(program: Program, tmp_path: Path) -> None:
    node, source = NPM_TOOLCHAIN.command(program, tmp_path)
    assert node == "node"
    assert Path(source).name in {file.name for file in program.files}
