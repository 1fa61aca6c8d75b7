"""What can be asked of brokers, and what they answer. Identities are symbolic, as in the state."""

from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from harness.model.model_state import GROUP, NONE


class ListedPattern(StrEnum):
    """What a list's regular expression fits."""

    ANY = "any id"
    OWN = "the id"
    NO_ID = "no id"
    INVALID = "nothing: it is no regular expression"


class DescribedBy(StrEnum):
    """Which broker is asked about a partition's producers."""

    LEADER = "its leader"
    FOLLOWER = "a follower"
    STRANGER = "a broker without replica"


class InitProducerIdAsked(Struct, frozen=True, kw_only=True):
    """InitProducerId of a transactional id; with its producer id and epoch from version 3 on (KIP-360).

    :param timeout_ms: Of its transactions; NONE for the one that paths ask for.
    """

    id: str
    version: int
    producer_id: int = NONE
    epoch: int = NONE
    timeout_ms: int = NONE


class AddPartitionsAsked(Struct, frozen=True, kw_only=True):
    """AddPartitionsToTxn: a client's up to version 3, a broker's from version 4 on.

    :param verify_only: The broker only asks whether they are part of the transaction.
    """

    id: str
    version: int
    producer_id: int
    epoch: int
    partitions: frozenset[str]
    verify_only: bool = False


class ProduceAsked(Struct, frozen=True, kw_only=True):
    """A batch of one record.

    :param names_id: Whether the request has the transactional id. :param transactional: Whether the batch says that it
        is part of a transaction. :param too_large: Whether it is larger than its topic allows (``max.message.bytes``).
    """

    id: str
    version: int
    partition: str
    producer_id: int
    epoch: int
    sequence: int
    value: str = ""
    names_id: bool = True
    transactional: bool = True
    too_large: bool = False


class AddOffsetsAsked(Struct, frozen=True, kw_only=True):
    """AddOffsetsToTxn of a client of the old protocol: the partition of a group's offsets enters the transaction."""

    id: str
    version: int
    producer_id: int
    epoch: int
    group: str = GROUP


class TxnOffsetCommitAsked(Struct, frozen=True, kw_only=True):
    """An offset of a group, which holds once the transaction commits (KIP-98; KIP-447 for member and generation).

    :param value: Names the transaction that it is meant for, as a record's does.
    """

    id: str
    version: int
    producer_id: int
    epoch: int
    offset: int
    generation: int = NONE
    member: str = ""
    group: str = GROUP
    value: str = ""

    @property
    def partition(self) -> str:
        """In whose log it lies."""
        return self.group

    @property
    def sequence(self) -> int:
        """None: the group's coordinator has its transaction verified without (``CoordinatorPartitionWriter``)."""
        return NONE


class EndTxnAsked(Struct, frozen=True, kw_only=True):
    """The client commits or aborts."""

    id: str
    version: int
    producer_id: int
    epoch: int
    commit: bool


class WriteMarkerAsked(Struct, frozen=True, kw_only=True):
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


class ListTransactionsAsked(Struct, frozen=True, kw_only=True):
    """ListTransactions, of the coordinator of an id: whether the id is in the list, and how.

    :param producer_id: Only of this one. :param states: Only in these; () for all.
    :param duration_ms: Only those that are open for longer (KIP-994), unless NONE.
    :param pattern: Only ids that it fits (KIP-1152): this one's own, one that fits none, or none that there can be.
    """

    id: str
    version: int
    producer_id: int
    states: tuple[str, ...] = ()
    duration_ms: int = NONE
    pattern: ListedPattern = ListedPattern.ANY


class DescribeTransactionAsked(Struct, frozen=True, kw_only=True):
    """DescribeTransactions of one id.

    :param elsewhere: Of a broker that does not coordinate it. :param names_none: Without that id or another one.
    :param producer_id: None: it names no producer.
    """

    id: str
    version: int = 0
    elsewhere: bool = False
    names_none: bool = False
    producer_id: int = NONE


class DescribeProducerAsked(Struct, frozen=True, kw_only=True):
    """DescribeProducers of one partition: whether a producer is in the list, and how."""

    partition: str
    producer_id: int
    by: DescribedBy
    version: int = 0


PartitionWrite: TypeAlias = ProduceAsked | TxnOffsetCommitAsked
"""What a leader appends as part of a transaction."""
ToLeader: TypeAlias = PartitionWrite | WriteMarkerAsked | DescribeProducerAsked
"""What the leader of a partition is asked; all else goes to a coordinator."""
ModelRequest: TypeAlias = (
    InitProducerIdAsked
    | AddPartitionsAsked
    | AddOffsetsAsked
    | PartitionWrite
    | EndTxnAsked
    | WriteMarkerAsked
    | ListTransactionsAsked
    | DescribeTransactionAsked
    | DescribeProducerAsked
)


class ModelAnswer(Struct, frozen=True):
    """A code, by its name in ``Errors`` of Kafka, and the identity and the state, where the answer tells them."""

    error: str = "NONE"
    producer_id: int = NONE
    epoch: int = NONE
    state: str = ""

    @property
    def accepted(self) -> bool:
        return self.error == "NONE"
