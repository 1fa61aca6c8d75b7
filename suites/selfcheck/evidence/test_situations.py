"""Situations from hand-made records: what they show is counted, and what they leave open is not."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.evidence.situations.kept_situations import (
    KeptRecords,
    count_situations,
    found_situations,
    keep_records,
    read_situations,
)
from harness.evidence.situations.named import named
from harness.evidence.situations.recorded import (
    FaultMoment,
    HeldRequest,
    LeaderTerm,
    RoundRecords,
    StateRecord,
    UnderWay,
)
from harness.evidence.situations.situation import NAMED, REQUESTS, Situation, pairs, wanted
from harness.evidence.situations.visited import Visits


def record(at: float, state: str, *, epoch: int = 0, producer_id: int = 7, partitions: str = "") -> StateRecord:
    """``epoch`` is the leader's."""
    return StateRecord(
        at=at,
        transactional_id="teller",
        state=state,
        producer_id=producer_id,
        producer_epoch=0,
        leader_epoch=epoch,
        partitions=tuple(partitions.split()),
    )


OPEN = (record(10, "Empty"), record(100, "Ongoing", partitions="accounts-0"))
ENDED = (*OPEN, record(200, "PrepareCommit"), record(300, "CompleteCommit"))
KILL = FaultMoment(fault="kill", since=150, upto=160)


def doing(verb: str, since: float, upto: float, *, actor: str = "teller", partition: str = "") -> UnderWay:
    return UnderWay(actor=actor, transactional_id="teller", verb=verb, started=since, ended=upto, partition=partition)


def held(api: str, *, link: bool = True, since: float = 205, upto: float = 290) -> HeldRequest:
    ids = () if api == "WriteTxnMarkers" else ("teller",)
    return HeldRequest(fault="a rule", api=api, link=link, since=since, upto=upto, transactional_ids=ids, producer_id=7)


def shown(recorded: RoundRecords) -> set[tuple[str, str]]:
    return {(each.state, each.request) for each in Visits(recorded).situations()}


@pytest.mark.parametrize(
    ("operation", "pair"),
    [
        (doing("produce", 140, 170, partition="accounts-0"), ("Ongoing", "Produce")),
        (doing("produce", 140, 170, partition="accounts-1"), ("Ongoing", "AddPartitionsToTxn")),
        (doing("commit", 140, 170), ("Ongoing", "EndTxn")),
        (doing("abort", 150, 160), ("Ongoing", "EndTxn")),
        (doing("init", 140, 170), ("Ongoing", "InitProducerId")),
        (doing("send_offsets", 140, 170), ("Ongoing", "AddOffsetsToTxn")),
        (doing("commit", 151, 170), ("Ongoing", "nothing")),  # it began when the fault may have struck already
        (doing("commit", 140, 159), ("Ongoing", "nothing")),  # it may have been over
    ],
)
def test_an_operation_counts_that_was_under_way_all_the_time(operation: UnderWay, pair: tuple[str, str]) -> None:
    assert shown(RoundRecords(states=ENDED, moments=(KILL,), operations=(operation,))) == {pair}


def test_offsets_of_a_group_that_is_in_the_transaction_are_being_committed() -> None:
    inside = (record(100, "Ongoing", partitions="__consumer_offsets-3"),)
    sending = doing("send_offsets", 140, 170)
    assert shown(RoundRecords(states=inside, moments=(KILL,), operations=(sending,))) == {
        ("Ongoing", "TxnOffsetCommit")
    }


@pytest.mark.parametrize("since", [95.0, 100.5, 195.0])
def test_a_state_that_changed_within_the_moment_shows_nothing(since: float) -> None:
    moment = FaultMoment(fault="kill", since=since, upto=since + 10)
    assert not shown(RoundRecords(states=ENDED, moments=(moment,), operations=(doing("commit", 0, 400),)))


def test_an_id_is_unknown_before_its_first_record_only() -> None:
    early = FaultMoment(fault="kill", since=5, upto=6)
    asking = doing("init", 1, 12)
    assert shown(RoundRecords(states=ENDED, moments=(early,), operations=(asking,))) == {("unknown", "InitProducerId")}
    assert not shown(RoundRecords(states=(), moments=(early,), operations=(asking,)))  # its log was not read
    for first in (ENDED[1], replace(ENDED[0], producer_epoch=1)):  # what was before it is compacted away
        assert not shown(RoundRecords(states=(first,), moments=(early,), operations=(asking,)))


