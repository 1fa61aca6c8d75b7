"""KIP664-WTM-01: an operator can end a hanging transaction, one that no coordinator knows, with an abort marker.

It is made to hang as the old defect did: a write to a partition that was never added, with the verification of old
clients switched off where the broker has it (that switch is the broker's, hence the late place in the run). A record
committed after it shows what a hanging transaction costs: it is invisible until the marker. Behind that another
transaction is open when the marker is written, and must stay so. All of it is the KIP's, but that the request carries a
coordinator's epoch and no start offset: no Kafka has that field. What the leader lists is looked at where it can be.
"""

from typing import Any

from harness.base.unprepared import OutOfReach
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
from harness.contract.byteman.leader_rules import ABORT_MARKER_ENDS_NOTHING, READERS_SHOWN_EVERYTHING
from harness.contract.byteman.marker_rules import MARKERS_COMMIT
from harness.contract.doctored import adopted, known_producer, log
from harness.contract.refuters import VERIFICATION, Failpoint, Liar
from harness.evidence.requirement_evidence import NotSeen
from harness.lab import Lab, Partition


def stimulus(lab: Lab) -> None:
    """One hangs for each version of the request; commit and open one behind it, look, write the marker, look again."""
    versions, rival = lab.offered("WriteTxnMarkers", (1, 2)), lab.producer("rival")
    partitions = {version: lab.partition(f"P{version}") for version in versions}
    txns = {version: lab.producer() for version in versions}
    with lab.admin.unverified():
        hanging = [txns[version].produce(at, version=9, as_="hanging write") for version, at in partitions.items()]
    if any(write.error for write in hanging) and lab.admin.config(rival.coordinator, VERIFICATION) is None:
        raise OutOfReach(
            f"no transaction can be made to hang: no unadded write is taken, and there is no {VERIFICATION}"
        )
    for version, partition in partitions.items():
        marker: dict[str, Any] = {
            "producer_id": txns[version].producer_id,
            "epoch": txns[version].epoch,
            "version": version,
        }
        rival.write(partition)
        rival.end(commit=True)
        rival.add(partition)  # is taken when the transaction before it is over
        rival.produce(partition, as_="open write")
        look(lab, partition, f"hanging {version}")
        lab.write_marker(partition, **marker, commit=False, as_="marker")
        look(lab, partition, f"ended {version}")
        rival.end(commit=True)


def look(lab: Lab, partition: Partition, moment: str) -> None:
    """What the leader lists, where readers stop and what they are shown."""
    lab.sample(moment, partition)
    lab.observer.producers(partition, as_=moment)
    lab.note(moment, list(lab.observer.log(partition).committed))


def check(seen: Evidence) -> Observations:
    """It hung; the marker is taken, readers go on to the next open transaction, and only what hung is never shown."""
    for marker, write, later in zip(*map(seen.all, ("marker", "hanging write", "open write")), strict=True):
        before, after, truth = f"hanging {marker.version}", f"ended {marker.version}", seen.log(f"P{marker.version}")
        held = seen.sample(before)
        if write.error != 0 or held.last_stable_offset >= held.high_watermark:
            raise NotSeen("no transaction could be made to hang")
        own, stop = write.request_int("producer_id"), later.answer_int("base_offset")
        yield expect.open_since(seen[before], own, held.last_stable_offset, otherwise="hanging-not-described")
        yield expect.agree("shown before", seen.fact(before), [], marker, otherwise="shown-before-marker")
        yield expect.accepted(marker, otherwise="marker-refused")
        yield expect.not_open(seen[after], own, otherwise="still-open-after-marker")
        yield expect.agree("LSO after", seen.sample(after).last_stable_offset, stop, marker, otherwise="lso-not-moved")
        between = [value for batch in truth.batches if batch.base_offset < stop for value in batch.values][1:]
        yield expect.agree("shown after", seen.fact(after), between, marker, otherwise="wrong-committed-view")
        found = [(one.control, one.producer_epoch) for one in truth.markers() if one.producer_id == own]
        yield expect.agree("its markers", found, [("ABORT", 0)], marker, otherwise="wrong-marker")
        shown = truth.values()[1:]
        yield expect.agree("committed values", truth.committed, shown, marker, otherwise="wrong-committed-view")


GOOD = adopted(__file__, "KIP664-WTM-01")
_HANGS, *_SHOWN = GOOD.log().values()
*_OPEN, _ABORT, _COMMIT = GOOD.log().batches

REQUIREMENT = Requirement(
    id="KIP664-WTM-01",
    source=Source(664, "WriteTxnMarkers"),
    statement="An operator's abort marker ends a hanging transaction: the LSO moves on, its records stay hidden.",
    needs=(Offers("WriteTxnMarkers", 1),),
    order=Order.CHANGES_SETTINGS,
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("shown-before-marker", GOOD.with_fact("hanging 1", [_SHOWN[0]])),
        Refusal("hanging-not-described", GOOD.with_step("hanging 1", fields=known_producer("", since=-1).fields)),
        Refusal("marker-refused", GOOD.with_step("marker", error=KafkaError.CLUSTER_AUTHORIZATION_FAILED)),
        Refusal("still-open-after-marker", GOOD.with_step("ended 1", fields=known_producer("", since=0).fields)),
        *(Refusal("lso-not-moved", GOOD.with_sample("ended 1", last_stable_offset=lso)) for lso in (0, 5)),
        Refusal("wrong-committed-view", GOOD.with_fact("ended 1", [])),
        Refusal("wrong-committed-view", GOOD.with_fact("ended 1", [*_SHOWN])),
        Refusal("wrong-marker", GOOD.with_log(truth=log(*_OPEN, _COMMIT), committed=tuple(_SHOWN))),
        Refusal("wrong-committed-view", GOOD.with_log(committed=(_HANGS, *_SHOWN))),
        Refusal("wrong-committed-view", GOOD.with_log(committed=())),
    ),
    refuted_by=(
        Failpoint(rules=ABORT_MARKER_ENDS_NOTHING, anomaly="lso-not-moved"),
        Failpoint(rules=MARKERS_COMMIT, anomaly="wrong-marker"),
        Failpoint(rules=MARKERS_COMMIT, anomaly="wrong-committed-view"),
        Failpoint(rules=READERS_SHOWN_EVERYTHING, anomaly="shown-before-marker"),
        Liar(api="DescribeProducers", fields={"current_txn_start_offset": -1}, anomaly="hanging-not-described"),
    ),
)
