"""What Spark shows of a source that connects over TLS and SASL, also when it fails: nothing secret."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from harness.base import wait
from harness.spark.readers.committed_stream import CommittedReader
from harness.spark.session.spark_session import open_session
from harness.wire.security.security import PasswordLogin, Secret, Security, TlsSettings
from suites.selfcheck.fixtures.certificates import authority

PASSWORD = "hush-4711"
NOBODY = "127.0.0.1:1"
AT_ONCE = {
    "kafka.request.timeout.ms": "500",
    "kafka.default.api.timeout.ms": "500",
    "fetchOffset.numRetries": "1",
    "fetchOffset.retryIntervalMs": "10",
}
"""So that a query gives up soon."""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SparkSession, Path]]:
    """A session with the Kafka connector, and its log."""
    log = tmp_path_factory.mktemp("secured") / "spark.log"
    with open_session(name="secured-source", log=log) as opened:
        yield opened.spark, log


def secured() -> Security:
    """Everything secret that there is."""
    own = authority("CA")
    tls = TlsSettings(authorities=own.pem, certificate=own.pem, key=Secret(own.key_pem()))
    return Security(tls=tls, sasl=PasswordLogin(mechanism="PLAIN", username="alice", password=Secret(PASSWORD)))


def test_a_query_that_fails_shows_no_secret(session: tuple[SparkSession, Path], tmp_path: Path) -> None:
    """Its whole error, with the plan in it; what readers tell of it; the log; the checkpoint."""
    spark, log = session
    reader = CommittedReader(
        spark=spark, bootstrap=NOBODY, topics=["t"], folder=tmp_path / "reader", options=AT_ONCE, security=secured()
    )
    with reader:
        wait.until(lambda: reader.failure(), what="the end", timeout_seconds=60, interval_seconds=0.1)
        whole = str(reader._query.exception())
        shown = [whole, str(reader.failure()), repr(reader), log.read_text()]
    shown += [path.read_text(errors="replace") for path in (tmp_path / "reader").rglob("*") if path.is_file()]
    assert "Logical Plan" in whole
    assert "Timed out waiting for a node assignment" in log.read_text()
    assert [text for text in shown if PASSWORD in text or "PRIVATE KEY" in text] == []
