"""What a leader's acceptance tells of its log, so that a search for an order goes straight there.

A batch is accepted behind the one with the sequence before it, or known again. Of a configuration in which its
coordinator has gone on to another epoch no order leads to the acceptance of a write that is still to be verified
(KIP-890 part 1).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec import Struct

from harness.model.leader_model import verified
from harness.model.model_requests import ModelRequest, PartitionWrite, ProduceAsked
from harness.model.model_state import NONE
from harness.model.protocol_profile import ProtocolProfile
from harness.model.search.dead_requests import will_be_refused
from harness.model.traces.configuration import Configuration
from harness.model.traces.traced_request import TracedRequest


class ToldWrite(Struct, frozen=True, kw_only=True):
    """Of a write that was accepted.

    :param is_verified: Whether its leader asks the coordinator about it. :param alike: The indexes of the trace's
        writes to the same partition: one that is confirmed may open the transaction there for this one.
    """

    request: PartitionWrite
    is_verified: bool
    alike: frozenset[int]

    def missing(self, one: Configuration) -> int | None:
        """How many sequences its leader still misses; None where it can be accepted no more."""
        asked = one.asked(self.request)
        known = one.cluster.log(self.request.partition).known(asked.producer_id)
        if self.is_verified and known.open_since is None and self._is_late(asked, one):
            return None
        if not isinstance(self.request, ProduceAsked):
            return 0
        last = known.last_sequence if known.epoch == self.request.epoch else NONE
        return max(0, self.request.sequence - 1 - last)

    def _is_late(self, asked: ModelRequest, one: Configuration) -> bool:
        is_over = will_be_refused(asked, one.cluster, confirmed=False)
        return is_over and not any(each.confirmed and each.index in self.alike for each in one.under_way)


def told_writes(trace: Sequence[TracedRequest], profile: ProtocolProfile) -> Mapping[int, ToldWrite]:
    """Of each write that was accepted, by its index."""
    places = defaultdict[str, set[int]](set)
    for index, one in enumerate(trace):
        if isinstance(one.request, PartitionWrite):
            places[one.request.partition].add(index)
    alike = {place: frozenset(indexes) for place, indexes in places.items()}
    return {
        index: ToldWrite(
            request=one.request, is_verified=verified(one.request, profile), alike=alike[one.request.partition]
        )
        for index, one in enumerate(trace)
        if isinstance(one.request, PartitionWrite) and one.answer is not None and one.answer.accepted
    }
