"""KIP447-CLI-01: a member begins where transactions leave its partition, also when the group rebalances meanwhile.

KIP-447, "Offset Fetch Request Back-off": while a transaction that commits offsets of a partition is open, a group's
coordinator answers UNSTABLE_OFFSET_COMMIT to who asks for stable offsets, and a read_committed consumer asks for these
and waits. Here the group has committed 2, a transaction that brings it to 4 is open, and other members come, so that
the first is given its partition again while it still waits. Where it begins before the transaction is over does its
application's work a second time.

Who begins at 2 asks for no stable offsets, as clients do that know nothing of KIP-447; who begins at 0 has forgotten
what the group has committed, which no client may.
"""

from dataclasses import replace

from harness.contract import (
    Evidence,
    KafkaError,
    LyingClient,
    Observation,
    Observations,
    OtherClient,
    Refusal,
    Requirement,
    Source,
)
from harness.contract.clients.client_doctored import call, frame, of_client, with_call
from harness.contract.clients.client_expect import all_said, sent, told
from harness.contract.clients.log_plan import PLAIN, as_planned, log_of, wrote
from harness.contract.doctored import step
from harness.contract.expect import finding, habit, witness
from harness.evidence.client_evidence import ClientCall, ReadRecord
from harness.evidence.requirement_evidence import NotSeen
from harness.lab.clients import ClientLab
from harness.lab.clients.application import Application
from harness.lab.clients.planned_log import PlannedLog
from suites.clients.forms.error_requirement import TRANSACTIONS

UNSTABLE = KafkaError.UNSTABLE_OFFSET_COMMIT
VALUES = ("p0", "p1", "p2", "p3", "p4", "p5")
PLAN = (wrote(PLAIN, *VALUES),)
TRUTH = log_of(PLAN)
COMMITTED, PENDING = 2, 4
"""What the group has committed, and what the open transaction brings."""
POLLS, POLL_MS, BRIEF_MS = 8, 500, 50
"""Of the reader before and after another member comes; and of the others, which only have to come along."""
MEMBERS = 3
"""That come one after the other. What a client does wrong may need a rebalance within a wait between two tries."""


def stimulus(lab: ClientLab) -> None:
    group, partition, beside = lab.group(), lab.partition("P1"), lab.partition("P2")
    PlannedLog(lab.lab, partition).write(PLAN)
    owner, observer = lab.lab.producer(), lab.lab.observer
    owner.add_offsets(group)
    owner.commit_offset(group, partition, COMMITTED)
    owner.end(commit=True)
    observer.committed_offset(group, partition, require_stable=True, as_="committed", retry=(UNSTABLE,))
    owner.add_offsets(group)
    owner.commit_offset(group, partition, PENDING)
    observer.committed_offset(group, partition, require_stable=True, as_="pending", retry=())
    reader = lab.application("reader", transactional=False, group=group)
    reader.subscribe(partition)
    for _ in range(POLLS):
        reader.poll(within_ms=POLL_MS, as_="alone")
    others = list[Application]()
    for number in range(1, MEMBERS + 1):
        others.append(lab.application(f"other {number}", transactional=False, group=group))
        others[-1].subscribe(beside)
        for _ in range(POLLS):
            for other in others:
                other.poll(within_ms=BRIEF_MS, as_=other.name)
            reader.poll(within_ms=POLL_MS, as_="in company")
    owner.end(commit=True)
    reader.poll_all(len(VALUES) - PENDING, as_="ended")
    reader.poll(within_ms=POLL_MS, as_="ended")


def check(seen: Evidence) -> Observations:
    as_planned(seen, TRUTH)
    if seen["committed"].answer_int("offset") != COMMITTED or seen["pending"].error != UNSTABLE:
        raise NotSeen("the broker does not tell that the group's offset is pending")
    others_came = min((each.started for each in all_said(seen, "in company")), default=float("inf"))
    if not sent(seen, "JoinGroup", by="reader", after=others_came):  # to join a group takes two of them (KIP-394)
        raise NotSeen("the reader has not joined again since others came, so that no rebalance was seen")
    yield _began(seen)
    yield _went_on(seen)


def _began(seen: Evidence) -> Observation:
    """What was delivered of what the group has behind it, the open transaction's part included."""
    early = [each for each in _delivered(seen) if each.offset < PENDING]
    where = f"the reader was given {', '.join(f'{each.value} at {each.offset}' for each in early)}"
    if any(each.offset < COMMITTED for each in early):
        return finding("begins-anew", f"{where}; the group had committed {COMMITTED}, and {PENDING} was pending")
    if early:
        return habit(finding("pending-passed-over", f"{where}, though a transaction to {PENDING} was open"))
    return witness("the reader waited for the transaction, and across a rebalance")


def _went_on(seen: Evidence) -> Observation:
    given = {each.value for each in _delivered(seen)}
    failed = next((f"; {told(each)}" for each in _polls(seen) if each.outcome == "refused"), "")
    if missing := [value for value in VALUES[PENDING:] if value not in given]:
        return finding("not-read", f"{', '.join(missing)} not delivered once the transaction was over{failed}")
    return witness("what lies behind the transaction's offset was delivered")


def _polls(seen: Evidence) -> list[ClientCall]:
    return [each for name in ("alone", "in company", "ended") for each in all_said(seen, name)]


def _delivered(seen: Evidence) -> list[ReadRecord]:
    return [record for each in _polls(seen) for record in each.records if record.topic == "P1"]


def _records(since: int) -> list[ReadRecord]:
    return [ReadRecord(topic="P1", partition=1, offset=at, value=VALUES[at]) for at in range(since, len(VALUES))]


def _story() -> Evidence:
    join, unstable = frame("JoinGroup", 7), frame("OffsetFetch", 7, error=UNSTABLE)
    told_ = of_client(
        call("poll", name="alone", by="reader", frames=(join, unstable)),
        call("poll", name="other 1", by="other 1", frames=(join,)),
        call("poll", name="in company", by="reader", frames=(join, unstable)),
        call("poll", name="ended", by="reader", frames=(frame("OffsetFetch", 7),), reads=_records(PENDING)),
        logs={"P1": TRUTH},
    )
    committed = step("committed", "OffsetFetch", 7, offset=COMMITTED)
    return replace(told_, steps=(committed, step("pending", "OffsetFetch", 7, error=UNSTABLE, offset=-1)))


GOOD = _story()

REQUIREMENT = Requirement(
    id="KIP447-CLI-01",
    source=Source(447, "Offset Fetch Request Back-off"),
    statement="A group's consumer begins where an open transaction leaves its partition, also after a rebalance.",
    needs=(TRANSACTIONS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("begins-anew", with_call(GOOD, "in company", records=tuple(_records(0)))),
        Refusal("pending-passed-over", with_call(GOOD, "alone", records=tuple(_records(COMMITTED)))),
        Refusal("not-read", with_call(GOOD, "ended", records=tuple(_records(PENDING + 1)))),
    ),
    refuted_by=(
        OtherClient(client="librdkafka:2.16.1", anomaly="begins-anew"),
        OtherClient(client="kafkajs:2.2.4", anomaly="pending-passed-over"),
        LyingClient(lie="skips-a-record", anomaly="not-read"),
    ),
)
