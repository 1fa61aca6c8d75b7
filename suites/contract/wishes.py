"""Clusters that several requirements ask for: each constant is one cluster, shared by all that name it."""

from harness.contract import OwnCluster

USERS = OwnCluster(users=("alice",))
"""With an authorizer and one user, who may do nothing unless a requirement grants it."""
ALICE = USERS.users[0]
