"""The anomaly ``torn-transaction``: tears transactions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.evidence.anomaly import Anomaly, Plant
from harness.evidence.history.operation import Outcome

if TYPE_CHECKING:
    from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
    from suites.selfcheck.fixtures.stories.story import Story


def an_unsure_commit_is_applied_on_one_partition_only(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1, 2)
    s.produce(1, 0, size=2)
    s.produce(1, 1, size=2, at=1)
    s.commit(1, outcome=Outcome.UNSURE, error=None)
    s.marker("ABORT", 1)
    s.end()
    return ["torn-transaction"]


def an_unsure_produce_may_be_there_or_not(s: Story) -> Sequence[str]:
    s.init()
    for txn, there in ((1, True), (2, False)):
        s.begin(txn, 2)
        s.produce(txn, 0, size=2, payload="money:a:-5")
        s.produce(txn, 1, size=2, payload="money:b:+5", outcome=Outcome.UNSURE, error=None, log=there)
        s.commit(txn)
    s.end()
    return []


def a_promised_record_is_lost(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1, 2)
    s.produce(1, 0, size=2)
    s.produce(1, 1, size=2, at=1, log=False)
    s.commit(1)
    s.whole(2, 0, 1)
    s.end()
    return ["torn-transaction"]


def half_a_transfer_is_lost(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1, 2)
    s.produce(1, 0, size=2, payload="money:a:-5")
    s.produce(1, 1, size=2, payload="money:b:+5", log=False)
    s.commit(1)
    s.end()
    return ["torn-transaction"]


def a_reader_lacks_half_a_transaction(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1, 0, 1)
    s.end()
    s.events["reads"].remove(s.read("wire", 0, s.value(1, 0, 2)))
    return ["torn-transaction"]


def the_log_begins_within_a_batch_that_is_still_sent(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1, 2)
    s.produce(1, 0, size=2)
    s.produce(1, 1, size=2)
    s.commit(1)
    s.end()
    s.change("log", 1, batch_offset=0)
    s.change("partitions", 0, log_start_offset=1)
    for reader in s.readers:  # they came when its first record was deleted
        s.events["reads"].remove(s.read(reader, 0, s.value(1, 0, 2)))
    return []


def a_topic_that_it_wrote_to_was_deleted(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1, 0, 1, 0)
    s.begin(2, 2)
    s.produce(2, 0, size=2)
    s.produce(2, 1, size=2, at=1, outcome=Outcome.UNSURE, error=None)
    s.abort(2)
    s.end()
    s.gone(1)
    return []


def beside_a_topic_that_was_deleted_a_record_is_lost(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1, 3)
    s.produce(1, 0, size=3)
    s.produce(1, 1, size=3, at=1)
    s.produce(1, 2, size=3, at=2, log=False)
    s.commit(1, 0, 1)
    s.whole(2, 0, 2)
    s.end()
    s.gone(1)
    return ["torn-transaction"]


def some_commit_markers_say_abort(e: HistoryEditor) -> bool:
    """A transaction whose commit was done is aborted on some partitions."""
    return e.flip_one(e.sound(), least=2, all_of=False)


def some_records_gone(e: HistoryEditor) -> bool:
    """The log lacks some records of a committed transaction."""
    return e.remove_one(all_of=False)


def unsure_commit_by_half(e: HistoryEditor) -> bool:
    """A transaction whose commit was unsure is committed on some partitions and aborted on others."""
    unsure = [
        txn
        for txn in e.transactions()
        if txn.acknowledged and txn.ended("commit", Outcome.UNSURE) and not e.on_inputs(txn)
    ]
    return e.flip_one(unsure, least=2, all_of=False)


def passes_over_a_record(e: HistoryEditor) -> bool:
    """A reader delivers only some of a committed transaction."""
    return e.pass_over_one(least=2)


ANOMALY = Anomaly(
    name="torn-transaction",
    order=130,
    definition=(
        "the committed log has some but not all of a transaction's promised records, or of the acknowledged ones "
        "of an unsure commit; a reader has some but not all of the records that it owes of a transaction"
    ),
    phrase="tears transactions",
    stories=(
        an_unsure_commit_is_applied_on_one_partition_only,
        an_unsure_produce_may_be_there_or_not,
        a_promised_record_is_lost,
        half_a_transfer_is_lost,
        a_reader_lacks_half_a_transaction,
        the_log_begins_within_a_batch_that_is_still_sent,
        a_topic_that_it_wrote_to_was_deleted,
        beside_a_topic_that_was_deleted_a_record_is_lost,
    ),
    plants=(
        Plant(change=some_commit_markers_say_abort),
        Plant(change=some_records_gone),
        Plant(change=unsure_commit_by_half),
        Plant(change=passes_over_a_record),
    ),
)
