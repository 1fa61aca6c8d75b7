"""KIP664-WTM-01: an operator can end a hanging transaction, one that no coordinator knows, with an abort marker.

It is made to hang as the old defect did: a write to a partition that was never added, with the verification of old
clients switched off where the broker has it (that switch is the broker's, hence the late place in the run). A record
committed after it shows what a hanging transaction costs: it is invisible until the marker.
"""

from collections.abc import Iterator

from harness.base.json_value import Json
from harness.contract import (
    Failpoint,
    Level,
    Observation,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    accepted,
    agree,
    row,
)
from harness.contract.byteman.leader_rules import ABORT_MARKER_ENDS_NOTHING
from harness.contract.doctored import abort, commit, data, evidence, log, sample, step
from harness.evidence.requirement_evidence import Evidence, NotSeen
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
        txn = txns[version]
        rival.write(partition)
        rival.end(commit=True)
        lab.reached(rival, "CompleteCommit", as_="behind")
        lab.sample(f"hanging {version}", partition)
        lab.observer.producers(partition, as_="hanging")
        lab.write_marker(
            partition, producer_id=txn.producer_id, epoch=txn.epoch, commit=False, version=version, as_="marker"
        )
        lab.sample(f"ended {version}", partition)
        lab.observer.producers(partition, as_="ended")


def check(seen: Evidence) -> Iterator[Observation]:
    """It hung; the marker is taken, the LSO reaches the high watermark, and only the rival's record is shown."""
    writes, looks = seen.all("hanging write"), zip(seen.all("hanging"), seen.all("ended"), strict=True)
    for write, marker, (before, after) in zip(writes, seen.all("marker"), looks, strict=True):
        alias, producer_id = f"P{marker.version}", write.request["producer_id"]
        hanging, ended = seen.sample(f"hanging {marker.version}"), seen.sample(f"ended {marker.version}")
        if write.error != 0 or hanging.last_stable_offset >= hanging.high_watermark:
            raise NotSeen("no transaction could be made to hang")
        start = row(before, "producers", producer_id=producer_id).get("current_txn_start_offset")
        yield agree("open since", start, hanging.last_stable_offset, before, otherwise="hanging-not-described")
        yield accepted(marker, otherwise="marker-refused")
        open_ = row(after, "producers", producer_id=producer_id).get("current_txn_start_offset")
        yield agree("open since", open_, -1, marker, after, otherwise="still-open-after-marker")
        yield agree("LSO", ended.last_stable_offset, ended.high_watermark, marker, otherwise="lso-not-moved")
        truth = seen.log(alias)
        markers = [(one.control, one.producer_id, one.producer_epoch) for one in truth.markers()][-1:]
        yield agree("last marker", markers, [("ABORT", producer_id, 0)], marker, otherwise="wrong-marker")
        promised = truth.values()[1:]
        yield agree("committed values", truth.committed, promised, marker, otherwise="wrong-committed-view")


def _producers(start: int) -> list[Json]:
    return [{"producer_id": 7, "current_txn_start_offset": start}]


GOOD = evidence(
    step("hanging write", "Produce", 9, request={"producer_id": 7, "values": ["hangs"]}),
    step("hanging", "DescribeProducers", 0, producers=_producers(0)),
    step("marker", "WriteTxnMarkers", 1),
    step("ended", "DescribeProducers", 0, producers=_producers(-1)),
    samples=(sample("hanging 1", "P1", 3, 0), sample("ended 1", "P1", 4, 4)),
    logs={"P1": log(data(7, 0, "hangs"), data(8, 0, "b"), commit(8, 0), abort(7, 0))},
)
UNMARKED = log(data(7, 0, "hangs"), data(8, 0, "b"), commit(8, 0))

REQUIREMENT = Requirement(
    id="KIP664-WTM-01",
    level=Level.MUST,
    source=Source(664, "WriteTxnMarkers"),
    statement="An operator's abort marker ends a hanging transaction: the LSO moves on, its records stay hidden.",
    needs=(Offers("WriteTxnMarkers", 1), Offers("DescribeProducers", 0)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("hanging-not-described", GOOD.with_step("hanging", producers=_producers(-1))),
        Refusal("marker-refused", GOOD.with_step("marker", error=31)),
        Refusal("still-open-after-marker", GOOD.with_step("ended", producers=_producers(0))),
        Refusal("lso-not-moved", GOOD.with_sample("ended 1", last_stable_offset=0)),
        Refusal("wrong-marker", GOOD.with_log(truth=UNMARKED, committed=("b",))),
        Refusal("wrong-committed-view", GOOD.with_log(committed=("hangs", "b"))),
        Refusal("wrong-committed-view", GOOD.with_log(committed=())),
    ),
    refuted_by=(Failpoint(rules=ABORT_MARKER_ENDS_NOTHING, anomaly="lso-not-moved"),),
    order=Order.CHANGES_SETTINGS,
)
