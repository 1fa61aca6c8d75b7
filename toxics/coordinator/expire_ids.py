"""Expire ids: transactional ids that are idle are forgotten by their coordinators, and come back as strangers.

The brokers' own settings do it (``transactional.id.expiration.ms``, ``producer.id.expiration.ms``); the block is the
time in which it is seen. An id that expired is refused with INVALID_PRODUCER_ID_MAPPING, and its next InitProducerId
gets another producer id (KIP-98, «Transactional ID expiration»). Needs brokers that forget within seconds. Counts the
workload's ids that were unknown to their coordinator at the end, or had another producer id by then.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from harness.base.json_value import Json
from harness.faults.fault_target import FaultTarget
from harness.faults.observer.observer_lane import on_observer_lane
from harness.faults.toxic import ClusterShape, Power, StrikeCount, ToxicReach
from harness.faults.typed_draws import texts
from harness.kafka.leader_client import Unreachable
from harness.wire.requests.transactions.describe_transactions import DescribeTransactions

NOBODY = -1
"""The producer id of an unknown transactional id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdExpiry:
    """Fills :class:`harness.faults.toxic.Toxic`, and ``MinimumDuration``: an id has to be idle first."""

    name: str = "expire-ids"
    power: Power = Power.LEADERSHIP
    acts_on: tuple[ToxicReach, ...] = (ToxicReach.SETTINGS,)
    disrupts_broker: bool = False
    seconds: float = 8.0

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:  # noqa: ARG002
        """``transactional_ids``, by the workload's names: all of them."""
        return {"transactional_ids": [*shape.transactional_ids]}

    @contextmanager
    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Iterator[StrikeCount]:
        """Looked at before and after the block."""
        ids = texts(chosen, "transactional_ids")
        how = "ids that their coordinators forgot"
        strikes = StrikeCount(where=f"{len(ids)} transactional ids", how=how, moved=())
        before = _producer_ids(fault_target, ids)
        yield strikes
        after = _producer_ids(fault_target, ids)
        forgotten = [one for one, known in before.items() if known != NOBODY and after.get(one, known) != known]
        strikes.struck = len(forgotten)
        strikes.how += f": {', '.join(forgotten) or 'none'}"


def _producer_ids(fault_target: FaultTarget, ids: tuple[str, ...]) -> Mapping[str, int]:
    """By the workload's name; an id whose coordinator does not answer is left out."""
    found = dict[str, int]()
    with on_observer_lane(fault_target) as leader_client:
        for one in ids:
            request = DescribeTransactions(transactional_id=fault_target.transactional_ids.get(one, one))
            try:
                answer = leader_client.at_coordinator(request.transactional_id, request, timeout_seconds=1)
            except Unreachable:
                continue
            found[one] = NOBODY if answer.error else answer.producer_id
    return found


TOXIC = IdExpiry()
