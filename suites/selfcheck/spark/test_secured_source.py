"""What Spark shows of a source that connects over TLS and SASL: its options, and nothing secret."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from harness.spark.readers.kafka_security import kafka_options
from harness.spark.session.spark_session import open_session
from harness.wire.security.security import PasswordLogin, Secret, Security, TlsSettings
from suites.selfcheck.fixtures.certificates import authority

PASSWORD = "hush-4711"
SHOWN = "a-client-to-be-seen"


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    """A session with the Kafka connector."""
    with open_session(name="secured-source") as session:
        yield session.spark


def secured() -> Security:
    """Everything secret that there is."""
    own = authority("CA")
    tls = TlsSettings(authorities=own.pem, certificate=own.pem, key=Secret(own.key_pem()))
    return Security(tls=tls, sasl=PasswordLogin(mechanism="PLAIN", username="alice", password=Secret(PASSWORD)))


@pytest.mark.parametrize("streaming", [True, False])
def test_plans_show_options_and_no_secrets(spark: SparkSession, streaming: bool) -> None:
    reader = spark.readStream if streaming else spark.read
    options = {"kafka.bootstrap.servers": "127.0.0.1:1", "subscribe": "t", "kafka.client.id": SHOWN}
    frame = reader.format("kafka").options(**options, **kafka_options(secured())).load()
    plan = frame._jdf.queryExecution().analyzed().toString()  # the physical one would ask the broker
    assert SHOWN in plan
    assert "jaas" in plan
    assert PASSWORD not in plan
    assert "PRIVATE KEY" not in plan
