"""What can be asked of brokers, and what they answer. Identities are symbolic, as in the state."""

from dataclasses import dataclass
from typing import TypeAlias

from harness.model.model_state import NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class InitProducerIdAsked:
    """InitProducerId of a transactional id; with its producer id and epoch from version 3 on (KIP-360)."""

    id: str
    version: int
    producer_id: int = NONE
    epoch: int = NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class AddPartitionsAsked:
    """AddPartitionsToTxn: a client's up to version 3, a broker's from version 4 on.

    :param verify_only: The broker only asks whether they are part of the transaction.
    """

    id: str
    version: int
    producer_id: int
    epoch: int
    partitions: frozenset[str]
    verify_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProduceAsked:
    """A transactional batch of one record."""

    id: str
    version: int
    partition: str
    producer_id: int
    epoch: int
    sequence: int
    value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndTxnAsked:
    """The client commits or aborts."""

    id: str
    version: int
    producer_id: int
    epoch: int
    commit: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteMarkerAsked:
    """A marker for one partition, sent by a coordinator or by an operator.

    :param level: ``transaction_version`` of the marker, from version 2 on.
    """

    version: int
    partition: str
    producer_id: int
    epoch: int
    coordinator_epoch: int
    commit: bool
    level: int = 0


ModelRequest: TypeAlias = InitProducerIdAsked | AddPartitionsAsked | ProduceAsked | EndTxnAsked | WriteMarkerAsked


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A code, by its name in ``Errors`` of Kafka, and the identity, where the answer tells one."""

    error: str = "NONE"
    producer_id: int = NONE
    epoch: int = NONE

    @property
    def accepted(self) -> bool:
        return self.error == "NONE"
