"""KIP360-INIT-03, -06: whose epoch cannot be bumped any more becomes another producer, in epoch 0.

A client that starts anew shows no identity, one that recovers shows its own; either way the epoch before the last is
still bumped, and the last one is followed by a new producer id. The old one must be of no use any more, and the new one
must carry a transaction. Tried on a version of each form of the request. Which epoch is the last (32766) is Kafka's
choice, and so are the codes.
"""

from functools import partial

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Level,
    Observations,
    Offers,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman import transaction_metadata_rules as rules
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab
from harness.lab.powers.last_epochs import LAST_EPOCH

DEAD = (KafkaError.INVALID_PRODUCER_ID_MAPPING, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH)
BEFORE, LAST = "bump before the last", "bump after the last"


def stimulus(lab: Lab, versions: tuple[int, ...], shown: bool) -> None:
    """For each version two bumps; then the old id adds a partition, and the new one commits."""
    partition, offered = lab.partition("P1"), lab.offered("InitProducerId", versions)
    made = lab.near_the_end(epoch=LAST_EPOCH - 1, count=len(offered))
    for txn, version in zip(made, offered, strict=True):
        zombie = lab.same_id(txn.transactional_id, txn.coordinator, "rival", init=False)
        zombie.become(txn.producer_id, LAST_EPOCH)
        for name in (BEFORE, LAST):
            txn.init(version=version, identity=(txn.producer_id, txn.epoch) if shown else (-1, -1), as_=name)
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
        zombie.add(partition, as_="old add")
        txn.add(partition, as_="new add")
        txn.produce(partition, as_="write")
        txn.end(commit=True, as_="end")


def check(seen: Evidence) -> Observations:
    """The last epoch of the old id, then another id in epoch 0, which the coordinator keeps and serves."""
    for before, last, kept in zip(seen.all(BEFORE), seen.all(LAST), seen.all("kept"), strict=True):
        yield expect.shows(before, producer_epoch=LAST_EPOCH, otherwise="rotated-too-early")
        yield expect.accepted(last, otherwise="refused-in-the-last-epoch")
        old, following = before.fields.get("producer_id"), last.fields.get("producer_id")
        another = following not in (old, -1) or last.error != 0
        yield expect.unless(another, f"{following} is another id than {old}", last, otherwise="same-producer-id")
        yield expect.shows(last, producer_epoch=0, otherwise="wrong-first-epoch")
        yield expect.keeps(kept, producer_id=last.answer_int("producer_id"), epoch=0, otherwise="wrong-stored-identity")
    for old_add in seen.all("old add"):
        yield expect.refused(old_add, *DEAD, code=Level.SHOULD, otherwise="old-identity-accepted")
    for step in (*seen.all("new add"), *seen.all("write"), *seen.all("end")):
        yield expect.accepted(step, otherwise="new-identity-refused")
    yield from expect.sound(seen, "P1", [value for step in seen.all("write") for value in step.written()])


def requirement(id_: str, section: str, statement: str, versions: tuple[int, ...], *, shown: bool) -> Requirement[Lab]:
    """The promise for clients that show their identity, or show none."""
    good, same_id = adopted(__file__, id_), adopted(__file__, id_)
    for name in (BEFORE, LAST, "kept"):
        same_id = same_id.with_step(name, producer_id=5)
    return Requirement(
        id=id_,
        source=Source(360, f"Proposed Changes, {section}"),
        statement=statement,
        needs=(Offers("InitProducerId", versions[0]),),
        access=(Access.LOAD,),
        stimulus=partial(stimulus, versions=versions, shown=shown),
        check=check,
        accepts=(good,),
        refuses=(
            Refusal("rotated-too-early", good.with_step(BEFORE, producer_epoch=0)),
            Refusal("same-producer-id", same_id),
            Refusal("wrong-first-epoch", good.with_step(LAST, producer_epoch=1)),
            Refusal("wrong-stored-identity", good.with_step("kept", producer_epoch=1)),
            Refusal("refused-in-the-last-epoch", good.with_step(LAST, error=KafkaError.UNKNOWN_SERVER_ERROR)),
            Refusal("old-identity-accepted", good.with_step("old add", error=0)),
            Refusal("wrong-error", good.with_step("old add", error=KafkaError.INVALID_TXN_STATE)),
            *(
                Refusal("new-identity-refused", good.with_step(name, error=KafkaError.INVALID_PRODUCER_ID_MAPPING))
                for name in ("new add", "write", "end")
            ),
            *unsound(good),
        ),
        refuted_by=(
            Failpoint(rules=rules.EPOCHS_ARE_NEVER_EXHAUSTED, anomaly="same-producer-id"),
            Failpoint(rules=rules.EPOCHS_ARE_EXHAUSTED_TOO_EARLY, anomaly="rotated-too-early"),
            Failpoint(rules=rules.ROTATION_FAILS, anomaly="refused-in-the-last-epoch"),
        ),
    )


REQUIREMENTS = (
    requirement(
        "KIP360-INIT-03",
        "1b-ii: no producer id and epoch provided, overflow",
        "Without identity, the last epoch is followed by a new producer id with epoch 0.",
        (2, 4, 5),
        shown=False,
    ),
    requirement(
        "KIP360-INIT-06",
        "2a-ii: the provided epoch is the current one, overflow",
        "With the current identity in the last epoch, a new producer id with epoch 0 is returned.",
        (3, 4, 5),
        shown=True,
    ),
)
