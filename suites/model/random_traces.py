"""Traces of the model itself, walked at random: what clients of one transactional id are answered, or not.

Messages wait, are lost or arrive twice, answers are lost, markers come late, transactions time out, coordinators and
leaders move. Producer ids are given other numbers, as a cluster's would be.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from harness.model import protocol_step as step
from harness.model.alphabet import MISSING, OWN, PARTITIONS, alphabet
from harness.model.coordinator_model import add_partitions
from harness.model.leader_model import UNVERIFIED, question, translated
from harness.model.model_requests import (
    AddPartitionsAsked,
    DescribeProducerAsked,
    DescribeTransactionAsked,
    ModelAnswer,
    ModelRequest,
    PartitionWrite,
    WriteMarkerAsked,
)
from harness.model.model_state import GROUP, NONE, ModelCluster, fresh_cluster
from harness.model.protocol_profile import ProtocolProfile
from harness.model.traces.traced_request import TracedRequest

OFFERED: Mapping[str, tuple[int, int]] = {
    "InitProducerId": (0, 5), "AddPartitionsToTxn": (0, 5), "Produce": (3, 13), "EndTxn": (0, 5),
    "AddOffsetsToTxn": (0, 4), "TxnOffsetCommit": (0, 5), "OffsetFetch": (1, 10),
}  # fmt: skip
SENSIBLE = (
    *("without identity", "add A, own", "add B, own", "commit, own", "abort, own", "own, next sequence"),
    *("AddOffsetsToTxn v3, own", "TxnOffsetCommit v3, own", "TxnOffsetCommit v5, own"),
)
"""Ends of the names of requests that a client in good order sends; they are chosen more often."""


@dataclass(slots=True)
class _Sent:
    """:param number: Of the leader's verification; :param confirmed: the coordinator has said yes to it."""

    place: int
    request: ModelRequest
    number: int = UNVERIFIED
    confirmed: bool = False


