"""The scopes in which the model is explored whole, and what is known to break in each.

Where the defences of KIP-890 are missing, the hole that it closes must be found; where they are there, nothing may be.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.model.model_state import GROUP
from harness.model.modelled_producer import ModelledProducer
from harness.model.protocol_profile import NEWEST, OLD_PROTOCOL, UNDEFENDED, ProtocolProfile


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelScope:
    """Clients, and how much may go wrong besides lost answers and late messages.

    :param breaks: How the sentence on the broken promise begins; None where every promise must hold.
    :param large: Too many states for every run of the tests.
    """

    name: str
    profile: ProtocolProfile
    clients: tuple[ModelledProducer, ...]
    repeats: int = 0
    moves: int = 0
    breaks: str | None = None
    large: bool = False


def old_client(name: str, *partitions: str, transactions: int = 1, id_: str = "t") -> ModelledProducer:
    """Of transactions of version 1."""
    parts = partitions or ("A",)
    return ModelledProducer(name=name, id=id_, new_protocol=False, partitions=parts, transactions=transactions)


def new_client(name: str, *partitions: str, transactions: int = 1, id_: str = "t") -> ModelledProducer:
    """Of transactions of version 2."""
    parts = partitions or ("A",)
    return ModelledProducer(name=name, id=id_, new_protocol=True, partitions=parts, transactions=transactions)


SCOPES: Sequence[ModelScope] = (
    ModelScope(
        name="no verification: a late write after an abort",
        profile=UNDEFENDED,
        clients=(old_client("one"),),
        breaks="transaction never ends",
    ),
    ModelScope(
        name="no verification: a late write after a new instance began",
        profile=UNDEFENDED,
        clients=(old_client("one"), old_client("two")),
        breaks="fenced producer wrote",
    ),
    ModelScope(
        name="verification, old protocol: one transaction of each of two instances",
        profile=OLD_PROTOCOL,
        clients=(old_client("one"), old_client("two")),
        large=True,
    ),
    ModelScope(
        name="verification, old protocol: a late write within the next transaction (what KIP-890 part 2 closes)",
        profile=OLD_PROTOCOL,
        clients=(old_client("one", transactions=2),),
        breaks="aborted record is readable",
    ),
    ModelScope(
        name="old clients on the newest brokers: the same",
        profile=NEWEST,
        clients=(old_client("one", transactions=2),),
        breaks="aborted record is readable",
    ),
    ModelScope(
        name="new protocol: two transactions, a repeated message",
        profile=NEWEST,
        clients=(new_client("one", transactions=2),),
        repeats=1,
    ),
    ModelScope(
        name="new protocol: two instances of one id",
        profile=NEWEST,
        clients=(new_client("one"), new_client("two")),
    ),
    ModelScope(
        name="new protocol: two instances of one id, a coordinator or leader moves",
        profile=NEWEST,
        clients=(new_client("one"), new_client("two")),
        moves=1,
        large=True,
    ),
    ModelScope(
        name="new protocol: two instances of one id, a repeated message",
        profile=NEWEST,
        clients=(new_client("one"), new_client("two")),
        repeats=1,
        large=True,
    ),
    ModelScope(
        name="new protocol: two partitions, a repeated message",
        profile=NEWEST,
        clients=(new_client("one", "A", "B"),),
        repeats=1,
    ),
    ModelScope(
        name="new protocol: two ids on one partition, a repeated message",
        profile=NEWEST,
        clients=(new_client("one"), new_client("two", id_="u")),
        repeats=1,
        large=True,
    ),
    ModelScope(
        name="no verification: an offset that comes late after an abort",
        profile=UNDEFENDED,
        clients=(old_client("one", GROUP),),
        breaks="transaction never ends",
    ),
    ModelScope(
        name="the group coordinator before 4.0: a refused offset takes the accepted one with it",
        profile=OLD_PROTOCOL,
        clients=(old_client("one", GROUP), old_client("two", GROUP)),
        breaks="committed offset is lost",
        large=True,
    ),
    ModelScope(
        name="the same clients and the group coordinator of 4.0",
        profile=replace(OLD_PROTOCOL, new_group_coordinator=True),
        clients=(old_client("one", GROUP), old_client("two", GROUP)),
        large=True,
    ),
    ModelScope(
        name="new protocol: two instances that commit offsets of a group",
        profile=NEWEST,
        clients=(new_client("one", GROUP), new_client("two", GROUP)),
        large=True,
    ),
    ModelScope(
        name="new protocol: a record and an offset, a repeated message",
        profile=NEWEST,
        clients=(new_client("one", "A", GROUP),),
        repeats=1,
    ),
    ModelScope(
        name="new protocol: two instances that commit offsets, a coordinator or leader moves",
        profile=NEWEST,
        clients=(new_client("one", GROUP), new_client("two", GROUP)),
        moves=1,
        large=True,
    ),
)
