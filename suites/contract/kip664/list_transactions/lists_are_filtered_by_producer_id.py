"""KIP664-LT-03: a list with producer id filters names the ids of those producers alone, together with a state filter.

This is how the id behind a hanging transaction is found: "useful when trying to reverse lookup the TransactionalId"
(KIP-664). A producer id that the coordinator does not know must give nothing, because "if no coordinator could be
found, then the transaction is considered hanging". All of it is the KIP's.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.looks_rules import FILTERS_IGNORED, LISTS_REFUSED, NOTHING_LISTED
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab

UNKNOWN_ID = (1 << 62) + 1
NAMES = ("idle", "going", "third")
FITTING = {
    "all": NAMES,
    "one": ("going",),
    "two": ("idle", "going"),
    "two, open": ("going",),
    "two, prepared": (),
    "unknown": (),
    "unknown and one": ("idle",),
}


def stimulus(lab: Lab) -> None:
    """Three ids of one coordinator, one with an open transaction; its list with each filter."""
    partition, going = lab.partition("P1"), lab.producer()
    idle, third = (lab.producer("rival", coordinator=going.coordinator) for _ in range(2))
    going.write(partition)
    for name, txn in zip(NAMES, (idle, going, third), strict=True):
        lab.note(name, txn.transactional_id)
    two = (idle.producer_id, going.producer_id)
    lists: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {
        "all": ((), ()),
        "one": ((going.producer_id,), ()),
        "two": (two, ()),
        "two, open": (two, ("Ongoing",)),
        "two, prepared": (two, ("PrepareCommit",)),
        "unknown": ((UNKNOWN_ID,), ()),
        "unknown and one": ((UNKNOWN_ID, idle.producer_id), ()),
    }
    for name, (ids, states) in lists.items():
        lab.observer.transactions(going.coordinator, producer_ids=ids, states=states, as_=name)
    going.end(commit=True)
    lab.completed(partition)


def check(seen: Evidence) -> Observations:
    """With each filter those of the three that fit it, and no other."""
    for name, fitting in FITTING.items():
        answer = seen[name]
        listed = [row.get("transactional_id") for row in expect.rows(answer, "transactions")]
        yield expect.accepted(answer, otherwise="list-refused")
        for each in NAMES:
            found = seen.fact(each) in listed
            if each in fitting:
                yield expect.unless(found, f"{name}: {each} is listed", answer, otherwise="id-not-listed")
            else:
                yield expect.unless(not found, f"{name}: {each} is left out", answer, otherwise="filter-ignored")
        if name.startswith("unknown"):
            yield expect.agree(f"{name}: ids", len(listed), len(fitting), answer, otherwise="filter-ignored")
    yield from expect.sound(seen, shown="committed-record-lost")


GOOD = adopted(__file__, "KIP664-LT-03")
_IDLE, _OPEN, _THIRD = ({"transactional_id": GOOD.fact(name)} for name in NAMES)

REQUIREMENT = Requirement(
    id="KIP664-LT-03",
    source=Source(664, "ListTransactions: filter for the ProducerId"),
    statement="Producer id filters leave the ids of other producers out, and are combined with state filters by AND.",
    needs=(Offers("ListTransactions", 0),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("list-refused", GOOD.with_step("unknown", error=KafkaError.INVALID_REQUEST)),
        Refusal("id-not-listed", GOOD.with_step("two", transactions=[_OPEN])),
        Refusal("filter-ignored", GOOD.with_step("two", transactions=[_OPEN, _IDLE, _THIRD])),
        Refusal("filter-ignored", GOOD.with_step("two, open", transactions=[_OPEN, _IDLE])),
        Refusal("filter-ignored", GOOD.with_step("unknown", transactions=[{"transactional_id": "another"}])),
        *unsound(GOOD, appended=None, shown="committed-record-lost"),
    ),
    refuted_by=(
        Failpoint(rules=FILTERS_IGNORED, anomaly="filter-ignored"),
        Failpoint(rules=NOTHING_LISTED, anomaly="id-not-listed"),
        Failpoint(rules=LISTS_REFUSED, anomaly="list-refused"),
    ),
)
