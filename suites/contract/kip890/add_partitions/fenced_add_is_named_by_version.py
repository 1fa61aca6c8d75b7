"""KIP890-ATX-13: the add of a fenced producer is refused, and its version says whether it knows PRODUCER_FENCED.

Versions 0 and 1 are answered with INVALID_PRODUCER_EPOCH, later ones with PRODUCER_FENCED, which tells a client that
somebody else has its id now. That the add is refused and nothing of the newer producer's transaction changes is
promised; the names are Kafka's, as after a timeout (KIP588-ERR-01): KIP-588 meant another error by code 90.
"""

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.adding_rules import NEW_CLIENT_FENCED_AS_OLD
from harness.contract.byteman.coordinator_rules import ADD_IN_THE_CURRENT_EPOCH
from harness.contract.doctored import commit, data, described, evidence, log, step, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.contract.version_tables import fenced
from harness.lab import Lab

API = "AddPartitionsToTxn"


def stimulus(lab: Lab) -> None:
    """The id is initialised again and opens a transaction; then the producer of the epoch before adds."""
    own, stray, zombie = lab.partition("own"), lab.partition("stray"), lab.producer("rival")
    txn = lab.same_id(zombie.transactional_id, zombie.coordinator, "victim")
    txn.add(own)
    for version in lab.offered(API, range(6)):
        zombie.add(stray, version=version, as_="stale add", retry=())
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
    txn.produce(own, as_="write")
    txn.end(commit=True, as_="end")


def check(seen: Evidence) -> Observations:
    """Refused by its version's name; the newer producer's transaction is its own."""
    for add in seen.all("stale add"):
        code = fenced(API, add.version)
        yield expect.refused(add.at("stray"), code, otherwise="stale-add-accepted", code=Level.SHOULD)
    yield expect.keeps(seen["kept"], state="Ongoing", epoch=1, partitions=("own",), otherwise="transaction-changed")
    for mine in (seen["write"], seen["end"]):
        yield expect.accepted(mine, otherwise="current-producer-refused")
    yield from expect.sound(seen, "own", seen["write"].written())


GOOD = evidence(
    *(step("stale add", API, version, partitions={"stray": fenced(API, version)}) for version in range(6)),
    described("kept", "Ongoing", epoch=1, partitions=("own",)),
    written("write", 11, "a", to="own"),
    step("end", "EndTxn", 4),
    logs={"own": log(data(7, 1, "a"), commit(7, 1))},
)

REQUIREMENT = Requirement(
    id="KIP890-ATX-13",
    source=Source(588, "Public Interfaces"),
    statement="An add in an old epoch is refused: INVALID_PRODUCER_EPOCH below version 2, PRODUCER_FENCED from there.",
    needs=(Offers(API, 2),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("stale-add-accepted", GOOD.with_step("stale add", partitions={"stray": 0})),
        Refusal("wrong-error", GOOD.with_step("stale add", partitions={"stray": KafkaError.PRODUCER_FENCED})),
        Refusal("wrong-error", GOOD.with_step("stale add", partitions={"stray": KafkaError.INVALID_PRODUCER_EPOCH})),
        Refusal("unanswered", GOOD.with_step("stale add", partitions={})),
        Refusal("transaction-changed", GOOD.with_step("kept", partitions=["own", "stray"])),
        Refusal("current-producer-refused", GOOD.with_step("write", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("current-producer-refused", GOOD.with_step("end", error=KafkaError.PRODUCER_FENCED)),
        *unsound(GOOD, "own"),
    ),
    refuted_by=(
        Failpoint(rules=ADD_IN_THE_CURRENT_EPOCH, anomaly="stale-add-accepted"),
        Failpoint(rules=ADD_IN_THE_CURRENT_EPOCH, anomaly="transaction-changed"),
        Failpoint(rules=NEW_CLIENT_FENCED_AS_OLD, anomaly="wrong-error"),
        Liar(api="EndTxn", instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="current-producer-refused"),
    ),
)
