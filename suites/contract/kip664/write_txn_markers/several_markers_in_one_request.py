"""KIP664-WTM-09: one request with several markers is answered once and whole, a row for each producer and partition.

Three requests, each with a partition that does not exist: beside another partition of the same marker, as the only one
of the last marker, and as the only one of the first. The good markers must be written and told all the same, and the
bad ones refused; a request that is never answered leaves the operator, or the coordinator, to time out and send all
again. The transactions are live ones; their coordinator ends them afterwards. The KIP's response has a result for each
partition.
"""

from harness.base.json_value import Json
from harness.contract import Access, Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.marker_rules import REFUSED_MARKERS_TOLD_AS_WRITTEN
from harness.contract.doctored import abort, data, evidence, log, sample, step, unsound
from harness.contract.refuters import BASELINE, Failpoint, Liar, Release
from harness.evidence.requirement_evidence import NotSeen, Step
from harness.lab import Lab, Partition, Producer
from harness.lab.powers.markers import NewMarker

NOWHERE = ("fencepost-there-is-no-such-topic", 0)
UNKNOWN = KafkaError.UNKNOWN_TOPIC_OR_PARTITION
CASES = {"beside another": ("P1", "P2"), "first marker": ("P3",), "last marker": ("P4",)}
"""Where the unknown partition stands, and the partitions of the good markers."""


def stimulus(lab: Lab) -> None:
    """A producer with an open transaction for each partition, all of one leader; the three requests."""
    first = lab.partition("P1")
    partitions = {"P1": first} | {alias: lab.partition(alias, leader=first.leader) for alias in ("P2", "P3", "P4")}
    txns = {alias: lab.producer() for alias in partitions}
    bad = lab.producer("rival")
    for alias, partition in partitions.items():
        txns[alias].add(partition)
        txns[alias].produce(partition, as_=f"write to {alias}")
        lab.sample(f"before {alias}", partition)
    good = {alias: marker(lab, txns[alias], partitions[alias]) for alias in partitions}
    alone = marker(lab, bad, NOWHERE)
    requests = {
        "beside another": (marker(lab, txns["P1"], first, NOWHERE), good["P2"]),
        "first marker": (alone, good["P3"]),
        "last marker": (good["P4"], alone),
    }
    for name, markers in requests.items():
        lab.write_marker.several(*markers, node=first.leader, as_=name)
    for alias, partition in partitions.items():
        lab.sample(f"after {alias}", partition)
    for txn in txns.values():
        txn.end(commit=False)
    lab.settled()


def marker(lab: Lab, txn: Producer, *places: Partition | tuple[str, int]) -> NewMarker:
    """An operator's abort of what the producer has open there."""
    return NewMarker(
        partitions=places,
        producer_id=txn.producer_id,
        epoch=txn.epoch,
        commit=False,
        coordinator_epoch=lab.coordinator_epoch(txn) or 0,
    )


def check(seen: Evidence) -> Observations:
    """Each request is answered with a row for all that it named; what exists is ended, what does not is refused."""
    for name, aliases in CASES.items():
        answer = seen[name]
        yield expect.unless(answer.answered is not None, f"{name}: an answer came", answer, otherwise="unanswered")
        if answer.answered is not None:
            rows = {str(row.get("partition")): row.get("error") for row in expect.rows(answer, "markers")}
            promised = {**dict.fromkeys(aliases, 0), f"{NOWHERE[0]}-{NOWHERE[1]}": UNKNOWN}
            yield expect.agree(f"{name}: answered", sorted(rows), sorted(promised), answer, otherwise="row-left-out")
            errors = {place: error for place, error in rows.items() if promised.get(place, error) != error}
            yield expect.agree(f"{name}: other errors", errors, {}, answer, otherwise="wrong-error-of-a-row")
        for alias in aliases:
            if seen.sample(f"before {alias}").last_stable_offset >= seen.sample(f"before {alias}").high_watermark:
                raise NotSeen("no transaction was open")
            yield expect.stable(seen.sample(f"after {alias}"), answer, otherwise="lso-not-moved")
            yield from expect.sound(seen, alias, seen[f"write to {alias}"].written(), committed=())


def _answer(name: str, *aliases: str, bad: int = UNKNOWN) -> Step:
    rows: list[Json] = [{"producer_id": 7, "partition": alias, "error": 0} for alias in aliases]
    rows.append({"producer_id": 8, "partition": f"{NOWHERE[0]}-{NOWHERE[1]}", "error": bad})
    return step(name, "WriteTxnMarkers", 1, error=bad, markers=[*rows])


_ALIASES = [alias for aliases in CASES.values() for alias in aliases]
GOOD = evidence(
    *(step(f"write to {alias}", "Produce", 9, request={"values": ["a"]}) for alias in _ALIASES),
    *(_answer(name, *aliases) for name, aliases in CASES.items()),
    logs={alias: log(data(7, 0, "a"), abort(7, 0), abort(7, 0)) for alias in _ALIASES},
    samples=tuple(sample(f"{when} {p}", p, 2, lso) for p in _ALIASES for when, lso in (("before", 0), ("after", 2))),
)

REQUIREMENT = Requirement(
    id="KIP664-WTM-09",
    source=Source(664, "WriteTxnMarkers: response schema"),
    statement="A request with several markers is answered once, with a row for each producer and partition.",
    needs=(Offers("WriteTxnMarkers", 1),),
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("unanswered", GOOD.with_step("last marker", error=None, answered=None)),
        Refusal("row-left-out", GOOD.with_step("first marker", fields=_answer("").fields)),
        Refusal("wrong-error-of-a-row", GOOD.with_step("beside another", fields=_answer("", "P1", "P2", bad=0).fields)),
        Refusal("lso-not-moved", GOOD.with_sample("after P3", last_stable_offset=0)),
        *unsound(GOOD, "P4"),
    ),
    refuted_by=(
        Release(version=BASELINE, anomaly="unanswered"),
        Failpoint(rules=REFUSED_MARKERS_TOLD_AS_WRITTEN, anomaly="wrong-error-of-a-row"),
        Liar(api="WriteTxnMarkers", fields={"topics": []}, anomaly="row-left-out"),
    ),
)
