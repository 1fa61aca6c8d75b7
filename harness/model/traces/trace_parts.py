"""A trace seen from one partition: what is left of it says less, and is searched far sooner.

What happens at partitions is independent but for what their coordinator knows, so that the states of a search multiply
with every partition at which something is unsure. Of the others a part keeps only that some of them may be added to the
transaction. Each order that explains the whole trace explains each part of it as well; a part that none explains
therefore decides about the whole (P-compositionality: Horn and Kroening, "Faster linearizability checking via
P-compositionality", 2015).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec import Struct
from msgspec.structs import replace

from harness.model.groups.group_model import adds_like
from harness.model.leader_model import is_new, question, verified
from harness.model.model_requests import (
    AddOffsetsAsked,
    AddPartitionsAsked,
    DescribeProducerAsked,
    DescribeTransactionAsked,
    ModelRequest,
    ProduceAsked,
    ToLeader,
    TxnOffsetCommitAsked,
    WriteMarkerAsked,
)
from harness.model.protocol_profile import ProtocolProfile
from harness.model.traces.traced_request import TracedRequest

ELSEWHERE = "all other partitions"


class TracePart(Struct, frozen=True):
    """What is left of a trace, and the trace's own requests that it comes from, in the same order."""

    requests: Sequence[TracedRequest]
    originals: Sequence[TracedRequest]


def parts_of(
    trace: Sequence[TracedRequest], profile: ProtocolProfile, missing: frozenset[str] = frozenset()
) -> Iterator[TracePart]:
    """One for each partition that is written to or described. :param missing: Partitions that no topic has."""
    described = any(isinstance(one.request, DescribeTransactionAsked) for one in trace)  # names them all
    for place in dict.fromkeys(place for one in trace if (place := _leader_asked(one.request)) is not None):
        seen_from = _SeenFrom(place, profile, None if described else missing)
        both = [(left, one) for one in trace if (left := seen_from.left_of(one)) is not None]
        yield TracePart([left for left, _ in both], [one for _, one in both])


def _leader_asked(asked: ModelRequest) -> str | None:
    """The partition whose leader a request goes to; None where it goes to a coordinator."""
    return asked.partition if isinstance(asked, ToLeader) else None


@dataclass(frozen=True, slots=True)
class _SeenFrom:
    """The partition of a part. :param told_apart: Partitions that keep their names beside it; None where all do."""

    place: str
    profile: ProtocolProfile
    told_apart: frozenset[str] | None

    def left_of(self, one: TracedRequest) -> TracedRequest | None:
        """What a request is here; at another partition's leader: that it may ask to add it, sooner or later."""
        asked = one.request
        match asked:
            case AddPartitionsAsked():
                return replace(one, request=self._adds(asked))
            case AddOffsetsAsked() if asked.group != self.place:
                return replace(one, request=self._adds(adds_like(asked)))
            case ProduceAsked() | TxnOffsetCommitAsked() if asked.partition != self.place:
                if not (is_new(asked) and verified(asked, self.profile)):
                    return None
                return replace(one, request=self._adds(question(asked)), answer=None, answered=None)
            case WriteMarkerAsked() | DescribeProducerAsked() if asked.partition != self.place:
                return None
        return one

    def _adds(self, asked: AddPartitionsAsked) -> AddPartitionsAsked:
        if self.told_apart is None:
            return asked
        apart = self.told_apart | {self.place}
        return replace(asked, partitions=frozenset(each if each in apart else ELSEWHERE for each in asked.partitions))
