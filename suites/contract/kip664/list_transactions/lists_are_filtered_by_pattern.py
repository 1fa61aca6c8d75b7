"""KIP664-LT-08: a list with a pattern names the transactional ids that match the regular expression.

KIP-1152 (v2 of the request): null and the empty pattern are no filter, an invalid one is refused with
INVALID_REGULAR_EXPRESSION instead of being taken for none. That the whole id must match, and not a part of it, is
Kafka's (``java.util.regex.Matcher.matches``).
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.looks_rules import FILTERS_IGNORED, INVALID_PATTERN_IS_NONE, LISTS_REFUSED, NOTHING_LISTED
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab

INVALID = KafkaError.INVALID_REGULAR_EXPRESSION
FITTING = {
    "no pattern": ("first", "second"),
    "empty pattern": ("first", "second"),
    "anything": ("first", "second"),
    "end of the first": ("first",),
    "first or nothing": ("first",),
    "part of the first": (),
    "nothing": (),
}


def stimulus(lab: Lab) -> None:
    """Two ids of one coordinator, one with an open transaction; its list with each pattern."""
    partition, first = lab.partition("P1"), lab.producer()
    second = lab.producer("rival", coordinator=first.coordinator)
    first.write(partition)
    lab.note("first", first.transactional_id)
    lab.note("second", second.transactional_id)
    end = first.transactional_id[-8:]
    patterns = {
        "no pattern": None,
        "empty pattern": "",
        "anything": ".*",
        "end of the first": f".*{end}",
        "first or nothing": f"(x|.*{end[:-1]}.)",
        "part of the first": end,
        "nothing": "x{77}",
        "invalid": "[",
    }
    for name, pattern in patterns.items():
        lab.observer.transactions(first.coordinator, version=2, pattern=pattern, as_=name)
    first.end(commit=True)
    lab.completed(partition)


def check(seen: Evidence) -> Observations:
    """With each pattern the ids that match it; an invalid one is refused and lists nothing."""
    for name, fitting in FITTING.items():
        answer = seen[name]
        listed = [row.get("transactional_id") for row in expect.rows(answer, "transactions")]
        yield expect.accepted(answer, otherwise="list-refused")
        for each in ("first", "second"):
            found = seen.fact(each) in listed
            if each in fitting:
                yield expect.unless(found, f"{name}: the {each} is listed", answer, otherwise="id-not-listed")
            else:
                kept = expect.unless(not found, f"{name}: the {each} is left out", answer, otherwise="pattern-ignored")
                yield expect.habit(kept) if name.startswith("part") else kept
    invalid = seen["invalid"]
    yield expect.refused(invalid, INVALID, otherwise="invalid-pattern-taken")
    yield expect.shows(invalid, transactions=[], otherwise="invalid-pattern-taken")
    yield from expect.sound(seen, shown="committed-record-lost")


GOOD = adopted(__file__, "KIP664-LT-08")
_FIRST, _SECOND = ({"transactional_id": GOOD.fact(name)} for name in ("first", "second"))

REQUIREMENT = Requirement(
    id="KIP664-LT-08",
    source=Source(1152, "ListTransactions v2: TransactionalIdPattern"),
    statement="A pattern leaves the ids out that do not match it; an invalid pattern is refused.",
    needs=(Offers("ListTransactions", 2),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("list-refused", GOOD.with_step("anything", error=INVALID)),
        Refusal("id-not-listed", GOOD.with_step("empty pattern", transactions=[_FIRST])),
        Refusal("pattern-ignored", GOOD.with_step("end of the first", transactions=[_FIRST, _SECOND])),
        Refusal("pattern-ignored", GOOD.with_step("part of the first", transactions=[_FIRST])),
        Refusal("invalid-pattern-taken", GOOD.with_step("invalid", error=0)),
        Refusal("invalid-pattern-taken", GOOD.with_step("invalid", transactions=[_FIRST])),
        Refusal("wrong-error", GOOD.with_step("invalid", error=KafkaError.INVALID_REQUEST)),
        Refusal("unanswered", GOOD.with_step("invalid", error=None, answered=None)),
        *unsound(GOOD, appended=None, shown="committed-record-lost"),
    ),
    refuted_by=(
        Failpoint(rules=FILTERS_IGNORED, anomaly="pattern-ignored"),
        Failpoint(rules=NOTHING_LISTED, anomaly="id-not-listed"),
        Failpoint(rules=LISTS_REFUSED, anomaly="list-refused"),
        Failpoint(rules=INVALID_PATTERN_IS_NONE, anomaly="invalid-pattern-taken"),
    ),
)
