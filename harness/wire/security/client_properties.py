"""``--client-properties FILE``: how clients connect, in the format that Kafka's own tools take by ``--command-config``.

Keys that have nothing to do with security (``bootstrap.servers``, ``client.id``) are of no account. A key about
security that is not understood is refused: a connection made without it would not be the one that was asked for.
"""

from pathlib import Path

from harness.base.user_error import ExitCode, UserError
from harness.wire.security import sasl_settings, tls_settings
from harness.wire.security.given_properties import GivenProperties
from harness.wire.security.java_properties import read_properties
from harness.wire.security.security import Security

_PROTOCOL = "security.protocol"
_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_ABOUT_SECURITY = ("security.", "ssl.", "sasl.", "config.providers")
_KNOWN = {_PROTOCOL} | tls_settings.KEYS | sasl_settings.KEYS
_OF_NO_ACCOUNT = ("sasl.login.refresh.", "sasl.login.retry.", "sasl.login.connect.", "sasl.login.read.")
"""When a Java client renews a token, and how long it waits for it: ours asks when it needs one."""


def read_client_properties(path: Path) -> Security:
    """What the file says; paths in it are relative to its folder.

    :raises UserError: USAGE, in one sentence that names the key, never its value.
    """
    try:
        text = path.read_text(encoding="latin-1")  # as java.util.Properties reads a stream
    except OSError as error:
        sentence = f"--client-properties {path} cannot be read: {error.strerror}"
        raise UserError(sentence, exit=ExitCode.USAGE) from error
    given = GivenProperties(path, read_properties(text))
    protocol = given.get(_PROTOCOL, "PLAINTEXT").upper()
    if protocol not in _PROTOCOLS:
        raise given.wrong(_PROTOCOL, f"is none of {', '.join(_PROTOCOLS)}")
    sasl = sasl_settings.read_sasl(given) if protocol.startswith("SASL_") else None
    _refuse_unknown(given)
    return Security(tls=tls_settings.read_tls(given) if protocol.endswith("SSL") else None, sasl=sasl, file=str(path))


def _refuse_unknown(given: GivenProperties) -> None:
    about_security = (key for key in given.values if key.startswith(_ABOUT_SECURITY))
    unknown = [key for key in about_security if key not in _KNOWN and not key.startswith(_OF_NO_ACCOUNT)]
    if unknown:
        raise given.wrong(unknown[0], "is not supported")
