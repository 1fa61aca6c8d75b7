"""What the wire client sent for one transactional id, from the operations of all who used it: a trace for the model.

An operation hides its tries. What is known is its last answer, so the other tries are requests without one, which may
have had their effect at any time. Sequence numbers, and what was added to a transaction, are not in a history: they
follow from the operations before, as in :class:`harness.clients.wire.protocol_client.ProtocolClient`.

Offsets of a group are covered as far as they are part of a transaction: what AddOffsetsToTxn and TxnOffsetCommit are
answered. Which offset it is, what the group then shows, and what concerns its members is not.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from msgspec.structs import replace

from harness.base.kafka_error import KafkaError
from harness.evidence.history.asked_request import AskedRequest
from harness.evidence.json_codec import from_json
from harness.judge.asked_in_model import asked_in_model, is_open, told_by
from harness.judge.decided_errors import DECIDED, DECIDED_OF_COMMITS, decided_by
from harness.judge.stale_brokers import StaleBrokers
from harness.model.coordinator_model import NEW_PROTOCOL_END
from harness.model.leader_model import OFFSETS_KNOW_ABORTABLE, PRODUCE_KNOWS_ABORTABLE
from harness.model.model_requests import (
    AddOffsetsAsked,
    AddPartitionsAsked,
    EndTxnAsked,
    InitProducerIdAsked,
    ModelAnswer,
    ModelRequest,
    ProduceAsked,
    TxnOffsetCommitAsked,
)
from harness.model.model_state import NONE
from harness.model.protocol_profile import NEW_PROTOCOL_OFFSETS, NEW_PROTOCOL_PRODUCE
from harness.model.traces.traced_request import TracedRequest
from harness.wire.topic_partitions import partition_name

Row: TypeAlias = Mapping[str, Any]
Window: TypeAlias = tuple[float, float]
COLUMNS = (
    *("number", "actor", "verb", "outcome", "error", "reason", "started", "ended", "producer_id", "epoch"),
    *("topic", "partition", "group", "tries", "protocol", "request", "state"),
)
"""Of operations, that a trace is made from."""
SENDING = ("init", "begin", "produce", "send_offsets", "commit", "abort", "ask")
NOBODY_STALE = StaleBrokers()
NEVER_SENT = "was never sent"
"""In the reason of an operation whose partition could not be added first."""


@dataclass(slots=True)
class _Client:
    """What one actor's client knows, as ``ProducerState`` does.

    :param refused: When the last refused write to a partition ended, and the sequence after its own.
    """

    producer_id: int = NONE
    epoch: int = NONE
    sequences: dict[str, int] = field(default_factory=dict)
    refused: dict[str, tuple[float, int]] = field(default_factory=dict)
    added: set[str] = field(default_factory=set)

    def become(self, row: Row) -> None:
        """Another identity begins its sequences at 0."""
        if (row["producer_id"], row["epoch"]) != (self.producer_id, self.epoch):
            self.sequences.clear()
            self.refused.clear()
        self.producer_id, self.epoch = row["producer_id"], row["epoch"]
        self.added.clear()

    def sequence(self, partition: str, started: float) -> int:
        """Of a write that began at ``started``: that of a refused one is free again, but not for what was in flight."""
        ended, after = self.refused.get(partition, (started, 0))
        return after if started < ended else self.sequences.get(partition, 0)


@dataclass(slots=True, kw_only=True)
class ClientTrace:
    """The trace of one transactional id while its operations are added, in the order of their numbers.

    :param produce: The newest version of Produce that the brokers offer: a refusal is told by it.
    :param repeated: When a proxy sent requests twice.
    :param stale: Who may have answered by what it knew before another one took its place.
    :param groups: To how many offsets were sent.
    :param missing: Partitions that were asked for and that no topic has.
    :param numbers: Of the operations that the answered requests belong to.
    :param handed_out: Producer ids with epochs, as answers to ``init`` and EndTxn gave them.
    """

    id: str
    produce: int = NEW_PROTOCOL_PRODUCE
    repeated: Sequence[Window] = ()
    stale: StaleBrokers = NOBODY_STALE
    requests: list[TracedRequest] = field(default_factory=list)
    groups: int = 0
    missing: set[str] = field(default_factory=set)
    numbers: dict[TracedRequest, int] = field(default_factory=dict)
    handed_out: list[tuple[int, int]] = field(default_factory=list)
    _late: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        name: str,
        rows: Iterable[Row],
        *,
        produce: int = NEW_PROTOCOL_PRODUCE,
        repeated: Sequence[Window] = (),
        stale: StaleBrokers = NOBODY_STALE,
    ) -> "ClientTrace":
        """Of all operations with a transactional id."""
        ordered = sorted(rows, key=lambda row: row["number"])
        groups = len({row["group"] for row in ordered if row["verb"] == "send_offsets"})
        trace = cls(id=name, produce=produce, repeated=repeated, stale=stale, groups=groups)
        clients = defaultdict[str, _Client](_Client)
        for row in _requests(ordered):
            trace._add(row, clients[row["actor"]])
        return trace

    def _add(self, row: Row, client: _Client) -> None:
        match row["verb"]:
            case "init":
                self._init(row, client)
            case "begin":
                client.added.clear()
            case "produce":
                self._write(row, client)
            case "send_offsets":
                self._send_offsets(row, client)
            case "commit" | "abort":
                self._end(row, client)
            case "ask":
                self._ask(row, client)

    def _init(self, row: Row, client: _Client) -> None:
        told = ModelAnswer(producer_id=row["producer_id"], epoch=row["epoch"]) if _done(row) else self._refusal(row)
        self._sent(row, InitProducerIdAsked(id=self.id, version=4), told, row["tries"])
        if _done(row):
            client.become(row)

    def _write(self, row: Row, client: _Client) -> None:
        partition = _partition(row)
        new, spent = row["protocol"] == "v2", partition not in client.added
        if not self._added(row, client, partition) or NEVER_SENT in row["reason"]:
            return
        tries = row["tries"] - (spent and not new)
        request = ProduceAsked(
            id=self.id,
            version=min(NEW_PROTOCOL_PRODUCE if new else 11, self.produce),
            partition=partition,
            producer_id=client.producer_id,
            epoch=client.epoch,
            sequence=client.sequence(partition, row["started"]),
        )
        told, refused = ModelAnswer() if _done(row) else self._refusal(row), row["outcome"] == "refused"
        if refused:
            client.refused[partition] = (row["ended"], request.sequence + 1)
        else:
            client.sequences[partition] = request.sequence + 1
        if told is not None or not refused:
            self._sent(row, request, told, tries)
        elif new:  # what is refused for another reason is not appended; the leader may have added the partition
            self._sent(row, self._add_asked(client, partition, 5), None, tries)

    def _added(self, row: Row, client: _Client, partition: str, *, of_group: bool = False) -> bool:
        """The old protocol's request before the first write; False where nothing more was sent."""
        if row["protocol"] == "v2" or partition in client.added:
            return True
        sent = NEVER_SENT not in row["reason"]
        told = ModelAnswer() if sent else self._refusal(row)
        asked = self._add_offsets_asked(client, partition) if of_group else self._add_asked(client, partition, 3)
        self._sent(row, asked, told, row["tries"] - (sent and not _unwritten(row)))
        if sent:
            client.added.add(partition)
        return sent

    def _send_offsets(self, row: Row, client: _Client) -> None:
        """AddOffsetsToTxn of the old protocol, then TxnOffsetCommit.

        What is refused for another reason than its transaction, such as its member's, is not appended; the leader of a
        new client's may have added the partition first. Groups may lie in one partition, which nobody tells: of an id
        that uses several that is all that is known of each TxnOffsetCommit.
        """
        group, new = f"offsets of {row['group']}", row["protocol"] == "v2"
        spent = group not in client.added
        if not self._added(row, client, group, of_group=True) or NEVER_SENT in row["reason"]:
            return
        tries, told = row["tries"] - (spent and not new), ModelAnswer() if _done(row) else self._refusal(row)
        if self.groups <= 1 and (told is not None or row["outcome"] != "refused"):
            self._sent(row, self._offsets_asked(client, group, new=new), told, tries)
        elif new:
            self._sent(row, self._add_asked(client, group, 5), None, tries)

    def _offsets_asked(self, client: _Client, group: str, *, new: bool) -> TxnOffsetCommitAsked:
        """Which offset it is makes no difference to an answer; TRANSACTION_ABORTABLE is known since Produce v11."""
        old = OFFSETS_KNOW_ABORTABLE if self.produce >= PRODUCE_KNOWS_ABORTABLE else OFFSETS_KNOW_ABORTABLE - 1
        return TxnOffsetCommitAsked(
            id=self.id,
            version=NEW_PROTOCOL_OFFSETS if new else old,
            producer_id=client.producer_id,
            epoch=client.epoch,
            offset=0,
            group=group,
        )

    def _end(self, row: Row, client: _Client) -> None:
        new, commit = row["protocol"] == "v2", row["verb"] == "commit"
        told = self._refusal(row, DECIDED_OF_COMMITS if commit else DECIDED)
        if _done(row):
            told = ModelAnswer(producer_id=row["producer_id"], epoch=row["epoch"]) if new else ModelAnswer()
        request = EndTxnAsked(
            id=self.id,
            version=5 if new else 3,
            producer_id=client.producer_id,
            epoch=client.epoch,
            commit=commit,
        )
        self._sent(row, request, told, row["tries"])
        client.added.clear()
        if _done(row) and new and row["tries"]:
            client.become(row)

    def _ask(self, row: Row, client: _Client) -> None:
        """Whatever it changes, its client begins anew by an ``init``. A coordinator that says *later* did nothing, but
        for InitProducerId, which may have begun to abort; the leader of a Produce may have added the partition."""
        asked = from_json(AskedRequest, row["request"])
        told = self._refusal(row, decided_by(asked))
        if told is None and row["outcome"] == "refused" and asked.api not in ("InitProducerId", "Produce"):
            return
        if _done(row) and not (asked.api == "DescribeTransactions" and self._is_passing(row, client)):
            told = told_by(row)
        request = asked_in_model(asked, self.id, new=row["protocol"] == "v2", produce=self.produce)
        if asked.missing:
            self.missing.add(partition_name(asked.topic, asked.partition))
        self._sent(row, request, told, row["tries"])

    def _is_passing(self, row: Row, client: _Client) -> bool:
        """Whether a description says nothing: a broker whose place is taken describes what was; one that fences an old
        client raises the epoch before it has written down that the transaction ends
        (``TransactionCoordinator.endTransaction``)."""
        return self.stale.concern(row, self.id) or (is_open(row) and row["epoch"] != client.epoch)

    def _add_asked(self, client: _Client, partition: str, version: int) -> AddPartitionsAsked:
        return AddPartitionsAsked(
            id=self.id,
            version=version,
            producer_id=client.producer_id,
            epoch=client.epoch,
            partitions=frozenset({partition}),
        )

    def _add_offsets_asked(self, client: _Client, group: str) -> AddOffsetsAsked:
        return AddOffsetsAsked(id=self.id, version=3, producer_id=client.producer_id, epoch=client.epoch, group=group)

    def _sent(self, row: Row, request: ModelRequest, told: ModelAnswer | None, tries: int) -> None:
        """The tries of a request, of which the last has the answer; none for what was never sent."""
        if tries <= 0:
            return
        without = 0 if _is_known(request, told) else tries - (told is not None) + self._is_repeated(row, request)
        if told is not None:
            answered = TracedRequest(
                request=request, answer=told, sent=row["started"], answered=row["ended"], who=row["actor"]
            )
            self.requests.append(answered)
            self.numbers[answered] = row["number"]
            if told.producer_id != NONE and row["verb"] != "ask":
                self.handed_out.append((told.producer_id, told.epoch))
        if without:
            again = TracedRequest(request=request, sent=row["started"], who=row["actor"], copies=without)
            self.requests.append(again)
            if isinstance(request, ProduceAsked) and told is not None and told.accepted:
                self._supersede(request.partition, len(self.requests) - 1)

    def _supersede(self, partition: str, index: int) -> None:
        """Copies of a batch that was appended, in place of those of an earlier one.

        Behind the end of the transaction any of them brings about the same, so that the last ones stand for all.
        """
        earlier, self._late[partition] = self._late.get(partition), index
        if earlier is not None:
            before, last = self.requests[earlier], self.requests[index]
            self.requests[index] = replace(last, copies=last.copies + before.copies)
            self.requests[earlier] = replace(before, until=last.sent)

    def _is_repeated(self, row: Row, request: ModelRequest) -> bool:
        return not isinstance(request, InitProducerIdAsked) and _met(row, self.repeated)

    def _refusal(self, row: Row, decided: frozenset[KafkaError] = DECIDED) -> ModelAnswer | None:
        """The last answer, where it says something about the state."""
        if row["error"] not in decided or self.stale.concern(row, self.id):
            return None
        return ModelAnswer(KafkaError(row["error"]).name)


