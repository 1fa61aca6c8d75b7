"""KIP664-LT-02: a list with state filters names the ids in those states alone; an unknown state's name matches none.

"The request includes a filter of the states that the user is interested in" (KIP-664). With the filter taken for none,
a tool that looks for open transactions shows every id. That the answer repeats the names that the broker does not know
(``UnknownStateFilters``), and that names are compared with their case, are Kafka's.
"""

from harness.base.json_value import Json
from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.looks_rules import (
    FILTERS_IGNORED,
    LISTS_REFUSED,
    NOTHING_LISTED,
    UNKNOWN_STATES_TAKEN_FOR_DEAD,
)
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab

NOBODY = "FencepostKnowsNoSuchState"
FILTERS = {
    "all": (),
    "open": ("Ongoing",),
    "open or unknown": ("Ongoing", NOBODY),
    "unknown": (NOBODY,),
    "other case": ("ongoing",),
    "two": ("Ongoing", "Empty"),
}
FITTING = {"all": ("Ongoing", "Empty"), "two": ("Ongoing", "Empty"), "unknown": (), "other case": ()}
"""States of this requirement's ids that a filter lets through; one that is not here lets ``Ongoing`` through."""


def stimulus(lab: Lab) -> None:
    """An idle id and one with an open transaction, of one coordinator; its list with each filter."""
    partition, going = lab.partition("P1"), lab.producer()
    idle = lab.producer("rival", coordinator=going.coordinator)
    going.write(partition)
    lab.note("Ongoing", going.transactional_id)
    lab.note("Empty", idle.transactional_id)
    for name, states in FILTERS.items():
        lab.observer.transactions(going.coordinator, states=states, as_=name)
    going.end(commit=True)
    lab.completed(partition)


def check(seen: Evidence) -> Observations:
    """With each filter the ids of those states and no other; unknown names are told."""
    for name, states in FILTERS.items():
        answer, fitting = seen[name], FITTING.get(name, ("Ongoing",))
        listed = [row.get("transactional_id") for row in expect.rows(answer, "transactions")]
        strange: list[Json] = [state for state in states if state not in ("Ongoing", "Empty")]
        yield expect.accepted(answer, otherwise="list-refused")
        for state in ("Ongoing", "Empty"):
            found = seen.fact(state) in listed
            if state in fitting:
                yield expect.unless(found, f"{name}: {state} is listed", answer, otherwise="id-not-listed")
            else:
                kept = expect.unless(not found, f"{name}: {state} is left out", answer, otherwise="filter-ignored")
                yield expect.habit(kept) if name == "other case" else kept
        yield expect.habit(expect.shows(answer, unknown_states=strange, otherwise="unknown-state-not-told"))
    yield from expect.sound(seen, shown="committed-record-lost")


GOOD = adopted(__file__, "KIP664-LT-02")
_OPEN, _IDLE = ({"transactional_id": GOOD.fact(state)} for state in ("Ongoing", "Empty"))

REQUIREMENT = Requirement(
    id="KIP664-LT-02",
    source=Source(664, "ListTransactions: request schema"),
    statement="State filters leave the ids in other states out of the list.",
    needs=(Offers("ListTransactions", 0),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("list-refused", GOOD.with_step("two", error=KafkaError.INVALID_REQUEST)),
        Refusal("id-not-listed", GOOD.with_step("open", transactions=[])),
        Refusal("id-not-listed", GOOD.with_step("two", transactions=[_OPEN])),
        Refusal("filter-ignored", GOOD.with_step("open", transactions=[_OPEN, _IDLE])),
        Refusal("filter-ignored", GOOD.with_step("unknown", transactions=[_IDLE])),
        Refusal("filter-ignored", GOOD.with_step("other case", transactions=[_OPEN])),
        Refusal("unknown-state-not-told", GOOD.with_step("open or unknown", unknown_states=[])),
        *unsound(GOOD, appended=None, shown="committed-record-lost"),
    ),
    refuted_by=(
        Failpoint(rules=FILTERS_IGNORED, anomaly="filter-ignored"),
        Failpoint(rules=NOTHING_LISTED, anomaly="id-not-listed"),
        Failpoint(rules=UNKNOWN_STATES_TAKEN_FOR_DEAD, anomaly="unknown-state-not-told"),
        Failpoint(rules=LISTS_REFUSED, anomaly="list-refused"),
    ),
)
