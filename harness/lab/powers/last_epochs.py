"""Producers at the end of their epochs: a producer id has 32,767 of them, and the next one needs another id (KIP-360).

Counted up honestly, that is one InitProducerId with the current identity for each epoch: 32,766 small writes to the
coordinator's log, a minute or two an id, on any cluster. On a cluster of ours with two brokers it takes about a second,
for several ids of one coordinator: a record of the state ``Empty``, one epoch before, is written into its log
(:mod:`harness.lab.powers.state_log`).

In both cases the last step to the wanted epoch is the coordinator's own, so that the newest record and what it keeps in
memory (the last epoch, for repetitions) are as they would be.
"""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from harness.base import wait
from harness.base.unprepared import OutOfReach, Unprepared
from harness.kafka.any_broker import told
from harness.kafka.retriable import TRANSIENT
from harness.lab.powers.state_log import StateLog
from harness.lab.producer import Producer
from harness.wire.records.transaction_state import NewState
from harness.wire.requests.transactions.init_producer_id import InitProducerId
from harness.wire.wire_client import WireClient

LAST_EPOCH = 32766
"""The highest that a client is ever given; 32767 is kept for fencing (``TransactionMetadata.isEpochExhausted``)."""
COUNTED = 3
"""The first version of InitProducerId with an identity (KIP-360)."""
TRIES = 500
"""Of one request that is refused for a moment, 10 ms apart."""


@dataclass(frozen=True, slots=True)
class LastEpochs:
    """Brings producers near the end of their epochs.

    :param load: Whether tens of thousands of requests may be sent.
    """

    state_log: StateLog
    load: bool

    def bring(self, producers: Sequence[Producer], epoch: int, timeout_ms: int) -> None:
        """The quick way where there is one; raises as both do, and OutOfReach where the other is not allowed."""
        if self.state_log.can_be_written:
            self.forge(producers, epoch, timeout_ms)
        elif self.load:
            self.count_up(producers, epoch, timeout_ms)
        else:
            raise OutOfReach("tens of thousands of requests need --allow-load on a cluster that is not ours")

    def forge(self, producers: Sequence[Producer], epoch: int, timeout_ms: int) -> None:
        """One append and one move a partition; :raises Unprepared: when a broker refuses what this takes."""
        known = ((each.transactional_id, each.producer_id) for each in producers)
        self.state_log.replace(*(NewState(*names, epoch - 1, timeout_ms) for names in known))
        _last_step(producers, epoch, timeout_ms)

    def count_up(self, producers: Sequence[Producer], epoch: int, timeout_ms: int) -> None:
        """Every epoch by a request of its own, side by side; raises as :meth:`forge` does."""
        with closing(self.state_log.open_client("observer")) as client:
            for now in range(min(each.epoch for each in producers), epoch - 1):
                _next_epochs(client, producers, now)
        _last_step(producers, epoch, timeout_ms)


def _next_epochs(client: WireClient, producers: Sequence[Producer], epoch: int) -> None:
    """One epoch further for all that are in this one; :raises Unprepared: when one is refused for good."""
    waiting = [each for each in producers if each.epoch <= epoch]
    for _ in range(TRIES):
        sent = [client.send(each.coordinator, _own_identity(each, epoch), COUNTED) for each in waiting]
        results = {each.transactional_id: one.wait().result for each, one in zip(waiting, sent, strict=True)}
        refused = [result for result in results.values() if result.error and result.error not in TRANSIENT]
        if refused:
            raise Unprepared(f"InitProducerId in epoch {epoch} answered {told(refused[0])}")
        waiting = [each for each in waiting if results[each.transactional_id].error]
        if not waiting:
            return
        wait.pause(0.01)
    raise Unprepared(f"InitProducerId in epoch {epoch} was refused {TRIES} times")


def _own_identity(producer: Producer, epoch: int) -> InitProducerId:
    return InitProducerId(
        transactional_id=producer.transactional_id, producer_id=producer.producer_id, producer_epoch=epoch
    )


def _last_step(producers: Sequence[Producer], epoch: int, timeout_ms: int) -> None:
    """The coordinator's own bump into the wanted epoch; :raises Unprepared: when it does not keep the one before."""
    for each in producers:
        own = each.producer_id
        each.init(identity=(own, epoch - 1), timeout_ms=timeout_ms)
        if (each.producer_id, each.epoch) != (own, epoch):
            raise Unprepared(f"after epoch {epoch - 1} of {own} came epoch {each.epoch} of {each.producer_id}")
