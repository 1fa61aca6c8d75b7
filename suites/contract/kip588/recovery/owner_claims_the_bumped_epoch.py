"""KIP588-RECOVER-01, -02: after a timeout the producer claims the bumped epoch by InitProducerId with its own epoch.

The KIP's step 3: «The producer recovers by sending InitProducerId with the current epoch. The coordinator returns the
bumped epoch.» It was bumped by the timeout, so it is returned as it is, also when it is asked for again because the
answer was lost; and the producer goes on with it.

Kafka keeps that promise at transaction.version 2, by KIP-890. Below, the coordinator forgets the last epoch when it
fences for a timeout, and the producer is fenced: suites/contract/findings/KIP588-RECOVER-01.md.
"""

from contextlib import nullcontext
from functools import partial

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Need,
    NotSeen,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.transaction_metadata_rules import (
    INIT_FORGETS_THE_LAST_EPOCH,
    INIT_ROTATES_THE_PRODUCER_ID,
)
from harness.contract.checks.feature_checks import FEATURE, level
from harness.contract.doctored import abort, commit, data, described, evidence, log, step, unsound
from harness.contract.refuters import Failpoint, Refuter, Release
from harness.contract.requirement import Feature
from harness.lab import Lab
from harness.lab.powers.timeouts import timed_out

BELOW, HERE = (0, 1), (2,)
NEEDS = (Offers("InitProducerId", 3), Offers("EndTxn", 3))


def stimulus(lab: Lab, levels: tuple[int, ...]) -> None:
    """At each level that the cluster can be at; a cluster that knows no levels is at level 0."""
    highest = lab.levels.highest(FEATURE)
    for each in levels:
        if each <= highest:
            with lab.admin.feature(FEATURE, each) if levels is BELOW and highest else nullcontext():
                _claim(lab, each)


def _claim(lab: Lab, at_level: int) -> None:
    """A transaction times out; its epoch is claimed at every version, and the next one written in."""
    partition, new = lab.partition(f"P{at_level}"), at_level >= 2
    txn = timed_out(lab, partition, protocol=2 if new else 1)
    shown_by = max(lab.offered("ApiVersions", (3, 4)))
    lab.observer.advertised(txn.coordinator, as_=f"level {at_level}", version=shown_by)
    own, epoch = txn.producer_id, txn.epoch
    for version in lab.offered("InitProducerId", (3, 4, 5)):
        txn.init(identity=(own, epoch), version=version, adopt=False, as_=f"claim at {at_level}")
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_=f"kept at {at_level}")
    txn.become(own, epoch + 1)
    if not new:
        txn.add(partition, as_=f"next add at {at_level}")
    txn.produce(partition, as_=f"next write at {at_level}")
    txn.end(commit=True, as_=f"next end at {at_level}")


def check(seen: Evidence, levels: tuple[int, ...]) -> Observations:
    """The claims get the bumped epoch, without another bump, and it is good for the next transaction."""
    tried = [each for each in levels if expect.taken(seen, f"claim at {each}")]
    for each in tried:
        if level(seen[f"level {each}"]) != each:
            raise NotSeen(f"{FEATURE} was not at level {each}")
        kept = seen[f"kept at {each}"]
        for claim in seen.all(f"claim at {each}"):
            own, bumped = claim.request_int("producer_id"), claim.request_int("producer_epoch") + 1
            yield expect.accepted(claim, otherwise="last-epoch-refused")
            if claim.error == 0:
                yield expect.identity(claim, own, bumped)
            yield expect.keeps(kept, producer_id=own, epoch=bumped, otherwise="bumped-again")
        for name in ("next add", "next write", "next end"):
            for mine in expect.taken(seen, f"{name} at {each}"):
                yield expect.accepted(mine, otherwise="bumped-epoch-refused")
        committed = expect.values(seen, f"next write at {each}")
        yield from expect.sound(seen, f"P{each}", committed=committed, markers=(("ABORT",), ("COMMIT",)))


def _good(each: int) -> Evidence:
    asked = {"producer_id": 7, "producer_epoch": 0}
    claims = (
        step(f"claim at {each}", "InitProducerId", v, request=asked, producer_id=7, producer_epoch=1) for v in (3, 4)
    )
    end = 2 if each >= 2 else 1
    return evidence(
        step(f"level {each}", "ApiVersions", 4, finalized_features={FEATURE: each}),
        *claims,
        described(f"kept at {each}", "Empty", epoch=1),
        step(f"next add at {each}", "AddPartitionsToTxn", 3),
        step(f"next write at {each}", "Produce", 11, request={"values": ["b"]}),
        step(f"next end at {each}", "EndTxn", 4),
        logs={f"P{each}": log(data(7, 0, "a"), abort(7, 1), data(7, 1, "b"), commit(7, end))},
    )


def requirement(
    id_: str, statement: str, levels: tuple[int, ...], needs: tuple[Need, ...], *refuted_by: Refuter
) -> Requirement[Lab]:
    """The promise at these levels."""
    at, good, changes = levels[0], _good(levels[0]), levels is BELOW
    refused = KafkaError.PRODUCER_FENCED
    return Requirement(
        id=id_,
        source=Source(588, "Proposed Changes (3)"),
        statement=statement,
        needs=needs,
        order=Order.CHANGES_SETTINGS if changes else Order.CALM,
        access=(Access.CHANGES,) if changes else (),
        stimulus=partial(stimulus, levels=levels),
        check=partial(check, levels=levels),
        accepts=(good,),
        refuses=(
            Refusal("last-epoch-refused", good.with_step(f"claim at {at}", error=refused)),
            Refusal("wrong-identity-returned", good.with_step(f"claim at {at}", producer_epoch=2)),
            Refusal("bumped-again", good.with_step(f"kept at {at}", producer_epoch=2)),
            Refusal("bumped-epoch-refused", good.with_step(f"next end at {at}", error=refused)),
            Refusal("wrong-markers", good.with_log(f"P{at}", batches=good.log(f"P{at}").batches[:-1])),
            *unsound(good, f"P{at}", appended=None),
        ),
        refuted_by=refuted_by,
    )


REQUIREMENTS = (
    requirement(
        "KIP588-RECOVER-01",
        "After a timeout the producer claims the bumped epoch by its own epoch, also below transaction.version 2.",
        BELOW,
        NEEDS,
        Release(version="3.9.2", anomaly="last-epoch-refused"),
        Failpoint(rules=INIT_ROTATES_THE_PRODUCER_ID, anomaly="wrong-identity-returned"),
    ),
    requirement(
        "KIP588-RECOVER-02",
        "After a timeout the producer claims the bumped epoch by its own epoch, at transaction.version 2.",
        HERE,
        (*NEEDS, Offers("EndTxn", 5), Offers("Produce", 12), Feature(FEATURE, 2)),
        Release(version="4.0.0", anomaly="last-epoch-refused"),
        Failpoint(rules=INIT_FORGETS_THE_LAST_EPOCH, anomaly="last-epoch-refused"),
        Failpoint(rules=INIT_ROTATES_THE_PRODUCER_ID, anomaly="wrong-identity-returned"),
    ),
)
