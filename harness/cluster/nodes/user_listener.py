"""A listener for named users, and the authorizer that asks after them.

Clients on the lanes, brokers and the controller go on as superusers: they are ``User:ANONYMOUS`` on their plaintext
listeners.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from harness.cluster.topology import ExtraListener
from harness.wire.security.security import PasswordLogin, Secret, Security

USERS = "USERS"
"""The listener's name."""
AUTHORIZED: Mapping[str, str] = MappingProxyType(
    {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
)
"""Settings of every broker and the controller."""
_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
_PREFIX = f"listener.name.{USERS.lower()}."


def user_listener(users: Sequence[str]) -> ExtraListener:
    """SASL with PLAIN and without TLS, for these users."""
    known = " ".join(f'user_{user}="{_password(user)}"' for user in users)
    own = {
        f"{_PREFIX}sasl.enabled.mechanisms": "PLAIN",
        f"{_PREFIX}plain.sasl.jaas.config": f"{_MODULE} required {known};",
    }
    return ExtraListener(name=USERS, protocol="SASL_PLAINTEXT", properties=own)


def login_of(user: str) -> Security:
    """How a client connects there as this user."""
    return Security(sasl=PasswordLogin(mechanism="PLAIN", username=user, password=Secret(_password(user))))


def _password(user: str) -> str:
    """Of a cluster that lives for one session on this machine."""
    return f"{user}-pw"
