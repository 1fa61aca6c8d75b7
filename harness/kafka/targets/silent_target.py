"""Whether a cluster that is not ours has ceased to answer, so that it is told once and not for each requirement."""

from contextlib import closing
from dataclasses import dataclass

from harness.base.clock import RunClock
from harness.cluster.cluster import Cluster
from harness.cluster.observer_client import observer_client
from harness.evidence.requirement_evidence import UNDRAINED, Evidence
from harness.kafka.any_broker import AnyBroker
from harness.wire.wire_errors import WireError

ANSWER_SECONDS = 10.0
"""That each broker may take for an answer."""
AGAIN_SECONDS = 1.0
"""Likewise, where none has answered before: a target that hangs is asked before each requirement that is left."""


@dataclass(slots=True)
class SilentTarget:
    """What is known of it.

    :param since: The requirement after which no broker answered; None while one does.
    """

    since: str | None = None

    def look(self, cluster: Cluster, clock: RunClock, requirement: str, evidence: Evidence) -> None:
        """After a requirement: where it could not be finished, whether any broker still answers."""
        finished = evidence.unprepared is None and UNDRAINED not in evidence.facts
        if not (cluster.owned or finished or self.since) and not _answers(cluster, clock, ANSWER_SECONDS):
            self.since = requirement

    def reason(self, cluster: Cluster | None, clock: RunClock) -> str | None:
        """Why nothing can be tried now, with a remedy; asked anew each time, since somebody may start the target."""
        if self.since is None or cluster is None or _answers(cluster, clock, AGAIN_SECONDS):
            self.since = None
            return None
        return (
            f"no broker answers since {self.since} was tried; where that ends the server, "
            f"the others can be tried without it: --select '!{self.since}'"
        )


def _answers(cluster: Cluster, clock: RunClock, seconds: float) -> bool:
    """Whether any broker tells what it offers, over a connection of its own; each asks that first."""
    with closing(observer_client(cluster.topology, clock)) as client:
        try:
            AnyBroker(client, cluster.topology.brokers).of_first(lambda broker: client.offered(broker, seconds))
        except WireError:
            return False
    return True
