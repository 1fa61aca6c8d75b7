"""KIP664-WTM-06: a marker is taken by the partition's leader alone; others refuse it, and so does a leader elsewhere.

KIP-664: NOT_LEADER_OR_FOLLOWER "if the replica receiving the request is not the current leader",
UNKNOWN_TOPIC_OR_PARTITION "if either the topic or partition is not known to exist". A broker without any replica is no
"replica receiving the request", and Kafka answers UNKNOWN_TOPIC_OR_PARTITION there (``KafkaApis`` asks for the local
log first); either code is a refusal that sends the operator to look for the leader, so both are taken.
"""

from harness.contract import Access, Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.marker_rules import REFUSED_MARKERS_TOLD_AS_WRITTEN
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab
from harness.lab.powers.markers import NewMarker

NOT_LEADER, UNKNOWN = KafkaError.NOT_LEADER_OR_FOLLOWER, KafkaError.UNKNOWN_TOPIC_OR_PARTITION
NOWHERE = ("fencepost-there-is-no-such-topic", 0)
REFUSALS = {"follower": (NOT_LEADER,), "stranger": (UNKNOWN, NOT_LEADER), "unknown topic": (UNKNOWN,)}


def stimulus(lab: Lab) -> None:
    """An open transaction on a replicated partition and on one with one replica; abort markers to the wrong brokers."""
    txn = lab.producer()
    replicated = lab.partition("P1", replicas=len(lab.cluster.topology.brokers))
    single = lab.partition("P2")
    txn.write(replicated)
    txn.write(single)
    own, epoch = txn.producer_id, txn.epoch
    places = {
        "follower": (replicated, lab.another_broker(replicated.leader)),
        "stranger": (single, lab.another_broker(single.leader)),
    }
    for name, (partition, node) in places.items():
        lab.write_marker(partition, producer_id=own, epoch=epoch, commit=False, node=node, as_=name)
    nowhere = NewMarker(partitions=(NOWHERE,), producer_id=own, epoch=epoch, commit=False)
    lab.write_marker.several(nowhere, node=single.leader, as_="unknown topic")
    lab.sample("after P1", replicated)
    lab.sample("after P2", single)
    txn.end(commit=True, as_="end")
    lab.settled()


def check(seen: Evidence) -> Observations:
    """Each is refused; nothing is ended or written by them, and the client's own commit holds on both partitions."""
    for name, codes in REFUSALS.items():
        yield expect.refused(seen[name], *codes, otherwise="marker-taken")
    for alias in ("P1", "P2"):
        yield expect.unstable(seen.sample(f"after {alias}"), otherwise="transaction-ended")
        yield from expect.sound(seen, alias, markers=(("COMMIT",),), shown="committed-record-lost")
    yield expect.accepted(seen["end"], otherwise="end-refused")


GOOD = adopted(__file__, "KIP664-WTM-06")

REQUIREMENT = Requirement(
    id="KIP664-WTM-06",
    source=Source(664, "WriteTxnMarkers: possible error codes"),
    statement="A marker sent to a follower, to a broker without replica or for an unknown topic is refused.",
    needs=(Offers("WriteTxnMarkers", 1),),
    access=(Access.CHANGES, Access.BROKERS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(Refusal("marker-taken", GOOD.with_step(name, error=0)) for name in REFUSALS),
        Refusal("wrong-error", GOOD.with_step("follower", error=UNKNOWN)),
        Refusal("wrong-error", GOOD.with_step("stranger", error=KafkaError.INVALID_REQUEST)),
        Refusal("unanswered", GOOD.with_step("unknown topic", error=None)),
        Refusal("transaction-ended", GOOD.with_sample("after P1", last_stable_offset=1)),
        Refusal("wrong-markers", GOOD.with_log("P2", batches=GOOD.log("P2").batches[:1])),
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.INVALID_TXN_STATE)),
        *unsound(GOOD, "P2", appended=None, shown="committed-record-lost"),
    ),
    refuted_by=(Failpoint(rules=REFUSED_MARKERS_TOLD_AS_WRITTEN, anomaly="marker-taken"),),
)
