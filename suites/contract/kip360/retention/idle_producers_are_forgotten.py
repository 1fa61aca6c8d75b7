"""KIP360-RET-03: a producer that wrote nothing for too long is forgotten, and not before; never in a transaction.

The KIP's bound is the expiration of transactional ids, 7 days; since KIP-854 it is ``producer.id.expiration.ms``, one
day. So the idle one is 8 days old by its record's timestamp, which is over both, and the other 23 hours. A third is 8
days old too and has a transaction open, with which its end would be lost.
"""

from harness.contract import Evidence, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract.byteman.leader_rules import OPEN_TRANSACTIONS_FORGOTTEN
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint, Setting
from harness.lab import Lab
from suites.contract.kip360.retention.forgotten_producers import EXPIRATION, WEEK_AND_A_DAY, await_a_check
from suites.contract.wishes import CHECKED_OFTEN

HOURS_23 = 23 * 60.0


def stimulus(lab: Lab) -> None:
    """The recent one, the open one and then the idle one write; the leader's list when the idle one is gone."""
    partition, recent, open_one = lab.partition("P1"), lab.idempotent(), lab.producer()
    recent.produce(partition, timestamp_ms=lab.minutes_ago(HOURS_23), as_="recent")
    open_one.add(partition)
    open_one.produce(partition, timestamp_ms=lab.minutes_ago(WEEK_AND_A_DAY), as_="open")
    await_a_check(lab, partition)
    lab.observer.producers(partition, as_="kept")
    lab.sample("open", partition)
    open_one.end(commit=True, as_="end")


def check(seen: Evidence) -> Observations:
    """The idle one is gone; the others are known, and the transaction can be ended."""
    gone = seen.fact("idle gone") is True
    yield expect.unless(gone, "8 days idle is forgotten", seen["kept"], otherwise="idle-kept")
    own, holder = (seen[name].request_int("producer_id") for name in ("recent", "open"))
    start = seen["open"].answer_int("base_offset")
    yield expect.producer(seen["kept"], own, last_sequence=0, otherwise="forgotten-too-early")
    yield expect.open_since(seen["kept"], holder, start, otherwise="open-transaction-forgotten")
    yield expect.unstable(seen.sample("open"), otherwise="open-transaction-forgotten")
    yield expect.accepted(seen["end"], otherwise="end-refused")
    yield from expect.sound(seen)


GOOD = adopted(__file__, "KIP360-RET-03")
_IDS = [seen.request_int("producer_id") for seen in (GOOD["recent"], GOOD["open"])]
_ROWS = [dict(expect.row(GOOD["kept"], "producers", producer_id=each)) for each in _IDS]

REQUIREMENT = Requirement(
    id="KIP360-RET-03",
    source=Source(360, "Prolonged producer state retention"),
    statement="A producer is forgotten when it wrote nothing for too long, not before, and never in a transaction.",
    needs=(Offers("DeleteRecords", 1),),
    cluster=CHECKED_OFTEN,
    order=Order.ALONE,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("idle-kept", GOOD.with_fact("idle gone", False)),
        Refusal("forgotten-too-early", GOOD.with_step("kept", producers=[_ROWS[1]])),
        Refusal("open-transaction-forgotten", GOOD.with_step("kept", producers=[_ROWS[0]])),
        Refusal("open-transaction-forgotten", GOOD.with_sample("open", last_stable_offset=9, high_watermark=9)),
        Refusal("end-refused", GOOD.with_step("end", error=48)),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Setting(key=EXPIRATION, value="2000000000", anomaly="idle-kept"),
        Setting(key=EXPIRATION, value="60000", anomaly="forgotten-too-early"),
        Failpoint(rules=OPEN_TRANSACTIONS_FORGOTTEN, anomaly="open-transaction-forgotten"),
    ),
)
