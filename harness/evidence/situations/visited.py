"""Which situations a round shows. What its records leave open is not counted."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from harness.evidence.situations import situation as words
from harness.evidence.situations.recorded import FaultMoment, HeldRequest, RoundRecords, StateRecord, UnderWay
from harness.evidence.situations.situation import Situation
from harness.evidence.situations.state_index import StateIndex

OFFSETS = "__consumer_offsets-"
APIS = {
    "init": words.INIT,
    "produce": words.PRODUCE,
    "send_offsets": words.COMMIT_OFFSETS,
    "commit": words.END,
    "abort": words.END,
}
"""What the verb of an operation asks for."""


@dataclass(slots=True)
class Visits:
    """A round's records, with the states by id."""

    recorded: RoundRecords
    index: StateIndex = field(init=False)

    def __post_init__(self) -> None:
        self.index = StateIndex(self.recorded.states)

    def situations(self) -> Counter[Situation]:
        """Each with the number of moments that show it."""
        found: Counter[Situation] = Counter()
        for moment in self.recorded.moments:
            pairs = self._struck(moment) if moment.api else self._there(moment)
            found.update({Situation(state=s, request=r, fault=moment.fault) for s, r in pairs})
        return found

    def under_way(self, moment: FaultMoment) -> list[UnderWay]:
        """Operations that had begun before it and ended after it."""
        return [each for each in self.recorded.operations if each.started <= moment.since and each.ended >= moment.upto]

    def held(self, moment: FaultMoment) -> list[HeldRequest]:
        """Requests that the gate had all the time, for another reason than this fault."""
        there = [each for each in self.recorded.held if each.since <= moment.since and each.upto >= moment.upto]
        return [each for each in there if each.fault != moment.fault]

    def states_of(self, request: FaultMoment | HeldRequest, at: FaultMoment) -> Iterator[str]:
        """Of the ids of a request that the gate read; markers carry a producer id alone."""
        yield from (state for state, _ in self._pairs(request, at))

    def _struck(self, moment: FaultMoment) -> Iterator[tuple[str, str]]:
        yield from self._pairs(moment, moment)

    def _there(self, moment: FaultMoment) -> Iterator[tuple[str, str]]:
        busy = set()
        for operation in self.under_way(moment):
            busy.add(operation.transactional_id)
            yield from self._of_operation(operation, moment)
        for request in self.held(moment):
            yield from self._pairs(request, moment)
        for one in self.index.by_id.keys() - busy:
            record = self.index.state(one, moment.since, moment.upto)
            if record is not None:
                yield record.state, words.NOTHING

    def _of_operation(self, operation: UnderWay, moment: FaultMoment) -> Iterator[tuple[str, str]]:
        record = self.index.state(operation.transactional_id, moment.since, moment.upto)
        if record is not None and operation.verb in APIS:
            yield record.state, _in_state(APIS[operation.verb], [operation.partition], record)
        elif operation.verb == "init" and self.index.unknown(operation.transactional_id, moment.upto):
            yield words.UNKNOWN, words.INIT

    def _pairs(self, request: FaultMoment | HeldRequest, at: FaultMoment) -> Iterator[tuple[str, str]]:
        """The state of each of its ids, with the name of the request in it."""
        for one in request.transactional_ids:
            record = self.index.state(one, at.since, at.upto)
            if record is not None:
                yield record.state, _name(request, record)
            elif self.index.unknown(one, at.upto):
                yield words.UNKNOWN, _name(request, None)
        if not request.transactional_ids and request.producer_id is not None:
            found = self.index.of_producer(request.producer_id, at.since, at.upto)
            yield from ((record.state, _name(request, record)) for record in found)


def _name(request: FaultMoment | HeldRequest, record: StateRecord | None) -> str:
    if request.link and request.api == words.ADD:
        return words.VERIFICATION
    return _in_state(request.api, request.partitions, record)


def _in_state(api: str, partitions: Sequence[str], record: StateRecord | None) -> str:
    """The request, which depends on what is in the transaction already: what is not is added by it (KIP-890)."""
    open_now = record.partitions if record is not None and record.state == "Ongoing" else None
    if api == words.PRODUCE:
        return words.PRODUCE if open_now is not None and set(partitions) <= set(open_now) else words.ADD
    if api == words.COMMIT_OFFSETS:
        inside = any(name.startswith(OFFSETS) for name in open_now or ())
        return words.COMMIT_OFFSETS if inside else words.ADD_OFFSETS
    return api
