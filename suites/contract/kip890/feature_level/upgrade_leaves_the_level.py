"""KIP890-FEAT-02: a cluster that is upgraded stays at level 0 of transaction.version until it is raised.

Data of 3.9 is taken over with the judged release, node by node: nobody turns the new protocol on by an upgrade alone,
which is why the KIP gives it a feature; raised by hand it is then in use. Level 0 is shown by the feature's absence.
KIP890-FEAT-02-NEW and -FORMATTED ask the same of a new cluster.
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
from harness.contract.byteman.feature_rules import SHOWS_LEVEL_2_UNASKED
from harness.contract.checks.feature_checks import FEATURE, at_level
from harness.contract.doctored import commit, data, ended, evidence, log, step, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.contract.requirement import Feature
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab
from suites.contract.wishes import UPGRADED_FROM_39

NEEDS = (Offers("UpdateFeatures", 1), Offers("EndTxn", 5), Offers("Produce", 12), Feature(FEATURE, 2))


def upgrade(lab: Lab) -> None:
    """The controller, then each broker runs the newer release; then the level is raised and used."""
    for node in sorted(UPGRADED_FROM_39.releases, reverse=True):
        lab.releases.run(node)
    lab.levels.shown(FEATURE, 0, as_="begun")
    lab.levels.ask(FEATURE, 2, as_="raise")
    lab.levels.shown(FEATURE, 2, as_="raised")
    use(lab)


def use(lab: Lab) -> None:
    """A transaction of the new protocol."""
    txn, partition = lab.producer(protocol=2), lab.partition("P1")
    txn.produce(partition, as_="write")
    txn.end(commit=True, as_="end")


def check_upgrade(seen: Evidence) -> Observations:
    """Not finalized by the upgrade; raised, it is shown, and the new protocol bumps the epoch."""
    yield from at_level(seen, "begun", 0, otherwise="raised-by-the-upgrade")
    yield expect.accepted(seen["raise"], otherwise="level-not-raised")
    yield from at_level(seen, "raised", 2, otherwise="level-not-raised")
    write, end = seen["write"], seen["end"]
    for asked in (write, end):
        yield expect.accepted(asked, otherwise="new-protocol-refused")
    epoch = end.request_int("producer_epoch") + 1
    yield expect.shows(end, producer_epoch=epoch, otherwise="new-protocol-refused")
    yield from expect.sound(seen, "P1", write.written(), markers=(("COMMIT", epoch),))


def shown(name: str, level: int) -> tuple[Step, ...]:
    """As two brokers answer."""
    answer = {FEATURE: level} if level else {}
    return tuple(step(name, "ApiVersions", 4, node=node, finalized_features={**answer}) for node in (1, 2))


UPGRADED = evidence(
    *shown("begun", 0),
    step("raise", "UpdateFeatures", 2),
    *shown("raised", 2),
    written("write", 12, "a"),
    ended(),
    logs={"P1": log(data(7, 0, "a"), commit(7, 1))},
)


REQUIREMENT = Requirement(
    id="KIP890-FEAT-02",
    source=Source(890, "Transaction Feature Version (0)"),
    statement="A cluster that is upgraded from 3.9 stays at level 0 until it is raised.",
    needs=NEEDS,
    order=Order.HURTS_CLUSTER,
    access=(Access.CHANGES, Access.NODES),
    cluster=UPGRADED_FROM_39,
    stimulus=upgrade,
    check=check_upgrade,
    accepts=(UPGRADED,),
    refuses=(
        Refusal("raised-by-the-upgrade", UPGRADED.with_step("begun", finalized_features={FEATURE: 2})),
        Refusal("level-not-raised", UPGRADED.with_step("raise", error=KafkaError.INVALID_UPDATE_VERSION)),
        Refusal("level-not-raised", UPGRADED.with_step("raised", finalized_features={FEATURE: 1})),
        Refusal("new-protocol-refused", UPGRADED.with_step("write", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("new-protocol-refused", UPGRADED.with_step("end", error=KafkaError.UNSUPPORTED_VERSION)),
        Refusal("new-protocol-refused", UPGRADED.with_step("end", producer_epoch=0)),
        *unsound(UPGRADED),
        Refusal("wrong-markers", UPGRADED.with_log(truth=log(data(7, 0, "a"), commit(7, 0)))),
    ),
    refuted_by=(
        Failpoint(rules=SHOWS_LEVEL_2_UNASKED, anomaly="raised-by-the-upgrade"),
        Liar(api="UpdateFeatures", instead_of=0, error=KafkaError.INVALID_UPDATE_VERSION, anomaly="level-not-raised"),
    ),
)
