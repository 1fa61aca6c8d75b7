"""KIP360-INIT-18: producers of one id that start at the same time never get the same epoch.

Two of them with the same identity could not be told apart. Three connections ask again and again without waiting for
answers; each is answered with an epoch of its own or told to try again. The KIP promises a bump for each success; how a
request that comes in the middle of another one is refused, retriably, is Kafka's habit.
"""

from harness.base.addresses import Lane
from harness.contract import (
    Evidence,
    KafkaError,
    NotSeen,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman import transaction_metadata_rules as rules
from harness.contract.byteman.coordinator_rules import EVERY_START_GETS_EPOCH_1000
from harness.contract.doctored import described, evidence, step
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab
from harness.wire.requests.transactions.init_producer_id import InitProducerId

LANES: tuple[Lane, ...] = ("victim", "rival", "observer")
EACH, SEVERAL = 30, 2
AGAIN = KafkaError.CONCURRENT_TRANSACTIONS


def stimulus(lab: Lab) -> None:
    """Requests are sent in turn on three lanes; then their answers are taken."""
    txn = lab.producer()
    request = InitProducerId(transactional_id=txn.transactional_id)
    recorders = [lab.step_recorder(lane) for lane in LANES]
    sent = [(each, each.start(txn.coordinator, request, 4)) for _ in range(EACH) for each in recorders]
    for recorder, pending in sent:
        recorder.finish(pending, as_="start", request={})
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")


def check(seen: Evidence) -> Observations:
    """Epochs of one producer id, none of them twice, the highest of which is kept; refusals are retriable."""
    starts = seen.all("start")
    given = [start for start in starts if start.error == 0]
    others = {start.error for start in starts} - {0, AGAIN}
    yield expect.habit(expect.agree("other errors", others, set(), *starts, otherwise="refused-for-good"))
    if len(given) < SEVERAL:
        raise NotSeen(f"{len(given)} of {len(starts)} starts at the same time were answered with an epoch")
    epochs = [start.answer_int("producer_epoch") for start in given]
    twice = len(epochs) - len(set(epochs))
    yield expect.agree("epochs given twice", twice, 0, *given, otherwise="same-epoch-twice")
    ids = {start.answer_int("producer_id") for start in given}
    yield expect.agree("producer ids", len(ids), 1, *given, otherwise="several-producer-ids")
    yield expect.keeps(seen["kept"], epoch=max(epochs, default=-1), otherwise="another-epoch-kept")


def _start(epoch: int, *, producer_id: int = 7, error: int = 0) -> Step:
    return step("start", "InitProducerId", 4, error=error, producer_id=producer_id, producer_epoch=epoch)


def _with_second(*, epoch: int = 1, producer_id: int = 7, error: int = 0) -> Evidence:
    """Three starts that were answered with an epoch, the second one as given, and one that was told to try again."""
    starts = (_start(2), _start(epoch, producer_id=producer_id, error=error), _start(-1, error=AGAIN), _start(3))
    return evidence(*starts, described("kept", "Empty", epoch=3))


GOOD = _with_second()

REQUIREMENT = Requirement(
    id="KIP360-INIT-18",
    source=Source(360, "Proposed Changes, 1b-i: bump the epoch"),
    statement="Producers that start at the same time get different epochs, the highest of which is in force.",
    needs=(Offers("InitProducerId", 4),),
    order=Order.ALONE,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("refused-for-good", _with_second(error=KafkaError.UNKNOWN_SERVER_ERROR)),
        Refusal("same-epoch-twice", _with_second(epoch=2)),
        Refusal("several-producer-ids", _with_second(producer_id=8)),
        Refusal("another-epoch-kept", GOOD.with_step("kept", producer_epoch=1)),
    ),
    refuted_by=(
        Failpoint(rules=rules.NO_TRANSITION_IS_PENDING, anomaly="refused-for-good"),
        Failpoint(rules=EVERY_START_GETS_EPOCH_1000, anomaly="same-epoch-twice"),
        Failpoint(rules=rules.EPOCHS_ARE_ALWAYS_EXHAUSTED, anomaly="several-producer-ids"),
        Failpoint(rules=EVERY_START_GETS_EPOCH_1000, anomaly="another-epoch-kept"),
    ),
)
