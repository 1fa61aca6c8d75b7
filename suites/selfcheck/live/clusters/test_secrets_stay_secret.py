"""A qualification over TLS and SASL, with Spark's reader in it, shows its password in no file and no process list."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from suites.selfcheck.fixtures.command import fencepost
from suites.selfcheck.fixtures.secured_cluster import (
    OWN_PEM,
    PASSWORD,
    SASL_SSL,
    SEARCHED,
    STORE_PASSWORD,
    SecuredCluster,
    login,
    secured_cluster,
)

pytestmark = pytest.mark.live

SPARKS, WIRES = "KIP890-SAFE-01-SPARK", "KIP890-VERIFY-01"
HIDDEN = [text.encode() for text in (SEARCHED, STORE_PASSWORD, "PRIVATE KEY-----")]


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredCluster]:
    """Three brokers that a qualification knows only by their listener."""
    with secured_cluster(tmp_path_factory.mktemp("secrets"), brokers=3) as cluster:
        yield cluster


def test_what_is_searched_for_is_in_every_way_to_write_the_password() -> None:
    assert SEARCHED in PASSWORD
    assert SEARCHED in json.dumps(PASSWORD)
    assert SEARCHED in login("PLAIN")


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_no_file_and_no_process_shows_a_secret(secured: SecuredCluster, tmp_path: Path, mechanism: str) -> None:
    properties = secured.client(f"secrets-{mechanism}", SASL_SSL, OWN_PEM, login(mechanism))
    words = (
        "--client-properties",
        str(properties),
        "--select",
        f"{SPARKS},{WIRES}",
        "--report-dir",
        str(tmp_path / "r"),
    )
    with watched() as seen:
        done = fencepost("qualify", secured.target("SASL"), *words)
    verdicts = [json.loads(line) for line in (tmp_path / "r" / "verdicts.jsonl").read_text().splitlines()]
    assert {verdict["id"]: verdict["status"] for verdict in verdicts} == {SPARKS: "HOLDS", WIRES: "HOLDS"}, done.stdout
    assert "spark" in "".join(seen), "the watch has not seen Spark's JVM"
    assert [line for line in seen if any(text.decode() in line for text in HIDDEN)] == []
    files = [path for path in (tmp_path / "r").rglob("*") if path.is_file()]
    assert {"run.json", "journal.jsonl", "spark.log"} <= {path.name for path in files}
    assert [path for path in files if any(text in path.read_bytes() for text in HIDDEN)] == []
    assert not any(text.decode() in done.stdout + done.stderr for text in HIDDEN)


@contextmanager
def watched() -> Iterator[set[str]]:
    """The command lines of every process, for the length of the block."""
    seen: set[str] = set()
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.1):
            seen.update(" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"]))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()