def test_a_request_that_was_struck_counts_by_the_state_of_its_own_id() -> None:
    strike = FaultMoment(fault="lost-request", since=150, upto=150, api="EndTxn", transactional_ids=("teller",))
    other = replace(strike, transactional_ids=("somebody",))
    assert shown(RoundRecords(states=ENDED, moments=(strike,))) == {("Ongoing", "EndTxn")}
    assert not shown(RoundRecords(states=ENDED, moments=(other,)))


def test_markers_belong_to_the_id_of_their_producer() -> None:
    moment = FaultMoment(fault="kill", since=210, upto=220)
    there = RoundRecords(states=ENDED, moments=(moment,), held=(held("WriteTxnMarkers"),))
    assert shown(there) == {("PrepareCommit", "WriteTxnMarkers"), ("PrepareCommit", "nothing")}
    assert set(named(Visits(there))) == {("marker-in-flight", "kill")}
    foreign = replace(there, held=(replace(held("WriteTxnMarkers"), producer_id=8),))
    passed = replace(there, held=(held("WriteTxnMarkers", upto=215),))
    own = replace(there, held=(replace(held("WriteTxnMarkers"), fault="kill"),))
    for without in (foreign, passed, own):
        assert shown(without) == {("PrepareCommit", "nothing")}
        assert not named(Visits(without))


def test_a_leaders_question_is_not_the_clients() -> None:
    waiting = held("AddPartitionsToTxn", since=110, upto=190)
    recorded = RoundRecords(states=ENDED, moments=(KILL,), held=(waiting,))
    assert ("Ongoing", "a leader's AddPartitionsToTxn") in shown(recorded)
    assert set(named(Visits(recorded))) == {("verification-pending", "kill")}
    of_client = replace(recorded, held=(replace(waiting, link=False),))
    assert ("Ongoing", "AddPartitionsToTxn") in shown(of_client)
    assert not named(Visits(of_client))


@pytest.mark.parametrize(("states", "request_of"), [(OPEN[:1], "AddPartitionsToTxn"), (OPEN, "Produce")])
def test_a_write_that_the_gate_had_adds_its_partition_where_nothing_is_open(
    states: tuple[StateRecord, ...], request_of: str
) -> None:
    waiting = held("Produce", link=False, since=110, upto=190)
    assert (states[-1].state, request_of) in shown(RoundRecords(states=states, moments=(KILL,), held=(waiting,)))


@pytest.mark.parametrize(
    ("states", "name"),
    [
        ((*OPEN, record(250, "PrepareAbort", epoch=1)), "coordinator-moved-open"),
        ((record(140, "PrepareCommit"), record(250, "CompleteCommit", epoch=1)), "coordinator-moved-prepared"),
        ((*OPEN, record(250, "PrepareAbort")), ""),  # the same term of the same coordinator
        ((*OPEN, record(155, "PrepareAbort", epoch=1)), ""),  # written while the fault may not have struck yet
    ],
)
def test_a_coordinator_moved_when_the_log_has_another_term(states: tuple[StateRecord, ...], name: str) -> None:
    found = named(Visits(RoundRecords(states=states, moments=(KILL,))))
    assert set(found) == ({(name, "kill")} if name else set())


def test_a_leader_moved_under_a_transaction_that_was_open_in_both_terms() -> None:
    terms = (
        LeaderTerm(partition="accounts-0", epoch=3, first_marker=0, last_marker=148),
        LeaderTerm(partition="accounts-0", epoch=4, first_marker=180, last_marker=900),
    )
    under = RoundRecords(states=ENDED, moments=(KILL,), terms=terms)
    assert set(named(Visits(under))) == {("leader-moved-open", "kill")}
    late = replace(terms[1], first_marker=201)  # the prepare record may have come before the new leader
    elsewhere = tuple(replace(term, partition="accounts-1") for term in terms)
    for without in ((terms[0], late), elsewhere, terms[:1]):
        assert not named(Visits(replace(under, terms=without)))


def test_two_clients_of_one_id_are_two_actors() -> None:
    ending, asking = doing("commit", 140, 170), doing("init", 145, 165, actor="teller.2")
    both = RoundRecords(states=ENDED, moments=(KILL,), operations=(ending, asking))
    assert set(named(Visits(both))) == {("fenced-while-ending", "kill")}
    one = replace(both, operations=(ending, replace(asking, actor="teller")))
    assert not named(Visits(one))


