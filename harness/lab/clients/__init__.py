"""The lab of a client's promises: applications of the client under test, each watched by the gate.

A client requirement is written for :class:`harness.lab.clients.client_lab.ClientLab`; bound to a client
(:func:`harness.lab.clients.bound.bound`) it is a requirement like any other.
"""

from harness.lab.clients.application import Application
from harness.lab.clients.client_lab import ClientLab

__all__ = ["Application", "ClientLab"]