@dataclass(slots=True)
class TraceWalk:
    """One walk.

    :param choose: One of several; a random number generator's, or Hypothesis'.
    :param calm: One request after the other: nothing is lost, late or repeated, and nothing moves or times out.
    """

    choose: Callable[[Sequence[Any]], Any]
    profile: ProtocolProfile
    calm: bool = False
    cluster: ModelCluster = field(default_factory=lambda: fresh_cluster(*PARTITIONS))
    trace: list[TracedRequest] = field(default_factory=list)
    messages: list[_Sent] = field(default_factory=list)
    now: float = 0

    def walked(self, steps: int) -> Sequence[TracedRequest]:
        """The trace after so many steps."""
        for _ in range(steps):
            self.now += 1
            self._request() if self.calm else self._anything()
        return self.trace

    def _request(self) -> None:
        self._send()
        self._arrive(self.messages[0], at_once=True)
        self.cluster = step.settled(self.cluster, self.profile)

    def _anything(self) -> None:
        happens = self.choose(["send", "send", "arrive", "arrive", "arrive", "marker", "marker", "rare"])
        if happens == "send":
            self._send()
        elif happens == "marker":
            following = [each.after for each in step.marker_steps(self.cluster, self.profile)]
            self.cluster = self.choose(following) if following else self.cluster
        elif happens == "arrive" and self.messages:
            self._arrive(self.choose(self.messages), at_once=self.choose([True, False]))
        elif happens == "rare":
            self._rare()

    def _send(self) -> None:
        named = [each for each in alphabet(self.cluster, OFFERED) if _is_of_a_client(each.asked)]
        in_order = [each for each in named if each.name.endswith(SENSIBLE)]
        asked = self.choose(self.choose([in_order, in_order, named])).asked
        if asked.producer_id in self._untold():
            return
        self.messages.append(_Sent(len(self.trace), asked))
        self.trace.append(TracedRequest(request=_renamed(asked), sent=self.now))

    def _untold(self) -> set[int]:
        """Producer ids that were given out, and that no client has heard of."""
        told = {one.answer.producer_id for one in self.trace if one.answer is not None}
        return {each for each in range(self.cluster.producer_ids) if _real(each) not in told}

    def _rare(self) -> None:
        happens = self.choose(["lose", "repeat", "lose the answer", "time out", "coordinator", "leader"])
        if happens == "time out":
            self.cluster = step.timed_out(self.cluster, OWN, self.profile) or self.cluster
        elif happens == "coordinator":
            self.cluster = step.coordinator_moved(self.cluster, self.profile)
        elif happens == "leader":
            self.cluster = step.leader_moved(self.cluster, self.choose((*PARTITIONS, GROUP)))
        elif self.messages:
            self._disturb(happens, self.choose(self.messages))

    def _disturb(self, how: str, message: _Sent) -> None:
        if how == "lose":
            self.messages.remove(message)
        elif how == "repeat" and message.number == UNVERIFIED:
            self.messages.append(_Sent(len(self.trace), message.request))
            self.trace.append(self.trace[message.place])
        elif how == "lose the answer":
            self._arrive(message, at_once=True)
            self.trace[message.place] = replace(self.trace[message.place], answer=None, answered=None)

    def _arrive(self, message: _Sent, *, at_once: bool) -> None:
        """It has its next effect; all of them where it is handled ``at_once``."""
        request = message.request
        if isinstance(request, PartitionWrite) and (not at_once or message.number != UNVERIFIED):
            self._write(message, request)
        else:
            self._answer(message, step.outcomes(self.cluster, request, self.profile)[0])

    def _write(self, message: _Sent, request: PartitionWrite) -> None:
        if message.confirmed:
            self._answer(message, step.finish_write(self.cluster, request, message.number, self.profile))
        elif message.number != UNVERIFIED:
            self._ask_coordinator(message, request)
        elif isinstance(begun := step.begin_write(self.cluster, request, self.profile), step.ModelOutcome):
            self._answer(message, begun)
        else:
            self.cluster, message.number = begun
            if message.number == UNVERIFIED:
                self._answer(message, step.finish_write(self.cluster, request, UNVERIFIED, self.profile))

    def _ask_coordinator(self, message: _Sent, request: PartitionWrite) -> None:
        answer, known = add_partitions(self.cluster.ids.get(OWN), question(request), self.profile)
        after = self.cluster if known is None else self.cluster.with_id(OWN, known)
        if answer.accepted:
            self.cluster, message.confirmed = after, True
        else:
            self._answer(message, step.ModelOutcome(translated(request, answer), after))

    def _answer(self, message: _Sent, outcome: step.ModelOutcome) -> None:
        self.messages.remove(message)
        self.cluster = outcome.after
        told = replace(outcome.answer, producer_id=_real(outcome.answer.producer_id))
        self.trace[message.place] = replace(self.trace[message.place], answer=told, answered=self.now)


def _is_of_a_client(request: ModelRequest) -> bool:
    """Whether a trace may have it: of an application, about partitions that there are."""
    if isinstance(request, AddPartitionsAsked):
        return MISSING not in request.partitions
    return not isinstance(request, WriteMarkerAsked | DescribeTransactionAsked | DescribeProducerAsked)


def _renamed(request: ModelRequest) -> ModelRequest:
    assert not isinstance(request, DescribeTransactionAsked), "clients ask coordinators for no description"
    return replace(request, producer_id=_real(request.producer_id))


def _real(producer_id: int) -> int:
    """A producer id of the model as a cluster's."""
    return producer_id if producer_id == NONE else 1_000 + 7 * producer_id


def with_answer(trace: Sequence[TracedRequest], place: int, answer: ModelAnswer) -> Sequence[TracedRequest]:
    """The trace with another answer at a place."""
    return [*trace[:place], replace(trace[place], answer=answer), *trace[place + 1 :]]