def test_a_round_may_show_each_pair_with_each_of_its_faults() -> None:
    plain, with_groups = wanted({"kill": ()}, groups=False), wanted({"kill": (), "pause": ()}, groups=True)
    assert Situation(state="Ongoing", request="TxnOffsetCommit", fault="kill") in with_groups - plain
    assert len(with_groups) == 2 * len(list(pairs(groups=True)))
    assert {request for _, request in pairs(groups=True)} <= REQUESTS.keys()


def test_a_fault_on_single_requests_may_show_those_alone() -> None:
    assert {each.request for each in wanted({"late-end-txn": ("EndTxn",)}, groups=True)} == {"EndTxn"}


def test_a_produce_that_was_struck_outside_a_transaction_adds_its_partition() -> None:
    strike = FaultMoment(fault="late-produce", since=350, upto=350, api="Produce", transactional_ids=("teller",))
    assert shown(RoundRecords(states=ENDED, moments=(strike,))) == {("CompleteCommit", "AddPartitionsToTxn")}
    inside = replace(strike, since=150, upto=150)
    assert shown(RoundRecords(states=ENDED, moments=(inside,))) == {("Ongoing", "Produce")}


@pytest.mark.parametrize(
    ("partitions", "request_of"),
    [
        (("accounts-0",), "Produce"),
        (("accounts-1",), "AddPartitionsToTxn"),
        (("accounts-0", "accounts-1"), "AddPartitionsToTxn"),
    ],
)
def test_a_produce_that_was_struck_in_a_transaction_adds_what_is_not_in_it(
    partitions: tuple[str, ...], request_of: str
) -> None:
    open_on = (replace(OPEN[-1], partitions=("accounts-0",)),)
    at = open_on[0].at + 50
    strike = FaultMoment(
        fault="late-produce",
        since=at,
        upto=at,
        api="Produce",
        transactional_ids=("teller",),
        partitions=partitions,
    )
    assert shown(RoundRecords(states=open_on, moments=(strike,))) == {("Ongoing", request_of)}


@pytest.mark.parametrize(
    ("open_now", "request_name"), [("accounts-0", "AddOffsetsToTxn"), ("__consumer_offsets-3", "TxnOffsetCommit")]
)
def test_offsets_that_were_struck_add_a_group_that_is_not_in_the_transaction(open_now: str, request_name: str) -> None:
    strike = FaultMoment(fault="pause", since=150, upto=150, api="TxnOffsetCommit", transactional_ids=("teller",))
    states = (record(100, "Ongoing", partitions=open_now),)
    assert shown(RoundRecords(states=states, moments=(strike,))) == {("Ongoing", request_name)}


def test_what_was_found_is_kept_beside_the_history(tmp_path: Path) -> None:
    (tmp_path / "history").mkdir()
    rows = [
        {"number": 1, "actor": "teller", "client": "wire-v2", "verb": "commit", "started": 140.0, "ended": 170.0,
         "outcome": "done", "transactional_id": "teller", "txn": 1},
        {"number": 2, "actor": "teller", "client": "wire-v2", "verb": "close", "started": 1.0, "ended": 2.0,
         "outcome": "done"},
    ]  # fmt: skip
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "history" / "operations.jsonl").write_text(lines + '{"torn', encoding="utf-8")
    recorded = RoundRecords(states=ENDED, moments=(KILL,))
    keep_records(tmp_path, KeptRecords(faults={"kill": ()}, groups=False, recorded=recorded))
    count_situations(tmp_path)
    found = read_situations(tmp_path)
    assert found is not None
    assert [(each.situation.request, each.times) for each in found.visits] == [("EndTxn", 1)]
    assert found.visits[0].situation in found.wanted


def test_a_folder_without_records_says_nothing_of_situations(tmp_path: Path) -> None:
    count_situations(tmp_path)
    assert read_situations(tmp_path) is None
    assert not found_situations(KeptRecords(faults={}, groups=False, recorded=RoundRecords()), ()).visits


def test_every_name_has_its_meaning() -> None:
    assert all(meaning and not meaning.endswith(".") for meaning in NAMED.values())
