"""A cell with a group: what is sent for it, how its offsets and its log are looked at, and what differs."""

import struct
from dataclasses import replace

import pytest
from msgspec import structs

from harness.explore.cell_identities import CellIdentities
from harness.explore.cell_results import CellSeen, SeenId, SeenLog, SeenProducer
from harness.explore.cell_run import CellRun
from harness.explore.comparison import compare
from harness.explore.looks.group_look import ShownOffset, committed_offset
from harness.explore.real_requests import answer_of, real_request
from harness.model.grid import GridCell
from harness.model.model_requests import (
    AddOffsetsAsked,
    EndTxnAsked,
    InitProducerIdAsked,
    ListTransactionsAsked,
    ModelAnswer,
    ModelRequest,
    TxnOffsetCommitAsked,
)
from harness.model.model_state import GROUP, LogEntry, fresh_cluster
from harness.model.protocol_profile import NEWEST
from harness.model.protocol_step import outcomes, settled
from harness.wire.requests.transactions.add_offsets_to_txn import AddOffsetsToTxn
from harness.wire.requests.transactions.list_transactions import (
    ListedTransaction,
    ListTransactions,
    ListTransactionsResult,
)
from harness.wire.requests.transactions.txn_offset_commit import TxnOffsetCommit

PLACE = ("__consumer_offsets", 7)
INIT = InitProducerIdAsked(id="own", version=4)
OFFSET = TxnOffsetCommitAsked(id="own", version=5, producer_id=0, epoch=0, offset=3)
COMMIT = EndTxnAsked(id="own", version=5, producer_id=0, epoch=0, commit=True)
LIST = ListTransactionsAsked(id="own", version=1, producer_id=0, states=("Empty",))


def identities() -> CellIdentities:
    who = CellIdentities(
        number=1,
        ids={"own": "x"},
        places={"A": ("t", 0), "B": ("t", 1), GROUP: PLACE},
        coordinator_epochs={"own": 4},
        group="g",
    )
    assert who.given(7000, "own") == 0
    return who


def run(*path: ModelRequest, asked: ModelRequest) -> CellRun:
    before = fresh_cluster("A", "B")
    for step in path:
        before = settled(outcomes(before, step, NEWEST)[0].after, NEWEST)
    cell = GridCell(path=path, before=before, asked=asked, state="", request="")
    return CellRun(number=1, cell=cell, who=identities(), profile=NEWEST)


def test_offsets_go_to_the_groups_coordinator_and_are_of_the_first_partition() -> None:
    sent = real_request(OFFSET, identities(), None)
    assert (sent.at, sent.version) == (PLACE, 5)
    assert sent.request == TxnOffsetCommit(
        transactional_id="x", group="g", producer_id=7000, producer_epoch=0, offsets={("t", 0): 3}
    )


def test_a_group_is_added_by_the_coordinator_of_the_id() -> None:
    sent = real_request(AddOffsetsAsked(id="own", version=3, producer_id=0, epoch=0), identities(), None)
    assert sent.at == "x"
    assert sent.request == AddOffsetsToTxn(transactional_id="x", producer_id=7000, producer_epoch=0, group="g")


def test_of_a_list_the_cells_own_id_counts() -> None:
    who = identities()
    assert real_request(LIST, who, None).request == ListTransactions(states=("Empty",), producer_ids=(7000,))
    others = ListedTransaction(transactional_id="y", producer_id=7000, state="Ongoing")
    own = ListedTransaction(transactional_id="x", producer_id=7000, state="Empty")
    shown = ListTransactionsResult(error=0, error_message=None, transactions=[others, own], unknown_states=[])
    assert answer_of(LIST, shown, who) == ModelAnswer(producer_id=0, state="Empty")
    assert answer_of(LIST, replace(shown, transactions=[others]), who) == ModelAnswer()


def test_a_group_is_looked_at_once_something_is_committed_in_it() -> None:
    assert not run(INIT, asked=COMMIT).commits_offsets
    one = run(INIT, asked=OFFSET)
    assert one.commits_offsets
    one.take(INIT, ModelAnswer(producer_id=0, epoch=0))
    assert one.group({PLACE: 2}).settled
    one.take(OFFSET, ModelAnswer())
    looked = one.group({PLACE: 2})
    assert (looked.coordinator, looked.place, looked.settled) == (2, ("t", 0), False)


def test_a_committed_offset_is_read_from_a_record() -> None:
    assert committed_offset(struct.pack(">hqih", 3, 4711, -1, 0)) == 4711


COMMITTED = CellSeen(
    answer=ModelAnswer(producer_id=0, epoch=1),
    ids={"own": SeenId(state="CompleteCommit", producer_id=0, epoch=1)},
    logs={
        GROUP: SeenLog(
            producers=(SeenProducer(producer_id=0, epoch=1, coordinator_epoch=0),),
            entries=(LogEntry(0, 0, sequence=0, offset=3), LogEntry(0, 1, marker=True)),
        )
    },
    groups={GROUP: ShownOffset(offset=3, stable=True)},
)
LOG = COMMITTED.logs[GROUP]
OTHER_OFFSET = structs.replace(LOG.entries[0], offset=4)


def test_what_the_model_says_of_a_group_agrees() -> None:
    assert compare(run(INIT, OFFSET, asked=COMMIT).cell.before, COMMIT, NEWEST, COMMITTED) == ()


@pytest.mark.parametrize(
    ("part", "seen"),
    [
        ("offset of G", replace(COMMITTED, groups={GROUP: ShownOffset(offset=3, stable=False)})),
        ("offset of G", replace(COMMITTED, groups={GROUP: ShownOffset(offset=-1, stable=True)})),
        ("leader of G", replace(COMMITTED, logs={GROUP: replace(LOG, producers=())})),
        ("log of G", replace(COMMITTED, logs={GROUP: replace(LOG, entries=LOG.entries[:1])})),
        ("log of G", replace(COMMITTED, logs={GROUP: replace(LOG, entries=(OTHER_OFFSET, LOG.entries[1]))})),
        ("identity", replace(COMMITTED, answer=ModelAnswer(producer_id=0, epoch=1, state="Empty"))),
    ],
)
def test_a_group_that_is_seen_otherwise_differs_in_one_part(part: str, seen: CellSeen) -> None:
    before = run(INIT, OFFSET, asked=COMMIT).cell.before
    assert {each.part for each in compare(before, COMMIT, NEWEST, seen)} == {part}
