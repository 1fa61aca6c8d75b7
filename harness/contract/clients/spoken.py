"""The versions that a client speaks, and which transaction protocol they are (KIP-890, "Public Interfaces").

The old protocol adds partitions and groups by requests of their own; the new one, from Produce 12, TxnOffsetCommit 5
and EndTxn 5 on, adds them implicitly and has a new epoch for each transaction. A client may use it only where the
brokers finalize ``transaction.version`` 2.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.base.json_value import Json
from harness.contract.expect import Observation, Observations, agree, finding, habit, unless, witness
from harness.evidence.client_evidence import ClientCall, Frame
from harness.evidence.requirement_evidence import Evidence, NotSeen

FEATURE = "transaction.version"
NEW_FROM: Mapping[str, int] = {"Produce": 12, "TxnOffsetCommit": 5, "EndTxn": 5}
"""The first version of the new protocol."""
ADDING = frozenset({"AddPartitionsToTxn", "AddOffsetsToTxn"})
"""What the old protocol alone sends."""
OLD, NEW = "v1", "v2"
SPOKEN, PROTOCOL, OFFERED = "spoken", "protocol", "offered"
"""Facts that every client requirement has: versions by API, protocols, and what each broker advertises."""


def spoken(frames: Iterable[Frame]) -> dict[str, Json]:
    """Every API on the wire and its versions, both in order."""
    found: dict[str, set[int]] = {}
    for frame in frames:
        found.setdefault(frame.api, set()).add(frame.version)
    return {api: [*sorted(versions)] for api, versions in sorted(found.items())}


def protocol(frame: Frame) -> str | None:
    """Of which transaction protocol the request is; None where both have it, or it is outside a transaction."""
    if frame.api in ADDING:
        return OLD
    if frame.api not in NEW_FROM or (frame.api == "Produce" and not any(each.transactional for each in frame.batches)):
        return None
    return NEW if frame.version >= NEW_FROM[frame.api] else OLD


def protocols(frames: Iterable[Frame]) -> list[str]:
    """Of all these requests, in order."""
    return sorted({found for frame in frames if (found := protocol(frame))})


@dataclass(frozen=True, slots=True)
class SpokenTransaction:
    """A transaction of an application and the requests that it sent from its beginning to the answer of its end."""

    name: str
    begin: ClientCall
    end: ClientCall
    frames: Sequence[Frame]

    @property
    def protocols(self) -> list[str]:
        return protocols(self.frames)

    @property
    def is_new(self) -> bool:
        """Whether any request of it is of the new protocol."""
        return NEW in self.protocols

    @property
    def identities(self) -> list[tuple[int, int]]:
        """Producer id and epoch of its records, each once."""
        return [*dict.fromkeys((each.producer_id, each.epoch) for frame in self.frames for each in frame.batches)]

    def __str__(self) -> str:
        versions = ", ".join(f"{api} {found}" for api, found in spoken(self.frames).items() if api != "ApiVersions")
        return f"{self.name!r} of {self.begin.application} spoke {versions}"


def spoken_transaction(seen: Evidence, name: str) -> SpokenTransaction:
    """The one whose calls were named after it (``transact``); :raises NotSeen: when it was not begun or sent nothing.

    A second call of a name, by another application, is not of it.
    """
    begins = [call for call in seen.calls if call.name == f"{name} begin"]
    ends = [call for call in seen.calls if call.name == f"{name} end"]
    if not begins or not ends:
        raise NotSeen(f"no transaction named {name!r} was begun and ended")
    begin, end = begins[0], ends[0]
    mine = [
        frame
        for frame in seen.frames
        if frame.client_id == begin.application and begin.started <= frame.at <= end.answered
    ]
    if not protocols(mine):
        raise NotSeen(f"{name!r} sent no request of a transaction")
    return SpokenTransaction(name, begin, end, mine)


def within_offered(seen: Evidence) -> Observations:
    """No request has a version that its broker does not advertise; a first ApiVersions may (KIP-511).

    Anomaly: ``unoffered-version``.
    """
    offered = seen.fact(OFFERED)
    assert isinstance(offered, dict)
    strangers = [frame for frame in seen.frames if frame.api != "ApiVersions" and not _offers(offered, frame)]
    for frame in strangers:
        yield finding(
            "unoffered-version", f"{frame.api} v{frame.version} to broker {frame.node}, which offers {offered}"
        )
    if seen.frames and not strangers:
        yield witness(f"{len(seen.frames)} requests have versions that their brokers advertise")


def _offers(offered: Mapping[str, Json], frame: Frame) -> bool:
    match offered.get(str(frame.node)):
        case dict() as of_node:
            found = of_node.get(frame.api)
            return isinstance(found, list) and int(str(found[0])) <= frame.version <= int(str(found[1]))
    return False


def speaks_old(transaction: SpokenTransaction, *, otherwise: str = "new-protocol-below-level-2") -> Observation:
    """Nothing of the new protocol is sent (KIP-890, "Compatibility": the level is too low, or the client is old)."""
    return unless(not transaction.is_new, f"no new protocol: {transaction}", otherwise=otherwise)


def speaks_new(transaction: SpokenTransaction, *, otherwise: str = "old-protocol-at-level-2") -> Observation:
    """Nothing of the old protocol is sent (KIP-890, "New Clients")."""
    return unless(transaction.protocols == [NEW], f"the new protocol alone: {transaction}", otherwise=otherwise)


def speaks_one(transaction: SpokenTransaction) -> Observation:
    """One protocol from beginning to end; brokers serve a mixture too (COMPAT-12), so it is a habit."""
    one = len(transaction.protocols) == 1
    return habit(unless(one, f"one protocol: {transaction}", otherwise="mixed-protocols"))


def epochs_are(transactions: Sequence[SpokenTransaction], *, new: bool) -> Observations:
    """Each transaction of the new protocol has an epoch of its own; in the old one they share theirs.

    Anomalies: ``epoch-not-new``, ``epoch-not-kept``.
    """
    identities = [transaction.identities for transaction in transactions]
    if not all(identities):
        raise NotSeen("a transaction sent no record")
    what = f"producer ids and epochs of {len(identities)} transactions are {identities}"
    if new:
        once = len({each for own in identities for each in own}) == len(identities)
        yield unless(once, f"{what}, each its own", otherwise="epoch-not-new")
    else:
        yield agree(what, len({each for own in identities for each in own}), 1, otherwise="epoch-not-kept")


def seen_level(seen: Evidence, application: str, before: float) -> int | None:
    """``transaction.version`` of the answers that an application got before a moment, at their highest epoch.

    None where it never asked so that it is told.
    """
    told = [
        (int(str(frame.answer["finalized_features_epoch"])), frame.at, _level(frame))
        for frame in seen.frames
        if frame.client_id == application
        and frame.api == "ApiVersions"
        and frame.answered is not None
        and frame.answered <= before
        and "finalized_features_epoch" in frame.answer
    ]
    return max(told)[2] if told else None


def _level(frame: Frame) -> int:
    levels = frame.answer.get("finalized_features")
    return int(str(levels.get(FEATURE, 0))) if isinstance(levels, dict) else 0
