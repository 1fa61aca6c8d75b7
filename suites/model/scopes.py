"""The scopes in which the model is explored whole, and what is known to break in each.

Where the defences of KIP-890 are missing, the hole that it closes must be found; where they are there, nothing may be.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from harness.model.model_state import GROUP
from harness.model.modelled_producer import ModelledProducer
from harness.model.protocol_profile import NEWEST, OLD_PROTOCOL, UNDEFENDED, ProtocolProfile
from harness.model.search.exploration import SearchedScope, SearchResult, explore


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelScope:
    """Clients, and how much may go wrong besides lost answers and late messages.

    :param breaks: How the sentence on the broken promise begins; None where every promise must hold.
    :param large: Too many states for every run of the tests.
    :param most_states: Where the search ends; it is not called whole then.
    """

    name: str
    profile: ProtocolProfile
    clients: tuple[ModelledProducer, ...]
    repeats: int = 0
    moves: int = 0
    breaks: str | None = None
    large: bool = False
    most_states: int = 2_000_000

    def explored(self) -> SearchResult:
        """What a search comes to."""
        scope = SearchedScope(clients=self.clients, repeats=self.repeats, moves=self.moves)
        return explore(self.profile, scope, only=self.breaks or "", most_states=self.most_states)


def old_client(name: str, *partitions: str, transactions: int = 1, id_: str = "t") -> ModelledProducer:
    """Of transactions of version 1."""
    parts = partitions or ("A",)
    return ModelledProducer(name=name, id=id_, new_protocol=False, partitions=parts, transactions=transactions)


def new_client(name: str, *partitions: str, transactions: int = 1, id_: str = "t") -> ModelledProducer:
    """Of transactions of version 2."""
    parts = partitions or ("A",)
    return ModelledProducer(name=name, id=id_, new_protocol=True, partitions=parts, transactions=transactions)


def two_ids(client: Callable[..., ModelledProducer]) -> tuple[ModelledProducer, ...]:
    """Two instances each, all on two partitions."""
    names = {"t": ("one", "two"), "u": ("three", "four")}
    return tuple(client(name, "A", "B", id_=id_) for id_, own in names.items() for name in own)


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
        name="new protocol: two instances of one id, a repeated message, a coordinator or leader moves",
        profile=NEWEST,
        clients=(new_client("one"), new_client("two")),
        repeats=1,
        moves=1,
        large=True,
    ),
    ModelScope(
        name="an old client and a new one of one id: a late write behind its marker (KIP890-RACE-01-NEWER)",
        profile=NEWEST,
        clients=(old_client("one"), new_client("two")),
        breaks="transaction never ends",
    ),
    ModelScope(
        name="the same where a verification is of the client who goes on with it, a coordinator or leader moves",
        profile=replace(NEWEST, verification_stays_of_its_first_client=False),
        clients=(old_client("one"), new_client("two")),
        moves=1,
        large=True,
    ),
    ModelScope(
        name="new protocol: two ids of two instances each, two partitions",
        profile=NEWEST,
        clients=two_ids(new_client),
    ),
    ModelScope(
        name="new protocol: two ids of two instances each, two partitions, a coordinator or leader moves",
        profile=NEWEST,
        clients=two_ids(new_client),
        moves=1,
        large=True,
    ),
    ModelScope(
        name="verification, old protocol: two ids of two instances each, two partitions, a coordinator or leader moves",
        profile=OLD_PROTOCOL,
        clients=two_ids(old_client),
        moves=1,
        large=True,
    ),
    ModelScope(
        name="new protocol: two ids of two instances each, two partitions, a repeated message, a move",
        profile=NEWEST,
        clients=two_ids(new_client),
        repeats=1,
        moves=1,
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
