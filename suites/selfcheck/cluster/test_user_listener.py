"""A wish for users becomes a listener for them and an authorizer that knows the lanes as superusers."""

from harness.cluster.cluster import ClusterOptions
from harness.cluster.nodes.user_listener import USERS, login_of
from harness.contract import OwnCluster
from harness.wire.security.security import PasswordLogin


def test_users_get_a_listener_and_the_cluster_an_authorizer() -> None:
    options = ClusterOptions().changed(OwnCluster(users=("alice", "bob")))
    (listener,) = options.listeners
    assert (listener.name, listener.protocol) == (USERS, "SASL_PLAINTEXT")
    assert options.properties["super.users"] == "User:ANONYMOUS"
    assert options.properties["authorizer.class.name"].endswith("StandardAuthorizer")
    (jaas,) = (value for key, value in listener.properties.items() if key.endswith("jaas.config"))
    for user in ("alice", "bob"):
        login = login_of(user).sasl
        assert isinstance(login, PasswordLogin)
        assert f'user_{user}="{login.password.reveal()}"' in jaas


def test_without_users_there_is_neither() -> None:
    options = ClusterOptions().changed(OwnCluster())
    assert options.listeners == ()
    assert "authorizer.class.name" not in options.properties
