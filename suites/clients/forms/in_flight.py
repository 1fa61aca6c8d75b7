"""Records of one partition that are on their way at the same time, each in a request of its own."""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial

from harness.base import wait
from harness.lab.clients import Application
from harness.lab.partition import Partition

SENT_SECONDS = 3.0
"""Within which a client sends a record that does not have to wait; its answers are held for as long."""


def all_in_flight(app: Application, partition: Partition, values: Sequence[str]) -> None:
    """Hand each record over when the one before was sent, while the leader's answers are held.

    An answer of the gate in the leader's place waits behind one that is held. A client that waits for an answer before
    it sends the next request gets its answers, and sends one after another.
    """
    sent = len(app.sent("Produce"))
    with ExitStack() as holding:
        holding.enter_context(app.gate("Produce", "hold-response", at_most=None, name="answers"))
        for number, value in enumerate(values, 1):
            app.produce(partition, value, wait=False, as_=f"produce {value}")
            if wait.elapsed_ms_until(partial(_came, app, sent + number), timeout_seconds=SENT_SECONDS) is None:
                holding.close()


def _came(app: Application, count: int) -> bool:
    return len(app.sent("Produce")) >= count