def _requests(rows: Iterable[Row]) -> Iterator[Row]:
    """A row for each request: records of one batch begin and end together, and have one sequence between them here."""
    seen: set[tuple[object, ...]] = set()
    for row in rows:
        if row["verb"] == "produce":
            batch = (row["actor"], _partition(row), row["started"], row["ended"])
            if batch in seen:
                continue
            seen.add(batch)
        yield row


def _partition(row: Row) -> str:
    return f"{row['topic']}-{row['partition']}"


def _unwritten(row: Row) -> bool:
    """Whether no try of the operation's own request was written: each found no connection, and none had an answer."""
    return row["outcome"] == "refused" and row["error"] is None


def _met(row: Row, windows: Iterable[Window]) -> bool:
    return any(since <= row["ended"] and row["started"] <= upto for since, upto in windows)


def _done(row: Row) -> bool:
    return bool(row["outcome"] == "done")


def _is_known(request: ModelRequest, told: ModelAnswer | None) -> bool:
    """Whether a further one changes nothing for ever, known by the epoch that has ended (KIP-890).

    The copy of a batch is known by its sequence, but behind the end of an old client's transaction its leader first
    asks the coordinator about it, and from then to the next marker refuses what follows it
    (``VerificationStateEntry.lowestSequence``).
    """
    new_end = isinstance(request, EndTxnAsked) and request.version >= NEW_PROTOCOL_END
    new_write = isinstance(request, ProduceAsked) and request.version >= NEW_PROTOCOL_PRODUCE
    return told is not None and told.accepted and (new_end or new_write)
