"""KIP664-LT-07: a list with a duration filter names the transactions open for longer, and no younger ones.

KIP-994 (v1 of the request): below 0 all, "otherwise, only transactions running longer than this duration". All is told
by the coordinator's own clock, which shows in the start times of transactions: an old one begins, when it is old enough
a young one begins, the list is taken, and a third one begins; their start times bracket the moment of the list. The
filter is the time between the first two starts: a machine that stands still before the list makes the young one older
than that, and then younger ones begin while the old one has grown older. What becomes of ids without an open
transaction is not judged: Kafka lists them too, by the start of their last transaction.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.looks_rules import FILTERS_IGNORED, LISTS_REFUSED, NOTHING_LISTED
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import NotSeen
from harness.lab import Lab, Producer

LEAST_MS, LONG_MS = 1_500, 86_400_000
NAMES = ("old", "young", "last")
ANY_AGE = {"all": -1, "running": 0, "too long": LONG_MS}
"""Filters for which it is of no matter how old the young one is by now."""
TRIES = 4


def stimulus(lab: Lab) -> None:
    """Three transactions of one coordinator one after the other; its list between the second and third, then others."""
    partition, old = lab.partition("P1"), lab.producer()
    young, last, clock = (lab.producer("rival", coordinator=old.coordinator) for _ in range(3))
    txns = dict(zip(NAMES, (old, young, last), strict=True))
    old.write(partition)
    wait_until_older(lab, old, clock, LEAST_MS)
    for _ in range(TRIES):
        if listed_between(lab, old, young, last):
            break
        young.end(commit=True)
        last.end(commit=True)
    wait_until_older(lab, young, clock, 0)
    for name, duration in ANY_AGE.items():
        lab.observer.transactions(old.coordinator, version=1, duration_ms=duration, as_=name)
    for name, txn in txns.items():
        lab.note(name, txn.transactional_id)
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_=f"start of the {name} one")
        txn.end(commit=True)
    lab.completed(partition)


def listed_between(lab: Lab, old: Producer, young: Producer, last: Producer) -> bool:
    """Whether the young transaction was surely not as old as the filter when the list was taken."""
    young.write(lab.partitions[0])
    duration = started(lab, young) - started(lab, old) - 1
    lab.observer.transactions(old.coordinator, version=1, duration_ms=duration, as_="long")
    last.write(lab.partitions[0])
    return started(lab, last) - started(lab, young) <= duration


def wait_until_older(lab: Lab, txn: Producer, clock: Producer, duration_ms: int) -> None:
    """Bounded: until empty transactions of ``clock``, one after the other, begin so much later."""
    began = started(lab, txn)

    def later() -> bool:
        clock.add(lab.partitions[0])
        now = started(lab, clock)
        clock.end(commit=False)
        return now - began > duration_ms

    lab.patience.until(later, kinds=("a transaction of some age",), timeout_seconds=5.0)


def started(lab: Lab, txn: Producer) -> int:
    """When its transaction began, by the coordinator's clock."""
    return lab.observer.transaction(txn.transactional_id, txn.coordinator).answer_int("start_time_ms")


def check(seen: Evidence) -> Observations:
    """Those that were surely older than the filter at that moment are listed, those that surely were not are not."""
    lists = {name: seen.all(name)[-1] for name in (*ANY_AGE, "long")}
    for answer in lists.values():
        yield expect.accepted(answer, otherwise="list-refused")
    long = lists["long"].request_int("duration_ms")
    old, young, last = (seen[f"start of the {name} one"].answer_int("start_time_ms") for name in NAMES)
    if last - young > long or young - old <= long:
        raise NotSeen("the old transaction was not old enough, or the young one not young, when the list was taken")
    for name, answer in lists.items():
        duration = answer.request_int("duration_ms")
        listed = [row.get("transactional_id") for row in expect.rows(answer, "transactions")]
        for each, fits in (("old", duration <= long), ("young", duration <= 0)):
            found = seen.fact(each) in listed
            if fits:
                yield expect.unless(found, f"{name}: the {each} one is listed", answer, otherwise="old-one-not-listed")
            else:
                yield expect.unless(not found, f"{name}: the {each} one is not", answer, otherwise="young-one-listed")
    yield from expect.sound(seen, shown="committed-record-lost")


GOOD = adopted(__file__, "KIP664-LT-07")
_OLD, _YOUNG = ({"transactional_id": GOOD.fact(name)} for name in NAMES[:2])

REQUIREMENT = Requirement(
    id="KIP664-LT-07",
    source=Source(994, "ListTransactions v1: DurationFilter"),
    statement="A duration filter leaves the transactions out that have not been open for longer.",
    needs=(Offers("ListTransactions", 1), Offers("DescribeTransactions", 0)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("list-refused", GOOD.with_step("long", error=KafkaError.INVALID_REQUEST)),
        Refusal("old-one-not-listed", GOOD.with_step("long", transactions=[])),
        Refusal("old-one-not-listed", GOOD.with_step("running", transactions=[_OLD])),
        Refusal("young-one-listed", GOOD.with_step("long", transactions=[_OLD, _YOUNG])),
        Refusal("young-one-listed", GOOD.with_step("too long", transactions=[_OLD])),
        *unsound(GOOD, appended=None, shown="committed-record-lost"),
    ),
    refuted_by=(
        Failpoint(rules=FILTERS_IGNORED, anomaly="young-one-listed"),
        Failpoint(rules=NOTHING_LISTED, anomaly="old-one-not-listed"),
        Failpoint(rules=LISTS_REFUSED, anomaly="list-refused"),
    ),
)
