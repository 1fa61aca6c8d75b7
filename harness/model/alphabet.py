"""Every request that is asked in a state: versions, identities, sequences, partitions, epochs of markers.

Identities are told by what they are in that state, and the requests carry the numbers: the id's own, its previous
epoch, an older and a newer one, another id's, and one that nobody has.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from harness.model.model_requests import (
    AddPartitionsAsked,
    EndTxnAsked,
    InitProducerIdAsked,
    ModelRequest,
    ProduceAsked,
    WriteMarkerAsked,
)
from harness.model.model_state import NONE, ModelCluster

OWN, OTHER = "own", "other"
"""The transactional ids of a cell."""
PARTITIONS = ("A", "B")
NOBODYS_ID = 9999
"""A producer id that was never given out."""
VERSIONS: Mapping[str, Sequence[int]] = {
    "InitProducerId": (3, 4, 5),
    "AddPartitionsToTxn": (1, 3, 4, 5),
    "Produce": (9, 10, 11, 12),
    "EndTxn": (1, 3, 4, 5),
    "WriteTxnMarkers": (1, 2),
}
"""On both sides of every version in which the protocol changed, where the broker offers it."""
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
    spoken = {
        api: [v for v in VERSIONS[api] if api in offered and offered[api][0] <= v <= offered[api][1]]
        for api in VERSIONS
    }
    yield from _inits(spoken["InitProducerId"], identities)
    yield from _adds(spoken["AddPartitionsToTxn"], identities)
    yield from _produces(spoken["Produce"], identities, cluster)
    yield from _ends(spoken["EndTxn"], identities)
    yield from _markers(spoken["WriteTxnMarkers"], identities, cluster.coordinator_epoch)


def _offers(versions: tuple[int, int] | None, version: int) -> bool:
    return versions is not None and versions[0] <= version <= versions[1]


def _identities(cluster: ModelCluster) -> Mapping[str, tuple[int, int]]:
    """Producer id and epoch of each; only those that there are."""
    known, other = cluster.ids.get(OWN), cluster.ids.get(OTHER)
    found = {"nobody's": (NOBODYS_ID, 0)}
    if other is not None:
        found["another id's"] = (other.producer_id, other.epoch)
    if known is not None:
        epochs = {"own": 0, "previous": -1, "older": -2, "newer": 1}
        found |= {n: (known.producer_id, known.epoch + by) for n, by in epochs.items() if known.epoch + by >= 0}
    return found


def _inits(versions: Sequence[int], identities: Mapping[str, tuple[int, int]]) -> Iterator[NamedRequest]:
    half = {"without identity": (NONE, NONE), "id alone": (NOBODYS_ID, NONE), "epoch alone": (NONE, 0)}
    for version, (name, (producer_id, epoch)) in product(versions, [*half.items(), *identities.items()]):
        asked = InitProducerIdAsked(id=OWN, version=version, producer_id=producer_id, epoch=epoch)
        yield NamedRequest(f"InitProducerId v{version}, {name}", asked)


def _adds(versions: Sequence[int], identities: Mapping[str, tuple[int, int]]) -> Iterator[NamedRequest]:
    for version, (name, (producer_id, epoch)), partitions in product(versions, identities.items(), ("A", "B", "AB")):
        for verify_only in (False, True) if version >= FIRST_OF_BROKERS else (False,):
            asked = AddPartitionsAsked(
                id=OWN,
                version=version,
                producer_id=producer_id,
                epoch=epoch,
                partitions=frozenset(partitions),
                verify_only=verify_only,
            )
            how = "verify" if verify_only else "add"
            yield NamedRequest(f"AddPartitionsToTxn v{version}, {how} {'+'.join(partitions)}, {name}", asked)


def _produces(
    versions: Sequence[int], identities: Mapping[str, tuple[int, int]], cluster: ModelCluster
) -> Iterator[NamedRequest]:
    for version, (name, (producer_id, epoch)), partition in product(versions, identities.items(), PARTITIONS):
        for which, sequence in _sequences(cluster, partition, producer_id, epoch).items():
            asked = ProduceAsked(
                id=OWN, version=version, partition=partition, producer_id=producer_id, epoch=epoch, sequence=sequence
            )
            yield NamedRequest(f"Produce v{version}, {partition}, {name}, {which} sequence", asked)


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
    for version, (name, (producer_id, epoch)), commit in product(versions, identities.items(), (True, False)):
        asked = EndTxnAsked(id=OWN, version=version, producer_id=producer_id, epoch=epoch, commit=commit)
        yield NamedRequest(f"EndTxn v{version}, {'commit' if commit else 'abort'}, {name}", asked)


def _markers(
    versions: Sequence[int], identities: Mapping[str, tuple[int, int]], coordinator_epoch: int
) -> Iterator[NamedRequest]:
    coordinators = {"an older coordinator's": -1, "the coordinator's": 0, "a newer coordinator's": 1}
    for version, (name, (producer_id, epoch)), commit in product(versions, identities.items(), (True, False)):
        for (whose, by), level in product(coordinators.items(), (0, 2) if version >= 2 else (0,)):
            asked = WriteMarkerAsked(
                version=version,
                partition="A",
                producer_id=producer_id,
                epoch=epoch,
                coordinator_epoch=coordinator_epoch + by,
                commit=commit,
                level=level,
            )
            kind = "COMMIT" if commit else "ABORT"
            yield NamedRequest(f"WriteTxnMarkers v{version}, {kind} of level {level}, {name}, {whose}", asked)
