"""A client requirement bound to a client: from there on a requirement like any other."""

from dataclasses import replace
from typing import cast

from harness.contract import Ability, Library, Requirement
from harness.lab.clients.client_lab import ClientLab, client_lab
from harness.lab.clients.client_under_test import ClientUnderTest
from harness.lab.lab import Lab


def bound(requirement: Requirement[ClientLab], client: ClientUnderTest) -> Requirement[Lab]:
    """The requirement on this client; whether the promise is this library's, :meth:`ClientUnderTest.lacking` says."""

    def stimulus(lab: Lab) -> None:
        with client_lab(lab, client) as made:
            requirement.stimulus(made)

    of_target = tuple(need for need in requirement.needs if not isinstance(need, Library | Ability))
    return replace(cast(Requirement[Lab], requirement), stimulus=stimulus, needs=of_target)
