"""KIP890-FEAT-06: a broker that does not support the finalized level cannot join, nor can the level be raised over it.

The KIP lets a client of the new protocol meet a broker without it, and get an abortable error. Kafka makes that state
impossible: the controller compares every registration with the finalized features (KIP-584), and every new level with
the registered brokers. At level 0 the same broker joins, as a rolling upgrade or downgrade needs it; so what keeps it
out at level 2 is the level alone. It is given twice as long there as it took.
"""

from dataclasses import replace

from harness.base.json_value import Json
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
from harness.contract.byteman.feature_rules import BROKERS_JOIN_UNASKED, RAISED_WITHOUT_ASKING_NODES
from harness.contract.checks.feature_checks import FEATURE, at_level, level
from harness.contract.doctored import evidence, step
from harness.contract.refuters import Failpoint
from harness.contract.requirement import Feature
from harness.evidence.requirement_evidence import Fault, NotSeen
from harness.lab import Lab
from suites.contract.wishes import LEVEL_0_AT_39

OLD = "3.9.2"
"""The last release that does not support level 1."""


def stimulus(lab: Lab) -> None:
    """A broker runs the old release at level 0; the level is raised over it; without it; it is started again."""
    *others, broker = lab.cluster.topology.brokers
    began = lab.now()
    lab.note("out at level 0", lab.releases.refused(broker, OLD, name="start at level 0"))
    seconds = (lab.now() - began) / 1000
    lab.levels.ask(FEATURE, 2, as_="raised over it")
    lab.levels.shown(FEATURE, 0, as_="with it")
    lab.releases.run(broker)
    with lab.admin.keeping(FEATURE):
        lab.levels.ask(FEATURE, 2)
        lab.levels.shown(FEATURE, 2, as_="without it")
        refused = lab.releases.refused(broker, OLD, name="start at level 2", timeout_seconds=2 * seconds)
        lab.note("out at level 2", refused)
        lab.releases.listed(*others, as_="listed at level 2")
        lab.releases.run(broker)
    lab.note("broker", broker)


def check(seen: Evidence) -> Observations:
    """In at level 0, in the way of level 2, out at level 2."""
    if seen.fact("out at level 0") is not None:
        raise NotSeen(f"the broker of {OLD} was not let in at level 0 either: {seen.fact('out at level 0')}")
    over = seen["raised over it"]
    yield expect.refused(over, KafkaError.INVALID_UPDATE_VERSION, otherwise="level-raised-over-an-older-broker")
    yield from at_level(seen, "with it", 0, otherwise="level-raised-over-an-older-broker")
    seen.fault("start at level 2")
    if {level(answer) for answer in seen.all("without it")} != {2}:
        raise NotSeen(f"{FEATURE} was not raised to 2")
    out = seen.fact("out at level 2") is not None
    yield expect.unless(out, f"a broker of {OLD} is kept out at level 2", otherwise="older-broker-joined")
    for answer in seen.all("listed at level 2"):
        brokers = answer.fields.get("brokers")
        absent = isinstance(brokers, dict) and str(seen.fact("broker")) not in map(str, brokers)
        yield expect.unless(absent, f"broker {answer.node} lists it not", answer, otherwise="older-broker-joined")


SECOND = Fault(name="start at level 2", kind="release", where="node 3, 3.9.2", started=0.0, ended=1.0)
LISTED: dict[str, Json] = {"1": "b1:9092", "2": "b2:9092"}
FACTS: dict[str, Json] = {"out at level 0": None, "out at level 2": "broker-3 did not become ready", "broker": 3}
GOOD = replace(
    evidence(
        step("raised over it", "UpdateFeatures", 2, error=KafkaError.INVALID_UPDATE_VERSION),
        step("with it", "ApiVersions", 4, finalized_features={}),
        step("without it", "ApiVersions", 4, finalized_features={FEATURE: 2}),
        *(step("listed at level 2", "Metadata", 13, node=node, brokers=LISTED) for node in (1, 2)),
        faults=(SECOND,),
    ),
    facts=FACTS,
)

REQUIREMENT = Requirement(
    id="KIP890-FEAT-06",
    source=Source(890, "Old Servers, New Servers"),
    statement="A broker that does not support the finalized level of transaction.version cannot join.",
    needs=(Offers("UpdateFeatures", 1), Feature(FEATURE, 2)),
    order=Order.LAST,
    access=(Access.CHANGES, Access.NODES),
    cluster=LEVEL_0_AT_39,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("level-raised-over-an-older-broker", GOOD.with_step("raised over it", error=0)),
        Refusal("wrong-error", GOOD.with_step("raised over it", error=KafkaError.INVALID_REQUEST)),
        Refusal("unanswered", GOOD.with_step("raised over it", error=None)),
        Refusal("level-raised-over-an-older-broker", GOOD.with_step("with it", finalized_features={FEATURE: 2})),
        Refusal("older-broker-joined", GOOD.with_fact("out at level 2", None)),
        Refusal("older-broker-joined", GOOD.with_step("listed at level 2", brokers={**LISTED, "3": "b3:9092"})),
    ),
    refuted_by=(
        Failpoint(rules=RAISED_WITHOUT_ASKING_NODES, anomaly="level-raised-over-an-older-broker"),
        Failpoint(rules=BROKERS_JOIN_UNASKED, anomaly="older-broker-joined"),
    ),
)
