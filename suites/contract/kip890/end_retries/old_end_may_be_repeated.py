"""KIP890-RETRY-07: in the old protocol an end of the same kind may be repeated in the same epoch, the opposite may not.

Every version up to 4, committing and aborting. The marker is held on the link from the coordinator to the leader, so
that the repetition also meets a transaction that is still being ended; ten holds make this take about a second.
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
    refused,
    shows,
)
from harness.contract.byteman.coordinator_rules import OLD_END_NOT_REPEATABLE, OPPOSITE_END_TAKEN_FOR_REPETITION
from harness.contract.doctored import abort, commit, data, evidence, held_link, log, sample, step
from harness.evidence.requirement_evidence import Evidence, NotSeen, Step
from harness.lab import Lab, Partition, Producer

VERSIONS = range(5)


def stimulus(lab: Lab) -> None:
    """One producer ends a transaction of each kind at each version, and asks again while it ends and afterwards."""
    txn = lab.producer("victim", protocol=1)
    partition = lab.partition("P1")
    for version in lab.offered("EndTxn", VERSIONS):
        for commits in (True, False):
            txn.add(partition, as_="add")
            txn.produce(partition, as_="write")
            _end(lab, txn, partition, version, commits)


def _end(lab: Lab, txn: Producer, partition: Partition, version: int, commits: bool) -> None:
    name = _name(version, commits)
    with lab.hold(lab.link(txn.coordinator, partition.leader), name=name) as held:
        txn.end(commit=commits, version=version, as_="end")
        txn.end(commit=commits, version=version, as_="again while ending", retry=())
        txn.end(commit=not commits, version=version, as_="opposite while ending", retry=())
        lab.sample(name)
        held.release()
    lab.reached(txn, "CompleteCommit" if commits else "CompleteAbort", as_="ended")
    txn.end(commit=commits, version=version, as_="again", retry=())
    txn.end(commit=not commits, version=version, as_="opposite", retry=())
    txn.end(commit=commits, version=version, epoch=txn.epoch + 1, as_="ahead", retry=())
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")


def _name(version: int, commits: object) -> str:
    return f"{'commit' if commits else 'abort'} v{version}"


def check(seen: Evidence) -> Iterator[Observation]:
    """Retriable while it ends; then the same is accepted, the opposite and another epoch are refused."""
    ends = seen.all("end")
    epoch = ends[0].asked("producer_epoch")
    for end in ends:
        during = seen.sample(_name(end.version, end.request["committed"]))
        seen.fault(during.name)
        if end.error == 0 and during.high_watermark <= during.last_stable_offset:
            raise NotSeen(f"{during.name} was over before its marker was released")
        yield accepted(end, otherwise="end-refused")
    for early in (*seen.all("again while ending"), *seen.all("opposite while ending")):
        yield refused(early, 51, otherwise="answered-before-complete")
    for again, opposite, ahead in zip(seen.all("again"), seen.all("opposite"), seen.all("ahead"), strict=True):
        yield accepted(again, otherwise="repetition-refused")
        yield refused(opposite, 48, otherwise="opposite-end-accepted")
        yield refused(ahead, 90 if ahead.version >= 2 else 47, otherwise="later-epoch-accepted")
    for end, ended, kept in zip(ends, seen.all("ended"), seen.all("kept"), strict=True):
        state = "CompleteCommit" if end.request["committed"] else "CompleteAbort"
        yield shows(ended, state=state, otherwise="wrong-state")
        yield shows(kept, state=state, producer_epoch=epoch, otherwise="decision-changed")
    promised = tuple(("COMMIT" if end.request["committed"] else "ABORT", epoch) for end in ends)
    yield agree("markers", seen.log().marks(), promised, otherwise="wrong-markers")


def _ended(version: int, commits: bool) -> tuple[Step, ...]:
    said: dict[str, Json] = {"producer_id": 7, "producer_epoch": 0, "committed": commits}
    state = "CompleteCommit" if commits else "CompleteAbort"
    return (
        step("end", "EndTxn", version, request=said),
        step("again while ending", "EndTxn", version, error=51),
        step("opposite while ending", "EndTxn", version, error=51),
        step("ended", "DescribeTransactions", 0, state=state),
        step("again", "EndTxn", version),
        step("opposite", "EndTxn", version, error=48),
        step("ahead", "EndTxn", version, error=90 if version >= 2 else 47),
        step("kept", "DescribeTransactions", 0, state=state, producer_epoch=0),
    )


GOOD = evidence(
    *_ended(1, True),
    *_ended(4, False),
    logs={"P1": log(data(7, 0, "a"), commit(7, 0), data(7, 0, "b"), abort(7, 0))},
    faults=(held_link("commit v1"), held_link("abort v4")),
    samples=(sample("commit v1", "P1", 1, 0), sample("abort v4", "P1", 3, 2)),
)
_TWICE = log(data(7, 0, "a"), commit(7, 0), commit(7, 0), data(7, 0, "b"), abort(7, 0))

REQUIREMENT = Requirement(
    id="KIP890-RETRY-07",
    level=Level.MUST,
    source=Source(890, "Background/Motivation"),
    statement="With EndTxn up to v4 a repeated end of the same kind is idempotent in the same epoch.",
    needs=(Offers("EndTxn", 3),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("end-refused", GOOD.with_step("end", error=90)),
        Refusal("answered-before-complete", GOOD.with_step("again while ending", error=0)),
        Refusal("answered-before-complete", GOOD.with_step("opposite while ending", error=0)),
        Refusal("repetition-refused", GOOD.with_step("again", error=48)),
        Refusal("opposite-end-accepted", GOOD.with_step("opposite", error=0)),
        Refusal("wrong-error", GOOD.with_step("opposite", error=51)),
        Refusal("unanswered", GOOD.with_step("opposite", error=None)),
        Refusal("later-epoch-accepted", GOOD.with_step("ahead", error=0)),
        Refusal("wrong-state", GOOD.with_step("ended", state="PrepareCommit")),
        Refusal("decision-changed", GOOD.with_step("kept", producer_epoch=1)),
        Refusal("wrong-markers", GOOD.with_log("P1", _TWICE)),
    ),
    refuted_by=(
        Failpoint(rules=OLD_END_NOT_REPEATABLE, anomaly="repetition-refused"),
        Failpoint(rules=OPPOSITE_END_TAKEN_FOR_REPETITION, anomaly="opposite-end-accepted"),
    ),
    order=Order.HOLDS_LINKS,
)
