"""Every request that is asked in a state: versions, identities, sequences, partitions, epochs of markers.

Identities are told by what they are in that state, and the requests carry the numbers: the id's own, its previous
epoch, an older and a newer one, another id's, and one that nobody has. OffsetFetch is no part of it, and
DescribeTransactions and DescribeProducers only where they are asked beside the look by which every cell ends.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from msgspec.structs import replace

from harness.model.groups.group_model import next_offset
from harness.model.model_requests import (
    AddOffsetsAsked,
    AddPartitionsAsked,
    DescribedBy,
    DescribeProducerAsked,
    DescribeTransactionAsked,
    EndTxnAsked,
    InitProducerIdAsked,
    ListedPattern,
    ListTransactionsAsked,
    ModelRequest,
    ProduceAsked,
    TxnOffsetCommitAsked,
    WriteMarkerAsked,
)
from harness.model.model_state import GROUP, LAST_EPOCH, NONE, CoordinatorState, ModelCluster

OWN, OTHER = "own", "other"
"""The transactional ids of a cell."""
PARTITIONS = ("A", "B")
NAMELESS = ""
"""No id that anybody may have."""
MISSING = "X"
"""A partition that there is not, of the topic of the others."""
NO_TOPIC = "Y"
"""A partition of a topic that there is not."""
NOBODYS_ID = 9999
"""A producer id that was never given out."""
VERSIONS: Mapping[str, Sequence[int]] = {
    "InitProducerId": (3, 4, 5),
    "AddPartitionsToTxn": (1, 3, 4, 5),
    "Produce": (9, 10, 11, 12, 13),
    "EndTxn": (1, 3, 4, 5),
    "WriteTxnMarkers": (1, 2),
    "AddOffsetsToTxn": (1, 3, 4),
    "TxnOffsetCommit": (2, 3, 4, 5),
    "ListTransactions": (0, 1, 2),
}
"""On both sides of every version in which the protocol changed, where the broker offers it."""
NAMES_MEMBERS = 3
"""Of TxnOffsetCommit: from this version on it names a member and a generation (KIP-447)."""
KNOWS_DURATION = 1
"""Of ListTransactions: the first that can ask for those that are open for long (KIP-994)."""
KNOWS_PATTERN = 2
"""Likewise, by a regular expression (KIP-1152)."""
STRICT_MARKERS = 2
"""Of WriteTxnMarkers: the first that names a transaction version."""
AN_HOUR_MS = 3_600_000
TIMEOUTS_MS: Mapping[str, int] = {"of nothing": 0, "of a minute": 60_000, "of an hour": AN_HOUR_MS}
"""Other timeouts than those of paths; brokers allow a quarter of an hour (``transaction.max.timeout.ms``)."""
FIRST_OF_BROKERS = 4
"""Of AddPartitionsToTxn: from this version on brokers send it."""


@dataclass(frozen=True, slots=True)
class NamedRequest:
    """A request, and what it is in words: the column of a table."""

    name: str
    asked: ModelRequest


def alphabet(cluster: ModelCluster, offered: Mapping[str, tuple[int, int]]) -> Iterator[NamedRequest]:
    """Of a state, in a fixed order.

    :param offered: Lowest and highest version by API, as brokers advertise them; what is missing is not asked.
    """
    identities = _identities(cluster)
    partitions = PARTITIONS[:1] if is_used(cluster, GROUP) else PARTITIONS
    spoken = {
        api: [v for v in VERSIONS[api] if api in offered and offered[api][0] <= v <= offered[api][1]]
        for api in VERSIONS
    }
    yield from _inits(spoken["InitProducerId"], identities)
    yield from _adds(spoken["AddPartitionsToTxn"], identities, partitions)
    yield from _produces(spoken["Produce"], identities, cluster, partitions)
    yield from _ends(spoken["EndTxn"], identities)
    marked = GROUP if is_used(cluster, GROUP) else PARTITIONS[0]
    yield from _markers(spoken["WriteTxnMarkers"], identities, marked, cluster.coordinator_epoch)
    if offers_groups(offered):
        yield from _offset_adds(spoken["AddOffsetsToTxn"], identities)
        yield from _offset_commits(spoken["TxnOffsetCommit"], identities, cluster)
    yield from _lists(spoken["ListTransactions"], identities, cluster)
    yield from _descriptions(identities, cluster)
    if cluster.ids.get(OWN) is None:
        yield from _nameless(spoken)


def offers_groups(offered: Mapping[str, tuple[int, int]]) -> bool:
    """Whether offsets can be part of a transaction, and be looked at."""
    return offered.keys() >= {"AddOffsetsToTxn", "TxnOffsetCommit", "OffsetFetch"}


def is_used(cluster: ModelCluster, partition: str) -> bool:
    """Whether the id has anything on a partition, or in the group.

    Where it has in the group, markers go to the group, and the second partition is asked nothing.
    """
    known, log = cluster.ids.get(OWN), cluster.log(partition)
    if known is None:
        return False
    return partition in known.partitions or known.producer_id in {*log.producers, *log.verifications}


def _identities(cluster: ModelCluster) -> Mapping[str, tuple[int, int]]:
    """Producer id and epoch of each; only those that there are."""
    known, other = cluster.ids.get(OWN), cluster.ids.get(OTHER)
    found = {"nobody's": (NOBODYS_ID, 0)}
    if other is not None:
        found["another id's"] = (other.producer_id, other.epoch)
    if known is not None:
        epochs = {"own": 0, "previous": -1, "older": -2, "newer": 1}
        numbers = {name: known.epoch + by for name, by in epochs.items()}
        found |= {name: (known.producer_id, epoch) for name, epoch in numbers.items() if 0 <= epoch <= LAST_EPOCH}
        if known.previous_id != NONE:
            found["the id before's, in its last epoch"] = (known.previous_id, LAST_EPOCH - 1)
    return found


def _inits(versions: Sequence[int], identities: Mapping[str, tuple[int, int]]) -> Iterator[NamedRequest]:
    half = {"without identity": (NONE, NONE), "id alone": (NOBODYS_ID, NONE), "epoch alone": (NONE, 0)}
    for version, (name, (producer_id, epoch)) in product(versions, [*half.items(), *identities.items()]):
        asked = InitProducerIdAsked(id=OWN, version=version, producer_id=producer_id, epoch=epoch)
        yield NamedRequest(f"InitProducerId v{version}, {name}", asked)
    for version, (name, timeout_ms) in product(versions[-1:], TIMEOUTS_MS.items()):
        asked = InitProducerIdAsked(id=OWN, version=version, timeout_ms=timeout_ms)
        yield NamedRequest(f"InitProducerId v{version}, without identity, a timeout {name}", asked)


def _adds(
    versions: Sequence[int], identities: Mapping[str, tuple[int, int]], partitions: Sequence[str]
) -> Iterator[NamedRequest]:
    sets = dict.fromkeys((*partitions, "".join(partitions), MISSING, partitions[0] + MISSING))
    for version, (name, (producer_id, epoch)), added in product(versions, identities.items(), sets):
        if MISSING in added and name != "own":
            continue
        for verify_only in (False, True) if version >= FIRST_OF_BROKERS else (False,):
            asked = AddPartitionsAsked(
                id=OWN,
                version=version,
                producer_id=producer_id,
                epoch=epoch,
                partitions=frozenset(added),
                verify_only=verify_only,
            )
            how = "verify" if verify_only else "add"
            yield NamedRequest(f"AddPartitionsToTxn v{version}, {how} {'+'.join(added)}, {name}", asked)


def _produces(
    versions: Sequence[int],
    identities: Mapping[str, tuple[int, int]],
    cluster: ModelCluster,
    partitions: Sequence[str],
) -> Iterator[NamedRequest]:
    for version, (name, (producer_id, epoch)), partition in product(versions, identities.items(), partitions):
        for which, sequence in _sequences(cluster, partition, producer_id, epoch).items():
            asked = ProduceAsked(
                id=OWN, version=version, partition=partition, producer_id=producer_id, epoch=epoch, sequence=sequence
            )
            yield NamedRequest(f"Produce v{version}, {partition}, {name}, {which} sequence", asked)
            if name == "own" and version == versions[-1]:
                yield from _not_of_it(asked, f"Produce v{version}, {partition}, own, {which} sequence")


def _not_of_it(asked: ProduceAsked, name: str) -> Iterator[NamedRequest]:
    """The same write beside its transaction, and larger than it may be."""
    yield NamedRequest(f"{name}, without id", replace(asked, names_id=False))
    yield NamedRequest(f"{name}, of no transaction", replace(asked, names_id=False, transactional=False))
    yield NamedRequest(f"{name}, too large", replace(asked, too_large=True))


def _sequences(cluster: ModelCluster, partition: str, producer_id: int, epoch: int) -> Mapping[str, int]:
    """Next, repeated, with a gap, and the first; each number once."""
    known = cluster.log(partition).known(producer_id)
    last = known.last_sequence if known.epoch == epoch else NONE
    named = {"next": last + 1, "repeated": last, "gapped": last + 3, "first": 0}
    return {name: number for name, number in named.items() if number >= 0 and number not in _before(named, name)}


def _before(named: Mapping[str, int], name: str) -> set[int]:
    names = list(named)
    return {named[each] for each in names[: names.index(name)]}


def _ends(versions: Sequence[int], identities: Mapping[str, tuple[int, int]]) -> Iterator[NamedRequest]:
    own = identities.get("own")
    ahead = {"much newer": (own[0], own[1] + 2)} if own is not None and own[1] + 2 <= LAST_EPOCH else {}
    whose = {**identities, **ahead}
    for version, (name, (producer_id, epoch)), commit in product(versions, whose.items(), (True, False)):
        asked = EndTxnAsked(id=OWN, version=version, producer_id=producer_id, epoch=epoch, commit=commit)
        yield NamedRequest(f"EndTxn v{version}, {'commit' if commit else 'abort'}, {name}", asked)


def _markers(
    versions: Sequence[int], identities: Mapping[str, tuple[int, int]], partition: str, coordinator_epoch: int
) -> Iterator[NamedRequest]:
    coordinators = {"an older coordinator's": -1, "the coordinator's": 0, "a newer coordinator's": 1}
    for version, (name, (producer_id, epoch)), commit in product(versions, identities.items(), (True, False)):
        for (whose, by), level in product(coordinators.items(), (0, 2) if version >= STRICT_MARKERS else (0,)):
            asked = WriteMarkerAsked(
                version=version,
                partition=partition,
                producer_id=producer_id,
                epoch=epoch,
                coordinator_epoch=coordinator_epoch + by,
                commit=commit,
                level=level,
            )
            kind = "COMMIT" if commit else "ABORT"
            yield NamedRequest(f"WriteTxnMarkers v{version}, {kind} of level {level}, {name}, {whose}", asked)


def _offset_adds(versions: Sequence[int], identities: Mapping[str, tuple[int, int]]) -> Iterator[NamedRequest]:
    for version, (name, (producer_id, epoch)) in product(versions, identities.items()):
        asked = AddOffsetsAsked(id=OWN, version=version, producer_id=producer_id, epoch=epoch)
        yield NamedRequest(f"AddOffsetsToTxn v{version}, {name}", asked)


def _offset_commits(
    versions: Sequence[int], identities: Mapping[str, tuple[int, int]], cluster: ModelCluster
) -> Iterator[NamedRequest]:
    offset = next_offset(cluster.log(GROUP))
    members = {"": (NONE, ""), ", of a member": (NONE, "m"), ", of a member's generation": (0, "m")}
    for version, (name, (producer_id, epoch)), (member, (generation, member_id)) in product(
        versions, identities.items(), members.items()
    ):
        if member and (version < NAMES_MEMBERS or name != "own"):
            continue
        asked = TxnOffsetCommitAsked(
            id=OWN,
            version=version,
            producer_id=producer_id,
            epoch=epoch,
            offset=offset,
            generation=generation,
            member=member_id,
        )
        yield NamedRequest(f"TxnOffsetCommit v{version}, {name}{member}", asked)


def _lists(
    versions: Sequence[int], identities: Mapping[str, tuple[int, int]], cluster: ModelCluster
) -> Iterator[NamedRequest]:
    """By a producer id always, because the list is of every id that the coordinator has."""
    known = cluster.ids.get(OWN)
    here = CoordinatorState.EMPTY if known is None else known.state
    elsewhere = tuple(str(state) for state in CoordinatorState if state is not here)
    filters = {"": (), ", in its state": (str(here),), ", in another state": elsewhere, ", in no state": ("Nonsense",)}
    for version, whose in product(versions, ("own", "another id's", "nobody's")):
        if whose not in identities:
            continue
        producer_id, _ = identities[whose]
        for name, states in filters.items() if whose == "own" else [("", ())]:
            asked = ListTransactionsAsked(id=OWN, version=version, producer_id=producer_id, states=states)
            yield NamedRequest(f"ListTransactions v{version}, {whose}{name}", asked)
        if version >= KNOWS_DURATION and whose == "own":
            asked = ListTransactionsAsked(id=OWN, version=version, producer_id=producer_id, duration_ms=AN_HOUR_MS)
            yield NamedRequest(f"ListTransactions v{version}, own, open for an hour", asked)
        for pattern in ListedPattern if version >= KNOWS_PATTERN and whose == "own" else ():
            asked = ListTransactionsAsked(id=OWN, version=version, producer_id=producer_id, pattern=pattern)
            yield NamedRequest(f"ListTransactions v{version}, own, a pattern that fits {pattern}", asked)


def _descriptions(identities: Mapping[str, tuple[int, int]], cluster: ModelCluster) -> Iterator[NamedRequest]:
    """What the look at every cell does not ask, and the id while something waits."""
    yield NamedRequest("DescribeTransactions", DescribeTransactionAsked(id=OWN))
    yield NamedRequest("DescribeTransactions of another broker", DescribeTransactionAsked(id=OWN, elsewhere=True))
    yield NamedRequest("DescribeTransactions of no id", DescribeTransactionAsked(id=OWN, names_none=True))
    producer_id, _ = identities.get("own", identities["nobody's"])
    asked = [(PARTITIONS[0], DescribedBy.STRANGER), (MISSING, DescribedBy.LEADER), (NO_TOPIC, DescribedBy.LEADER)]
    asked += [(GROUP, DescribedBy.FOLLOWER)] if is_used(cluster, GROUP) else []
    for partition, by in asked:
        request = DescribeProducerAsked(partition=partition, producer_id=producer_id, by=by)
        yield NamedRequest(f"DescribeProducers of {partition}, by {by}", request)


def _nameless(versions: Mapping[str, Sequence[int]]) -> Iterator[NamedRequest]:
    """What a coordinator is asked about the empty id, whatever state another one is in."""
    identity = {"id": NAMELESS, "producer_id": NOBODYS_ID, "epoch": 0}
    for version in versions["InitProducerId"]:
        yield NamedRequest(
            f"InitProducerId v{version}, the empty id", InitProducerIdAsked(id=NAMELESS, version=version)
        )
    for version in versions["AddPartitionsToTxn"]:
        added = AddPartitionsAsked(version=version, partitions=frozenset(PARTITIONS[:1]), **identity)  # type: ignore[arg-type]
        yield NamedRequest(f"AddPartitionsToTxn v{version}, add A, the empty id", added)
    for version in versions["EndTxn"]:
        ended = EndTxnAsked(version=version, commit=True, **identity)  # type: ignore[arg-type]
        yield NamedRequest(f"EndTxn v{version}, commit, the empty id", ended)
    yield NamedRequest("DescribeTransactions of the empty id", DescribeTransactionAsked(id=NAMELESS))
