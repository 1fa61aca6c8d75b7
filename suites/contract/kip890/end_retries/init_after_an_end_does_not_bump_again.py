"""KIP890-RETRY-10: InitProducerId with the epoch of the transaction just ended returns the epoch that the end gave.

A client that lost the answer to its EndTxn v5 asks for its identity with the one that it knows (KIP-360). The epoch is
bumped already, so it is not bumped again: not by the first request, not by a repetition; and it writes. After a commit
and after an abort, at every version that carries an identity. An epoch before that is fenced.

By KIP-360 the last epoch gets the current one back, so all of it is promised; the code of the fencing is Kafka's.
"""

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract import TransactionResult as Result
from harness.contract.byteman.transaction_metadata_rules import (
    INIT_FORGETS_THE_LAST_EPOCH,
    INIT_REPETITION_TAKEN_FOR_THE_FIRST,
    INIT_ROTATES_THE_PRODUCER_ID,
)
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint, Liar
from harness.contract.version_tables import fenced
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """Two transactions of each kind; then the identity of the second is asked for, twice, and that of the first."""
    partition = lab.partition("P1")
    for version in lab.offered("InitProducerId", (3, 4, 5)):
        for result in Result:
            txn = lab.producer(protocol=2)
            for _ in range(2):
                own = (txn.producer_id, txn.epoch)
                txn.produce(partition, as_=f"write before {result.noun}")
                txn.end(commit=result.commits, as_="end")
                lab.reached(txn, result.completed, as_="ended")
            for _ in range(2):
                txn.init(identity=own, version=version, adopt=False, as_="init")
            txn.init(identity=(own[0], own[1] - 1), version=version, adopt=False, as_="older init")
            lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
            txn.produce(partition, as_="next write")
            txn.end(commit=True, as_="end")


def check(seen: Evidence) -> Observations:
    """The current identity each time, and it goes on."""
    for end in seen.all("end"):
        yield expect.accepted(end, otherwise="end-refused")
    for ended in seen.all("ended"):
        yield expect.over(ended)
    for init in seen.all("init"):
        own, asked = init.request_int("producer_id"), init.request_int("producer_epoch")
        yield expect.accepted(init, otherwise="last-epoch-refused")
        if init.error == 0:
            yield expect.identity(init, own, asked + 1)
    for older, kept in zip(seen.all("older init"), seen.all("kept"), strict=True):
        code = fenced("InitProducerId", older.version)
        yield expect.refused(older, code, code=Level.SHOULD, otherwise="older-epoch-accepted")
        yield expect.keeps(kept, epoch=older.request_int("producer_epoch") + 2, otherwise="bumped-again")
    for write in seen.all("next write"):
        yield expect.accepted(write, otherwise="returned-epoch-refused")
    yield from expect.sound(seen, committed=expect.values(seen, "write before commit", "next write"))


GOOD = adopted(__file__, "KIP890-RETRY-10")
_UNWRITTEN = GOOD.with_step("next write", error=KafkaError.INVALID_PRODUCER_EPOCH).with_log(
    "P1", committed=expect.values(GOOD, "write before commit")
)

REQUIREMENT = Requirement(
    id="KIP890-RETRY-10",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="InitProducerId with the epoch of a transaction ended with v5 returns the bumped epoch, not another one.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12), Offers("InitProducerId", 3)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("transaction-not-over", GOOD.with_step("ended", state="Ongoing")),
        Refusal("last-epoch-refused", GOOD.with_step("init", error=KafkaError.PRODUCER_FENCED)),
        Refusal("wrong-identity-returned", GOOD.with_step("init", producer_epoch=3)),
        Refusal("older-epoch-accepted", GOOD.with_step("older init", error=0)),
        Refusal("wrong-error", GOOD.with_step("older init", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("bumped-again", GOOD.with_step("kept", producer_epoch=3)),
        Refusal("returned-epoch-refused", _UNWRITTEN),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=INIT_FORGETS_THE_LAST_EPOCH, anomaly="last-epoch-refused"),
        Failpoint(rules=INIT_REPETITION_TAKEN_FOR_THE_FIRST, anomaly="bumped-again"),
        Failpoint(rules=INIT_ROTATES_THE_PRODUCER_ID, anomaly="wrong-identity-returned"),
        Liar(api="InitProducerId", instead_of=KafkaError.PRODUCER_FENCED, error=0, anomaly="older-epoch-accepted"),
    ),
)
