"""Transactional ids that have been in use for long when a round begins, so that few epochs of a producer id are left.

A client comes to the last of them, and then to another producer id, after 32,766 epochs (KIP-360, KIP-890 part 2), for
which no round has the time. So their coordinators read in their log that they were used (:mod:`StateLog
<harness.lab.powers.state_log>`); the step into the last epochs is the clients' own.
"""

from collections.abc import Mapping, Sequence

from harness.base.unprepared import Unprepared
from harness.chaos.plan.scenario import Role
from harness.chaos.play.actor import successor_name
from harness.chaos.play.round_context import RoundContext
from harness.cluster.observer_client import observer_client
from harness.evidence.json_codec import to_plain
from harness.faults.fault_target import FaultTarget
from harness.faults.observer.observer_lane import on_observer_lane
from harness.judge.order_search import USED_BEFORE
from harness.kafka.any_broker import told
from harness.lab.powers.last_epochs import LAST_EPOCH
from harness.lab.powers.state_log import StateLog
from harness.model.traces.traced_cluster import UsedId
from harness.wire.records.transaction_state import NewState
from harness.wire.requests.transactions.init_producer_id import InitProducerId
from harness.wire.wire_client import WireClient


def use_ids(context: RoundContext) -> None:
    """Each id of a role with ``epochs_left``; none on a cluster that is not ours, or that has one broker.

    :raises Unprepared: When a broker refuses what this takes.
    """
    wanted = [(name, role, left) for role in context.roles for name, left in _ids_of(context, role)]
    state_log = _state_log(context.fault_target)
    if not wanted or not state_log.can_be_written:
        return
    known = _producer_ids(context.fault_target, {name: role.timeout_ms for name, role, _ in wanted})
    states = [NewState(name, known[name], LAST_EPOCH - left, role.timeout_ms) for name, role, left in wanted]
    state_log.replace(*states)
    context.facts[USED_BEFORE] = [
        to_plain(UsedId(each.transactional_id, each.producer_id, each.producer_epoch)) for each in states
    ]


def _ids_of(context: RoundContext, role: Role) -> Sequence[tuple[str, int]]:
    """The id of its first client and those of its successors, with the epochs that are left to each."""
    if role.transactional_id is None:
        return ()
    own = context.real_name(role.transactional_id)
    return [(own + successor_name("", nth), left) for nth, left in enumerate(role.epochs_left, start=1)]


def _producer_ids(fault_target: FaultTarget, timeouts: Mapping[str, int]) -> Mapping[str, int]:
    """By transactional id, as its coordinator gave it out; :raises Unprepared: when it gave none."""
    found = dict[str, int]()
    with on_observer_lane(fault_target) as leader_client:
        for name, timeout_ms in timeouts.items():
            request = InitProducerId(transactional_id=name, timeout_ms=timeout_ms)
            answer = leader_client.at_coordinator(name, request)
            if answer.error:
                raise Unprepared(f"InitProducerId of {name} answered {told(answer)}")
            found[name] = answer.producer_id
    return found


def _state_log(fault_target: FaultTarget) -> StateLog:
    cluster = fault_target.cluster

    def open_client(name: str) -> WireClient:
        return observer_client(cluster.topology, fault_target.clock, actor=name)

    return StateLog(view=fault_target.view, open_client=open_client, owned=cluster.owned)
