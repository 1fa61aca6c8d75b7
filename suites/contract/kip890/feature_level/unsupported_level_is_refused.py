"""KIP890-FEAT-04: a level of transaction.version that is not supported is refused, and nothing changes.

The level above the highest that the brokers advertise and a negative one are asked for, and a lower one without the
permission to go down (KIP-778). KIP-584 promises the refusal and its code. Version 2 of the answer has the error at its
top, older ones beside the feature. That nothing changed is looked at after a topic was created: metadata has one order,
so brokers that know the topic know of every change before it.
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.feature_rules import EVERY_WAY_TAKEN_FOR_DOWN, LEVEL_3_TAKEN
from harness.contract.checks.feature_checks import FEATURE, at_level, level
from harness.contract.doctored import evidence, step
from harness.contract.refuters import Failpoint
from harness.contract.requirement import Feature
from harness.evidence.requirement_evidence import NotSeen, Step
from harness.lab import Lab

CASES = ("too high", "negative", "down without permission")


def stimulus(lab: Lab) -> None:
    """Ask for each of them in every version, then for a topic, then what every broker shows."""
    with lab.admin.keeping(FEATURE) as before:
        highest = lab.levels.highest(FEATURE)
        lab.levels.shown(FEATURE, before, as_="before")
        for version in lab.offered("UpdateFeatures", (1, 2)):
            for case, asked in zip(CASES, (highest + 1, -1, before - 1), strict=True):
                lab.levels.ask(FEATURE, asked, as_=case, version=version)
        lab.partition("P1")
        lab.levels.shown(FEATURE, before, as_="after")


def check(seen: Evidence) -> Observations:
    """Refused as an invalid version each time, and every broker shows the level of before."""
    before = {level(answer) for answer in seen.all("before")}
    if len(before) != 1 or before == {0}:
        raise NotSeen(f"{FEATURE} was at {sorted(before)}, which cannot be lowered")
    for case in CASES:
        for asked in seen.all(case):
            yield expect.refused(asked, KafkaError.INVALID_UPDATE_VERSION, otherwise="unsupported-level-accepted")
    yield from at_level(seen, "after", *before, otherwise="level-changed")


def _shown(name: str) -> tuple[Step, ...]:
    return tuple(step(name, "ApiVersions", 4, node=node, finalized_features={FEATURE: 2}) for node in (1, 2))


GOOD = evidence(
    *_shown("before"),
    *(
        step(case, "UpdateFeatures", version, error=KafkaError.INVALID_UPDATE_VERSION)
        for version in (1, 2)
        for case in CASES
    ),
    *_shown("after"),
)

REQUIREMENT = Requirement(
    id="KIP890-FEAT-04",
    source=Source(890, "Transaction Feature Version (0)"),
    statement="A level of transaction.version outside the supported range is refused, and nothing changes.",
    needs=(Offers("UpdateFeatures", 1), Feature(FEATURE, 2)),
    order=Order.CHANGES_SETTINGS,
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(Refusal("unsupported-level-accepted", GOOD.with_step(case, error=0)) for case in CASES),
        Refusal("wrong-error", GOOD.with_step("too high", error=KafkaError.INVALID_REQUEST)),
        Refusal("unanswered", GOOD.with_step("too high", error=None)),
        Refusal("level-changed", GOOD.with_step("after", finalized_features={FEATURE: 1})),
    ),
    refuted_by=(
        Failpoint(rules=LEVEL_3_TAKEN, anomaly="unsupported-level-accepted"),
        Failpoint(rules=EVERY_WAY_TAKEN_FOR_DOWN, anomaly="level-changed"),
    ),
)
