"""KIP890-FEAT-01: a broker that speaks the new protocol advertises transaction.version up to level 2 at least.

Without it no cluster could be told to use the protocol, and no client would. That the lowest level is 0 is Kafka's
habit, and levels above 2 are its future. Each broker is asked by itself; the controller is not, because the topology
has no lane to it. ApiVersions v4 is asked: version 3 leaves out features whose lowest level is 0.
"""

from harness.base.json_value import Json
from harness.contract import Evidence, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.transaction_metadata_rules import LEVEL_1_ADVERTISED, NO_FEATURES_ADVERTISED
from harness.contract.doctored import evidence, step
from harness.contract.refuters import Failpoint
from harness.lab import Lab

RANGE: list[Json] = [0, 2]
"""Kafka's lowest level, and the level of the new protocol."""


def stimulus(lab: Lab) -> None:
    """Ask every broker what it supports."""
    for broker in lab.cluster.topology.brokers:
        lab.observer.advertised(broker, as_="advertised")


def check(seen: Evidence) -> Observations:
    """Each answers, and supports level 2."""
    for answer in seen.all("advertised"):
        yield expect.accepted(answer, otherwise="unanswered")
        supported = answer.fields.get("supported_features")
        levels = supported.get("transaction.version") if isinstance(supported, dict) else None
        what = f"broker {answer.node} advertises transaction.version"
        yield expect.unless(isinstance(levels, list), what, answer, otherwise="not-advertised")
        if isinstance(levels, list):
            lowest, highest = (int(str(level)) for level in levels)
            what = f"transaction.version on broker {answer.node}, {lowest} to {highest}, goes up to 2"
            yield expect.unless(highest >= 2, what, answer, otherwise="wrong-range")
            yield expect.habit(expect.agree("lowest level", lowest, 0, answer, otherwise="wrong-range"))


GOOD = evidence(
    *(
        step("advertised", "ApiVersions", 4, node=node, supported_features={"transaction.version": RANGE})
        for node in (1, 2)
    )
)

REQUIREMENT = Requirement(
    id="KIP890-FEAT-01",
    source=Source(890, "Transaction Feature Version (0)"),
    statement="Every broker of the new protocol advertises the feature transaction.version with level 2.",
    needs=(Offers("EndTxn", 5),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, GOOD.with_step("advertised", supported_features={"transaction.version": [0, 3]})),
    refuses=(
        Refusal("unanswered", GOOD.with_step("advertised", error=None)),
        Refusal("not-advertised", GOOD.with_step("advertised", supported_features={"metadata.version": [1, 25]})),
        Refusal("wrong-range", GOOD.with_step("advertised", supported_features={"transaction.version": [0, 1]})),
        Refusal("wrong-range", GOOD.with_step("advertised", supported_features={"transaction.version": [1, 2]})),
    ),
    refuted_by=(
        Failpoint(rules=NO_FEATURES_ADVERTISED, anomaly="not-advertised"),
        Failpoint(rules=LEVEL_1_ADVERTISED, anomaly="wrong-range"),
    ),
)
