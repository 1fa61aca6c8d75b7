"""KIP890-COMPAT-10: transaction.version may go down and up again while transactions are open, and nothing is lost.

The KIP lets a client finish in the protocol that it began with («we will wait for the transaction to complete before
upgrading»). At every move one producer has an open transaction and another one's end is on its way; both began as the
level before allowed it. Afterwards they finish, one commits and one aborts, and both start again as the new level
allows, with InitProducerId; so epochs may jump, and are not compared. 10 lowers to 0, where nothing of the new protocol
may be written down; -STEP moves between 2 and 1.
"""

from dataclasses import replace
from itertools import pairwise

from harness.base.addresses import Lane
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
from harness.contract.byteman.coordinator_rules import END_COMMITS_AFTER_LOWERING
from harness.contract.checks.feature_checks import FEATURE, at_level
from harness.contract.doctored import abort, commit, data, ended, evidence, log, step, unsound, written
from harness.contract.refuters import Failpoint, Refuter, Release
from harness.contract.requirement import Feature
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab
from harness.lab.partition import Partition
from harness.lab.producer import Producer

TO_0 = (2, 0, 2, 0)
TO_1 = (2, 1, 2, 1, 2)
PLACES = ("P1", "P2")
LANES: tuple[Lane, ...] = ("victim", "rival")


def stimulus(lab: Lab, levels: tuple[int, ...]) -> None:
    """At each move one open transaction, and one whose end is under way."""
    places = [lab.partition(alias) for alias in PLACES]
    ids: dict[Lane, Producer] = {lane: lab.producer(lane, init=False) for lane in LANES}
    with lab.admin.keeping(FEATURE):
        lab.levels.ask(FEATURE, levels[0])
        lab.levels.shown(FEATURE, levels[0], as_="begun")
        for number, (old, new) in enumerate(pairwise(levels)):
            staying, ending = (_client(lab, lane, known, old) for lane, known in ids.items())
            for txn in (staying, ending):
                _write(txn, places)
            under_way = ending.start_end(commit=number % 2 == 0)
            lab.levels.ask(FEATURE, new, down=new < old, as_="move")
            lab.levels.shown(FEATURE, new, as_=f"move {number}")
            under_way.answer(as_="end")
            _write(staying, places)
            staying.end(commit=number % 2 == 1, as_="end")
            lab.completed(*places)


def _client(lab: Lab, lane: Lane, known: Producer, level: int) -> Producer:
    """The id's next owner, in the protocol that the level allows."""
    return lab.same_id(known.transactional_id, known.coordinator, lane, protocol=2 if level == 2 else 1)


def _write(txn: Producer, places: list[Partition]) -> None:
    for partition in places:
        if txn.protocol == 1:
            txn.add(partition)
        txn.produce(partition, as_="write")


def check(seen: Evidence, levels: tuple[int, ...]) -> Observations:
    """Every step is taken; what was committed is shown, in order, and nothing else."""
    for move in seen.all("move"):
        yield expect.accepted(move, otherwise="level-not-changed")
    for number, level in zip(range(len(seen.all("move"))), levels[1:], strict=False):
        yield from at_level(seen, f"move {number}", level, otherwise="level-not-shown")
    for asked in (*seen.all("write"), *seen.all("end")):
        yield expect.accepted(asked, otherwise="refused-across-the-move")
    committed = {_identity(end) for end in seen.all("end") if end.request["committed"]}
    for place in PLACES:
        writes = expect.writes(seen, place, "write")
        values = [value for write in writes for value in write.written()]
        shown = [value for write in writes if _identity(write) in committed for value in write.written()]
        yield from expect.sound(seen, place, values, committed=shown, shown="wrong-result-across-the-move")


def _identity(step: Step) -> tuple[int, int]:
    """Of the transaction: every owner of an id has an epoch of its own."""
    return step.request_int("producer_id"), step.request_int("producer_epoch")


def _written(place: str, name: str, producer_id: int) -> Step:
    write = written("write", 12, f"{place} {name}", producer_id=producer_id, to=place)
    return replace(write, request={**write.request, "producer_epoch": 0})


def _good(levels: tuple[int, ...]) -> Evidence:
    moves = [
        step(f"move {number}", "ApiVersions", 4, finalized_features={FEATURE: level})
        for number, level in enumerate(levels[1:])
    ]
    ends = ended(), ended(producer_id=8, committed=False)
    writes = [_written(place, name, producer_id) for place in PLACES for name, producer_id in (("a", 7), ("b", 8))]
    logs = {
        place: log(data(7, 0, f"{place} a"), data(8, 0, f"{place} b"), commit(7, 1), abort(8, 1)) for place in PLACES
    }
    return evidence(*(step("move", "UpdateFeatures", 2) for _ in moves), *moves, *writes, *ends, logs=logs)


def requirement(id_: str, levels: tuple[int, ...], *refuters: Refuter) -> Requirement[Lab]:
    """The promise over these moves."""
    good, lowest = _good(levels), min(levels)
    return Requirement(
        id=id_,
        source=Source(890, "Transaction Feature Version (0); Compatibility: New Servers"),
        statement=f"Moving transaction.version between 2 and {lowest} under open transactions loses nothing.",
        needs=(Offers("UpdateFeatures", 1), Offers("EndTxn", 5), Offers("Produce", 12), Feature(FEATURE, 2)),
        order=Order.CHANGES_SETTINGS,
        access=(Access.CHANGES,),
        stimulus=lambda lab: stimulus(lab, levels),
        check=lambda seen: check(seen, levels),
        accepts=(good,),
        refuses=(
            Refusal("level-not-changed", good.with_step("move", error=KafkaError.INVALID_UPDATE_VERSION)),
            Refusal("level-not-shown", good.with_step("move 1", finalized_features={FEATURE: lowest})),
            Refusal("refused-across-the-move", good.with_step("write", error=KafkaError.INVALID_TXN_STATE)),
            Refusal("refused-across-the-move", good.with_step("end", error=KafkaError.INVALID_TXN_STATE)),
            *unsound(good, "P1", shown="wrong-result-across-the-move"),
            *unsound(good, "P2", shown="wrong-result-across-the-move"),
        ),
        refuted_by=refuters,
    )


REQUIREMENTS = (
    requirement("KIP890-COMPAT-10", TO_0, Release(version="4.1.2", anomaly="refused-across-the-move")),
    requirement(
        "KIP890-COMPAT-10-STEP",
        TO_1,
        Failpoint(rules=END_COMMITS_AFTER_LOWERING, anomaly="wrong-result-across-the-move"),
    ),
)
