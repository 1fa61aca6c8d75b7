"""Adapters in Python read Kafka's own properties, and refuse what they cannot do."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from harness.clients.toolchains.program import PROGRAMS

MODULE = "kafka_properties"
LOGIN = """# how to log in
security.protocol=SASL_SSL
sasl.mechanism = SCRAM-SHA-512
sasl.jaas.config=a.ScramLoginModule required username="alice" \\
    password="pa\\\\\\\\ss\\\\";=";
ssl.truststore.location=stores/ca.pem
ssl.endpoint.identification.algorithm=
client.id=of no account
"""


@pytest.fixture
def properties() -> Iterator[ModuleType]:
    """The module, which stands beside the programs and not in a package."""
    spec = importlib.util.spec_from_file_location(MODULE, PROGRAMS / "python" / "lines" / f"{MODULE}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[MODULE] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)
    yield module
    del sys.modules[MODULE]


def written(folder: Path, text: str) -> str:
    """A file with this text."""
    file = folder / "client.properties"
    file.write_text(text)
    return str(file)


def test_no_file_means_plaintext(properties: ModuleType) -> None:
    assert properties.read_security(None).protocol == "PLAINTEXT"
    assert properties.read_security(None).context() is None


def test_a_login_is_read_as_java_reads_it(properties: ModuleType, tmp_path: Path) -> None:
    security = properties.read_security(written(tmp_path, LOGIN))
    assert (security.protocol, security.mechanism) == ("SASL_SSL", "SCRAM-SHA-512")
    assert (security.username, security.password) == ("alice", 'pa\\ss";=')
    assert security.authorities == str(tmp_path / "stores" / "ca.pem")
    assert not security.verify_host


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("sasl.mechanism=GSSAPI", "not by GSSAPI"),
        ("ssl.truststore.type=JKS", "not JKS"),
        ("ssl.keystore.location=own.pem", "nothing for ssl.keystore.location"),
        ("ssl.key.password=hush", "nothing for ssl.key.password$"),
    ],
)
def test_what_cannot_be_done_is_refused(line: str, said: str, properties: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(properties.NotUnderstood, match=said):
        properties.read_security(written(tmp_path, line + "\n"))
