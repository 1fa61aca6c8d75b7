"""Records of one partition that are on their way at the same time, each in a request of its own."""

from collections.abc import Sequence
from contextlib import ExitStack

from harness.lab.clients import Application, ClientLab
from harness.lab.clients.client_lab import LANE
from harness.lab.partition import Partition


def all_in_flight(lab: ClientLab, app: Application, partition: Partition, values: Sequence[str]) -> None:
    """Hand each record over when the one before was sent, while all answers of the leader are held.

    :raises Unprepared: When the client waits for an answer before it sends the next request.
    """
    proxy = lab.lab.cluster.topology.lane_proxies[LANE, partition.leader]
    sent = len(app.sent("Produce"))
    with ExitStack() as holding:
        holding.enter_context(lab.lab.hold(proxy, name="answers", direction="downstream"))
        for number, value in enumerate(values, 1):
            app.produce(partition, value, wait=False, as_=f"produce {value}")
            app.has_sent("Produce", sent + number)
