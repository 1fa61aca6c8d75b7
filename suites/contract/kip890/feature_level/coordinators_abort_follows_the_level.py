"""KIP890-FEAT-10: an abort that the coordinator begins itself is written down as the finalized level has it.

Whoever opened the transaction: after a timeout and after an InitProducerId that fences its owner, the coordinator bumps
the epoch by one. At level 2 it also keeps the last epoch and notes the new protocol (the tag ClientTransactionVersion),
so that the owner may claim the bumped epoch by its own identity, as KIP-588 wants it at every level; below it does not,
and how it answers such a claim there is not asked here. No KIP speaks of what is written, so this is a SHOULD.
"""

from collections.abc import Mapping

from harness.base.json_value import Json
from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Level,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.transaction_metadata_rules import ABORT_WITHOUT_BUMP, RECORDS_AS_OF_LEVEL_1
from harness.contract.checks.feature_checks import FEATURE, at_level
from harness.contract.doctored import abort, data, described, evidence, log, step, unsound
from harness.contract.refuters import Failpoint, Release
from harness.contract.requirement import Feature
from harness.evidence.requirement_evidence import NotSeen
from harness.lab import Lab

LEVELS = (0, 1, 2)
CAUSES = ("timeout", "fencing")
TIMEOUT_MS = 300
BOUND_SECONDS = 25.0
"""The timeout, twice Kafka's interval of looking for such transactions (10 s), and room for a loaded machine."""


def stimulus(lab: Lab) -> None:
    """At each level two transactions of the old protocol: one is left to its timeout, one to a second owner."""
    records: dict[str, Json] = {}
    for level in LEVELS:
        with lab.admin.feature(FEATURE, level):
            lab.levels.shown(FEATURE, level, as_=f"level {level}")
            for cause in CAUSES:
                case = f"{cause}-{level}"
                records[case] = _abort(lab, case, fence=cause == "fencing", probe=level == max(LEVELS))
    lab.note("records", records)


def _abort(lab: Lab, case: str, *, fence: bool, probe: bool) -> list[Json]:
    """The records about the id, once the coordinator has aborted its transaction."""
    txn, partition = lab.producer(timeout_ms=60_000 if fence else TIMEOUT_MS), lab.partition(case)
    txn.add(partition)
    txn.produce(partition, version=11)
    if fence:
        txn.init(retry=(), adopt=False, as_="fencing init")
    lab.reached(txn, "CompleteAbort", "Empty", as_=case, timeout_seconds=BOUND_SECONDS)
    records = lab.observer.transaction_records(txn.transactional_id, txn.coordinator)
    if probe:
        txn.init(identity=(txn.producer_id, txn.epoch), version=4, adopt=False, as_=f"claim after {case}")
    return records


def check(seen: Evidence) -> Observations:
    """One epoch up, with one marker; the record of the abort is of the level; at level 2 the owner may claim it."""
    for level in LEVELS:
        yield from at_level(seen, f"level {level}", level, otherwise="level-not-shown")
        for cause in CAUSES:
            case = f"{cause}-{level}"
            yield expect.over(seen[case])
            yield expect.keeps(seen[case], epoch=1, otherwise="wrong-stored-epoch")
            yield from expect.sound(seen, case, committed=(), markers=(("ABORT", 1),), shown="aborted-record-shown")
            kept = _prepared(seen, case)
            wanted = {"version": min(level, 1), "client_transaction_version": level if level == max(LEVELS) else 0}
            found = {key: max(0, int(str(kept[key]))) for key in wanted}
            yield expect.agree(f"the record of the abort after {case}", found, wanted, otherwise="wrong-record")
    for cause in CAUSES:
        claim = seen[f"claim after {cause}-2"]
        yield expect.accepted(claim, otherwise="claim-refused")
        yield expect.shows(claim, producer_epoch=1, otherwise="wrong-returned-epoch")


def _prepared(seen: Evidence, case: str) -> dict[str, Json]:
    """The last record of PrepareAbort about the id; :raises NotSeen: when there is none."""
    records = seen.fact("records")
    own = records.get(case) if isinstance(records, dict) else None
    found = [one for one in own if isinstance(one, dict)] if isinstance(own, list) else []
    prepared = [dict(one) for one in found if one.get("state") == "PrepareAbort"]
    if not prepared:
        raise NotSeen(f"no record of the abort after {case} was found")
    return prepared[-1]


def _records(levels: Mapping[str, int]) -> Json:
    """As the coordinator writes them at the level of each case."""
    return {
        case: [
            {
                "state": "PrepareAbort",
                "version": min(level, 1),
                "client_transaction_version": level if level == max(LEVELS) else -1,
            }
        ]
        for case, level in levels.items()
    }


CASES = {f"{cause}-{level}": level for level in LEVELS for cause in CAUSES}
GOOD = evidence(
    *(step(f"level {level}", "ApiVersions", 4, finalized_features={FEATURE: level}) for level in LEVELS),
    *(described(case, "CompleteAbort", epoch=1) for case in CASES),
    *(step(f"claim after {cause}-2", "InitProducerId", 4, producer_id=7, producer_epoch=1) for cause in CAUSES),
    logs={case: log(data(7, 0, "a"), abort(7, 1)) for case in CASES},
    records=_records(CASES),
)

REQUIREMENT = Requirement(
    id="KIP890-FEAT-10",
    source=Source(890, "Transaction Feature Version (0)"),
    statement="Aborts that the coordinator begins itself follow the finalized level of transaction.version.",
    needs=(Offers("UpdateFeatures", 1), Offers("InitProducerId", 4), Feature(FEATURE, 2)),
    level=Level.SHOULD,
    order=Order.CHANGES_SETTINGS,
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("level-not-shown", GOOD.with_step("level 1", finalized_features={FEATURE: 2})),
        Refusal("transaction-not-over", GOOD.with_step("timeout-0", state="Ongoing")),
        Refusal("wrong-stored-epoch", GOOD.with_step("fencing-2", producer_epoch=2)),
        Refusal("wrong-markers", GOOD.with_log("fencing-1", log(data(7, 0, "a"), abort(7, 2)))),
        *unsound(GOOD, "timeout-2", appended=None, shown="aborted-record-shown"),
        Refusal("wrong-record", GOOD.with_fact("records", _records({**CASES, "timeout-0": 1}))),
        Refusal("wrong-record", GOOD.with_fact("records", _records({**CASES, "fencing-2": 1}))),
        Refusal("claim-refused", GOOD.with_step("claim after timeout-2", error=KafkaError.PRODUCER_FENCED)),
        Refusal("wrong-returned-epoch", GOOD.with_step("claim after fencing-2", producer_epoch=2)),
    ),
    refuted_by=(
        Release(version="4.0.0", anomaly="wrong-stored-epoch"),
        Failpoint(rules=ABORT_WITHOUT_BUMP, anomaly="claim-refused"),
        Failpoint(rules=RECORDS_AS_OF_LEVEL_1, anomaly="wrong-record"),
    ),
)
