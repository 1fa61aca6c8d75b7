"""KIP890-ATX-10, -11, -12: an add under an empty id, to a broker that keeps the id not, or of a missing partition.

No KIP that is judged here speaks of them: they are how Kafka guards its coordinator, in versions of clients and of
brokers alike. Beside a missing partition the others are not added either (OPERATION_NOT_ATTEMPTED), so that a client
may send the very same request again once its topic is there.
"""

from collections.abc import Callable, Mapping
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
from harness.contract.byteman.adding_rules import EMPTY_ID_MAY_ADD, EVERY_ADD_ANSWERED_YES, UNKNOWN_PARTITION_KNOWN
from harness.contract.doctored import commit, data, described, evidence, joint_add, log, unsound, written
from harness.contract.refuters import Failpoint, Liar, LiveRefuter
from harness.lab import Lab, Partition, Producer
from harness.lab.powers.joint_requests import part
from harness.wire.requests.transactions.add_partitions_to_txn import AddPartitionsToTxn

MISSING = 99
NO_ID = {"P1": KafkaError.INVALID_REQUEST, "P2": KafkaError.INVALID_REQUEST}
NOT_HERE = {"P1": KafkaError.NOT_COORDINATOR, "P2": KafkaError.NOT_COORDINATOR}
NOT_TRIED = KafkaError.OPERATION_NOT_ATTEMPTED
NOT_THERE = {"missing": KafkaError.UNKNOWN_TOPIC_OR_PARTITION, "P1": NOT_TRIED, "P2": NOT_TRIED}


def without_id(_lab: Lab, txn: Producer, *places: Partition) -> tuple[int, AddPartitionsToTxn]:
    """To the right broker, under no id."""
    return txn.coordinator, part(txn, *places, transactional_id="")


def elsewhere(lab: Lab, txn: Producer, *places: Partition) -> tuple[int, AddPartitionsToTxn]:
    """To another broker."""
    return lab.another_broker(txn.coordinator), part(txn, *places)


def missing(lab: Lab, txn: Producer, *places: Partition) -> tuple[int, AddPartitionsToTxn]:
    """With a partition that the topic does not have."""
    absent = (places[0].topic, MISSING)
    lab.notes.aliases[f"{places[0].topic}-{MISSING}"] = "missing"
    return txn.coordinator, part(txn, *places, absent)


Wrong = Callable[..., tuple[int, AddPartitionsToTxn]]


def stimulus(wrong: Wrong, lab: Lab) -> None:
    """The wrong add in every version on an open transaction; what it keeps before and after; then it commits."""
    txn, kept, places = lab.producer(), lab.partition("P0"), [lab.partition(alias) for alias in ("P1", "P2")]
    txn.add(kept)
    node, asked = wrong(lab, txn, *places)
    for version in lab.offered("AddPartitionsToTxn", range(6)):
        lab.joint().add(node, {"A": asked}, version=version, as_="wrong add")
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
    txn.produce(kept, as_="write")
    txn.add(*places, as_="right add")
    txn.end(commit=True, as_="end")


def check(errors: Mapping[str, int], seen: Evidence) -> Observations:
    """Each partition with its error and none added; the right request goes through."""
    for asked in seen.all("wrong add"):
        for alias, error in errors.items():
            yield expect.refused(asked.of("A").at(alias), error, otherwise="wrong-add-accepted")
    yield expect.keeps(seen["kept"], state="Ongoing", partitions=("P0",), otherwise="partition-added")
    yield expect.accepted(seen["right add"], otherwise="right-add-refused")
    yield expect.accepted(seen["end"], otherwise="end-refused")
    yield from expect.sound(seen, "P0", seen["write"].written())


def good(errors: Mapping[str, int]) -> Evidence:
    """The wrong add with these answers."""
    return evidence(
        *(joint_add("wrong add", version, A=errors) for version in (3, 5)),
        described("kept", "Ongoing", partitions=("P0",)),
        written("write", 11, "a", to="P0"),
        joint_add("right add", 3),
        joint_add("end", 3),
        logs={"P0": log(data(7, 0, "a"), commit(7, 0))},
    )


def requirement(
    id_: str, statement: str, wrong: Wrong, errors: Mapping[str, int], *refuted_by: LiveRefuter, broker: bool = False
) -> Requirement[Lab]:
    """One wrong add."""
    sound, first = good(errors), next(iter(errors))
    return Requirement(
        id=id_,
        source=Source(890, "Public Interfaces"),
        statement=statement,
        level=Level.SHOULD,
        needs=(Offers("AddPartitionsToTxn", 3),),
        access=(Access.BROKERS,) if broker else (),
        stimulus=partial(stimulus, wrong),
        check=partial(check, errors),
        accepts=(sound,),
        refuses=(
            Refusal("wrong-add-accepted", good({**errors, first: 0})),
            Refusal("wrong-add-accepted", good({**errors, "P2": 0})),
            Refusal("wrong-error", good({**errors, "P1": KafkaError.PRODUCER_FENCED})),
            Refusal("unanswered", good({name: code for name, code in errors.items() if name != "P2"})),
            Refusal("partition-added", sound.with_step("kept", partitions=["P0", "P1"])),
            Refusal("right-add-refused", sound.with_step("right add", error=errors["P1"])),
            Refusal("end-refused", sound.with_step("end", error=KafkaError.INVALID_TXN_STATE)),
            *unsound(sound, "P0"),
        ),
        refuted_by=refuted_by,
    )


REQUIREMENTS = (
    requirement(
        "KIP890-ATX-10",
        "An add under an empty transactional id is an invalid request.",
        without_id,
        NO_ID,
        Failpoint(rules=EMPTY_ID_MAY_ADD, anomaly="wrong-add-accepted"),
    ),
    requirement(
        "KIP890-ATX-11",
        "An add of an unknown partition is refused, and none beside it is added.",
        missing,
        NOT_THERE,
        Failpoint(rules=UNKNOWN_PARTITION_KNOWN, anomaly="wrong-add-accepted"),
        Failpoint(rules=UNKNOWN_PARTITION_KNOWN, anomaly="partition-added"),
    ),
    requirement(
        "KIP890-ATX-12",
        "An add that is sent to another broker than the coordinator is refused and adds nothing.",
        elsewhere,
        NOT_HERE,
        Failpoint(rules=EVERY_ADD_ANSWERED_YES, anomaly="wrong-add-accepted"),
        Liar(api="AddPartitionsToTxn", instead_of=0, skip=1, error=48, anomaly="right-add-refused"),
        broker=True,
    ),
)
