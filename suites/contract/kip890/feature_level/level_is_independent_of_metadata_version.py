"""KIP890-FEAT-05: transaction.version is raised by itself, and stays what it is when metadata.version moves.

The KIP rejects metadata.version as the gate of the new protocol, so that neither blocks the other. On a cluster that is
formatted with the metadata version of 3.9, as one that came from there, the new protocol is turned on and used; then
metadata.version goes one level up and back. (``kafka-features.sh upgrade --release-version`` moves both: a tool's way.)
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
from harness.contract.byteman.feature_rules import (
    LEVEL_NEEDS_METADATA,
    METADATA_CHANGE_RESETS_THE_LEVEL,
    METADATA_SHOWN_MOVED_ALONG,
)
from harness.contract.checks.feature_checks import FEATURE, METADATA, at_level, level
from harness.contract.doctored import commit, data, ended, evidence, log, step, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.contract.requirement import Feature
from harness.evidence.requirement_evidence import NotSeen, Step
from harness.lab import Lab
from suites.contract.wishes import LEVEL_0_AT_39


def stimulus(lab: Lab) -> None:
    """The level to 2 and a transaction of the new protocol; then metadata.version up and down again."""
    with lab.admin.keeping(FEATURE):
        lab.levels.ask(FEATURE, 2, as_="raise")
        lab.levels.shown(FEATURE, 2, as_="raised")
        txn, partition = lab.producer(protocol=2), lab.partition("P1")
        txn.produce(partition, as_="write")
        txn.end(commit=True, as_="end")
        with lab.admin.keeping(METADATA) as before:
            lab.levels.ask(METADATA, before + 1, as_="metadata up")
            lab.levels.shown(METADATA, before + 1, as_="after metadata")
        lab.note("metadata", before)


def check(seen: Evidence) -> Observations:
    """Raised while metadata.version is the old one, and in use; still there when metadata.version has moved."""
    metadata = int(str(seen.fact("metadata")))
    yield expect.accepted(seen["raise"], otherwise="level-tied-to-metadata")
    yield from at_level(seen, "raised", 2, otherwise="level-tied-to-metadata")
    yield from at_level(seen, "raised", metadata, feature=METADATA, otherwise="metadata-moved-along")
    write, end = seen["write"], seen["end"]
    yield expect.accepted(write, otherwise="new-protocol-refused")
    yield expect.accepted(end, otherwise="new-protocol-refused")
    epoch = end.request_int("producer_epoch") + 1
    yield expect.shows(end, producer_epoch=epoch, otherwise="new-protocol-refused")
    yield from expect.sound(seen, "P1", write.written(), markers=(("COMMIT", epoch),))
    if seen["metadata up"].error or {level(one, METADATA) for one in seen.all("after metadata")} != {metadata + 1}:
        raise NotSeen("metadata.version did not move")
    yield from at_level(seen, "after metadata", 2, otherwise="level-moved-along")


def _shown(name: str, metadata: int) -> tuple[Step, ...]:
    return tuple(
        step(name, "ApiVersions", 4, node=node, finalized_features={FEATURE: 2, METADATA: metadata}) for node in (1, 2)
    )


GOOD = evidence(
    step("raise", "UpdateFeatures", 2),
    *_shown("raised", 21),
    written("write", 12, "a"),
    ended(),
    step("metadata up", "UpdateFeatures", 2),
    *_shown("after metadata", 22),
    logs={"P1": log(data(7, 0, "a"), commit(7, 1))},
    metadata=21,
)

REQUIREMENT = Requirement(
    id="KIP890-FEAT-05",
    source=Source(890, "Rejected Alternatives: use Metadata Version to gate features"),
    statement="The level of transaction.version is independent of metadata.version.",
    needs=(Offers("UpdateFeatures", 1), Offers("EndTxn", 5), Offers("Produce", 12), Feature(FEATURE, 2)),
    order=Order.CHANGES_SETTINGS,
    access=(Access.CHANGES,),
    cluster=LEVEL_0_AT_39,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("level-tied-to-metadata", GOOD.with_step("raise", error=KafkaError.INVALID_UPDATE_VERSION)),
        Refusal("level-tied-to-metadata", GOOD.with_step("raised", finalized_features={METADATA: 21})),
        Refusal("metadata-moved-along", GOOD.with_step("raised", finalized_features={FEATURE: 2, METADATA: 22})),
        Refusal("new-protocol-refused", GOOD.with_step("write", error=KafkaError.TRANSACTION_ABORTABLE)),
        Refusal("new-protocol-refused", GOOD.with_step("end", error=KafkaError.UNSUPPORTED_VERSION)),
        Refusal("new-protocol-refused", GOOD.with_step("end", producer_epoch=0)),
        *unsound(GOOD),
        Refusal("wrong-markers", GOOD.with_log(truth=log(data(7, 0, "a"), commit(7, 0)))),
        Refusal("level-moved-along", GOOD.with_step("after metadata", finalized_features={METADATA: 22})),
    ),
    refuted_by=(
        Failpoint(rules=LEVEL_NEEDS_METADATA, anomaly="level-tied-to-metadata"),
        Failpoint(rules=METADATA_CHANGE_RESETS_THE_LEVEL, anomaly="level-moved-along"),
        Failpoint(rules=METADATA_SHOWN_MOVED_ALONG, anomaly="metadata-moved-along"),
        Liar(api="Produce", instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="new-protocol-refused"),
    ),
)
