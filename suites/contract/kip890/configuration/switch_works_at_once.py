"""KIP890-CFG-02: the switch of verification is turned while brokers run, of one broker or of all, and works at once.

Unadded writes to the leaders on two brokers: with the switch off on one broker, then on all, and on again after each.
The KIP promises the switch and that with it on such writes are refused; that it can be turned at run time, and for one
broker alone, is Kafka's. What was written with the switch off hangs and is aborted at the end.
"""

from harness.contract import Access, Evidence, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract.byteman.verification_rules import EVERY_PARTITION_VERIFIED, SWITCH_ALWAYS_ON
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import VERIFICATION, Failpoint
from harness.lab import Lab, Partition, Producer

ALIASES = ("P1", "P2")
OFF = {"one off": ("P1",), "one on again": (), "all off": ("P1", "P2"), "all on again": ()}
"""The partitions whose leaders do not verify then."""


def stimulus(lab: Lab) -> None:
    """Both leaders are written to at each position of the switch, by a producer of its own each time."""
    first = lab.partition("P1")
    second = lab.partition("P2", leader=lab.another_broker(first.leader))
    hanging: list[tuple[Producer, Partition]] = []
    for prefix, broker in (("one", first.leader), ("all", None)):
        with lab.admin.setting(VERIFICATION, "false", broker=broker):
            hanging += _write(lab, f"{prefix} off", first, second)
        hanging += _write(lab, f"{prefix} on again", first, second)
    for txn, partition in hanging:
        lab.write_marker(partition, producer_id=txn.producer_id, epoch=txn.epoch, commit=False)


def _write(lab: Lab, name: str, *partitions: Partition) -> list[tuple[Producer, Partition]]:
    """Unadded writes; those that were taken."""
    writes = [(lab.producer(), partition) for partition in partitions]
    taken = [txn.produce(partition, version=9, as_=name, retry=()) for txn, partition in writes]
    return [each for each, step in zip(writes, taken, strict=True) if step.error == 0]


def check(seen: Evidence) -> Observations:
    """Taken where the switch is off, refused where it is on."""
    for name, unverified in OFF.items():
        for alias, write in zip(ALIASES, seen.all(name), strict=True):
            refused = write.error != 0
            if alias in unverified:
                yield expect.habit(expect.unless(not refused, f"{name}: taken", write, otherwise="off-not-at-once"))
            else:
                yield expect.unless(refused, f"{name}: refused", write, otherwise="unadded-produce-accepted")
    for alias in ALIASES:
        yield from expect.sound(seen, alias, committed=())


GOOD = adopted(__file__, "KIP890-CFG-02")
_REFUSED = tuple(name for name, unverified in OFF.items() if len(unverified) < len(ALIASES))

REQUIREMENT = Requirement(
    id="KIP890-CFG-02",
    source=Source(890, "Configurations"),
    statement="The switch of verification can be turned at run time, of one broker or all, and works at once.",
    needs=(Offers("AddPartitionsToTxn", 4),),
    order=Order.CHANGES_SETTINGS,
    access=(Access.CHANGES, Access.BROKERS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(Refusal("unadded-produce-accepted", GOOD.with_step(name, error=0)) for name in _REFUSED),
        *(Refusal("off-not-at-once", GOOD.with_step(name, error=48)) for name in ("one off", "all off")),
        *unsound(GOOD, appended=None),
        *unsound(GOOD, "P2", appended=None),
    ),
    refuted_by=(
        Failpoint(rules=EVERY_PARTITION_VERIFIED, anomaly="unadded-produce-accepted"),
        Failpoint(rules=SWITCH_ALWAYS_ON, anomaly="off-not-at-once"),
    ),
)
