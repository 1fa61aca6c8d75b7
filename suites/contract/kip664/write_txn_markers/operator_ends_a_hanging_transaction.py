"""KIP664-WTM-01: an operator can end a hanging transaction, one that no coordinator knows, with an abort marker.

It is made to hang as the old defect did: a write to a partition that was never added, with the verification of old
clients switched off where the broker has it (that switch is the broker's, hence the late place in the run). A record
committed after it shows what a hanging transaction costs: it is invisible until the marker.
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.leader_rules import ABORT_MARKER_ENDS_NOTHING
from harness.contract.doctored import abort, commit, data, evidence, known_producer, log, sample, step, written
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import NotSeen
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """One hangs for each version of the request; commit behind it, look, write the marker, look again."""
    versions, rival = lab.offered("WriteTxnMarkers", (1, 2)), lab.producer("rival")
    partitions = {version: lab.partition(f"P{version}") for version in versions}
    txns = {version: lab.producer() for version in versions}
    with lab.admin.unverified():
        for version, partition in partitions.items():
            txns[version].produce(partition, version=9, as_="hanging write")
    for version, partition in partitions.items():
        marker = {"producer_id": txns[version].producer_id, "epoch": txns[version].epoch, "version": version}
        rival.write(partition)
        rival.end(commit=True)
        lab.reached(rival, "CompleteCommit", as_="behind")
        lab.sample(f"hanging {version}", partition)
        lab.observer.producers(partition, as_="hanging")
        lab.write_marker(partition, **marker, commit=False, as_="marker")
        lab.sample(f"ended {version}", partition)
        lab.observer.producers(partition, as_="ended")


def check(seen: Evidence) -> Observations:
    """It hung; the marker is taken, the LSO reaches the high watermark, and only the rival's record is shown."""
    writes, described = seen.all("hanging write"), zip(seen.all("hanging"), seen.all("ended"), strict=True)
    for write, marker, (before, after) in zip(writes, seen.all("marker"), described, strict=True):
        own, truth = write.request_int("producer_id"), seen.log(f"P{marker.version}")
        hanging = seen.sample(f"hanging {marker.version}")
        if write.error != 0 or hanging.last_stable_offset >= hanging.high_watermark:
            raise NotSeen("no transaction could be made to hang")
        yield expect.open_since(before, own, hanging.last_stable_offset, otherwise="hanging-not-described")
        yield expect.accepted(marker, otherwise="marker-refused")
        yield expect.open_since(after, own, -1, otherwise="still-open-after-marker")
        yield expect.stable(seen.sample(f"ended {marker.version}"), marker, otherwise="lso-not-moved")
        last = [(one.control, one.producer_id, one.producer_epoch) for one in truth.markers()][-1:]
        yield expect.agree("last marker", last, [("ABORT", own, 0)], marker, otherwise="wrong-marker")
        shown = truth.values()[1:]
        yield expect.agree("committed values", truth.committed, shown, marker, otherwise="wrong-committed-view")


_LOGGED = (data(7, 0, "hangs"), data(8, 0, "b"), commit(8, 0))
GOOD = evidence(
    written("hanging write", 9, "hangs"),
    known_producer("hanging", since=0),
    step("marker", "WriteTxnMarkers", 1),
    known_producer("ended"),
    samples=(sample("hanging 1", "P1", 3, 0), sample("ended 1", "P1", 4, 4)),
    logs={"P1": log(*_LOGGED, abort(7, 0))},
)

REQUIREMENT = Requirement(
    id="KIP664-WTM-01",
    source=Source(664, "WriteTxnMarkers"),
    statement="An operator's abort marker ends a hanging transaction: the LSO moves on, its records stay hidden.",
    needs=(Offers("WriteTxnMarkers", 1), Offers("DescribeProducers", 0)),
    order=Order.CHANGES_SETTINGS,
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("hanging-not-described", GOOD.with_step("hanging", fields=known_producer("", since=-1).fields)),
        Refusal("marker-refused", GOOD.with_step("marker", error=KafkaError.CLUSTER_AUTHORIZATION_FAILED)),
        Refusal("still-open-after-marker", GOOD.with_step("ended", fields=known_producer("", since=0).fields)),
        Refusal("lso-not-moved", GOOD.with_sample("ended 1", last_stable_offset=0)),
        Refusal("wrong-marker", GOOD.with_log(truth=log(*_LOGGED), committed=("b",))),
        Refusal("wrong-committed-view", GOOD.with_log(committed=("hangs", "b"))),
        Refusal("wrong-committed-view", GOOD.with_log(committed=())),
    ),
    refuted_by=(Failpoint(rules=ABORT_MARKER_ENDS_NOTHING, anomaly="lso-not-moved"),),
)
