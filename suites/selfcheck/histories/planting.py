"""Planting: a sound history is changed as little as can be, so that it has exactly one anomaly, somewhere.

Each plant is one way in which one anomaly comes about. Some anomalies cannot come alone, and their plants say what
else must be named, and why.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from suites.selfcheck.histories import in_identities, in_log, in_readers, in_remains
from suites.selfcheck.histories.synthetic import Synthetic

ALONE = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plant:
    """One way to plant an anomaly.

    :param doctor: Changes the history at a position that ``rng`` chooses; False when there is no such position.
    :param brings: Other anomalies that come with it.
    :param because: Why they must.
    """

    anomaly: str
    doctor: Callable[[Synthetic, Random], bool]
    brings: frozenset[str] = frozenset()
    because: str = ALONE

    @property
    def name(self) -> str:
        """The anomaly and the way."""
        return f"{self.anomaly}/{self.doctor.__name__.replace('_', '-')}"

    @property
    def expected(self) -> frozenset[str]:
        """All that a judge must name, and nothing else."""
        return self.brings | {self.anomaly}


OPEN_BRINGS = frozenset({"hanging-transaction", "stuck-lso"})
OPEN = "what is dirty is the record of an open segment, and one that is open after settling hangs and holds the LSO"
HANGS = "an open segment holds the last stable offset below the high watermark"
ABOVE = "the last stable offset can be above an open segment only while there is one"

PLANTS: tuple[Plant, ...] = (
    Plant(anomaly="unknown-record", doctor=in_log.foreign_record),
    Plant(anomaly="unknown-record", doctor=in_readers.delivers_what_nobody_wrote),
    Plant(anomaly="altered-record", doctor=in_log.another_payload),
    Plant(anomaly="altered-record", doctor=in_log.another_size),
    Plant(anomaly="altered-record", doctor=in_readers.delivers_another_payload),
    Plant(anomaly="dirty-read", doctor=in_readers.delivers_an_open_record, brings=OPEN_BRINGS, because=OPEN),
    Plant(anomaly="aborted-read", doctor=in_readers.delivers_an_aborted_record),
    Plant(anomaly="fenced-but-visible", doctor=in_log.fenced_yet_there),
    Plant(anomaly="fenced-but-visible", doctor=in_log.written_after_a_newer_init),
    Plant(anomaly="fenced-but-acknowledged", doctor=in_identities.fenced_write_is_acknowledged),
    Plant(anomaly="refused-but-visible", doctor=in_log.refused_yet_there),
    Plant(anomaly="leaked-into-next", doctor=in_log.aborted_record_in_a_later_segment),
    Plant(anomaly="resurrected", doctor=in_log.abort_marker_says_commit),
    Plant(anomaly="duplicate", doctor=in_log.appended_twice),
    Plant(anomaly="duplicate", doctor=in_log.input_carried_twice),
    Plant(anomaly="duplicate", doctor=in_readers.delivers_twice),
    Plant(anomaly="reordered", doctor=in_log.two_records_change_places),
    Plant(anomaly="lost-commit", doctor=in_log.all_commit_markers_say_abort),
    Plant(anomaly="lost-commit", doctor=in_log.all_records_gone),
    Plant(anomaly="lost-commit", doctor=in_readers.passes_over_a_transaction),
    Plant(anomaly="torn-transaction", doctor=in_log.some_commit_markers_say_abort),
    Plant(anomaly="torn-transaction", doctor=in_log.some_records_gone),
    Plant(anomaly="torn-transaction", doctor=in_log.unsure_commit_by_half),
    Plant(anomaly="torn-transaction", doctor=in_readers.passes_over_a_record),
    Plant(anomaly="broken-sum", doctor=in_log.amounts_do_not_add_up),
    Plant(anomaly="offsets-without-records", doctor=in_remains.group_is_past_an_input),
    Plant(anomaly="records-without-offsets", doctor=in_remains.group_fell_back),
    Plant(anomaly="epoch-reuse", doctor=in_identities.init_hands_an_epoch_out_again),
    Plant(anomaly="epoch-reuse", doctor=in_identities.end_hands_the_same_epoch_out),
    Plant(anomaly="producer-id-reuse", doctor=in_identities.one_producer_id_for_two),
    Plant(
        anomaly="hanging-transaction",
        doctor=in_remains.late_record_stays_open,
        brings=frozenset({"stuck-lso"}),
        because=HANGS,
    ),
    Plant(
        anomaly="hanging-transaction",
        doctor=in_remains.leader_keeps_an_open_producer,
        brings=frozenset({"stuck-lso"}),
        because="a leader's last stable offset is where the first transaction begins that it keeps",
    ),
    Plant(anomaly="stuck-lso", doctor=in_remains.stable_offset_stays_behind),
    Plant(
        anomaly="wrong-lso",
        doctor=in_remains.stable_offset_above_an_open_record,
        brings=frozenset({"hanging-transaction"}),
        because=ABOVE,
    ),
    Plant(anomaly="wrong-lso", doctor=in_remains.two_answers_disagree),
    Plant(anomaly="unavailable-after-heal", doctor=in_remains.probe_is_not_committed),
    Plant(anomaly="unavailable-after-heal", doctor=in_remains.probe_is_refused),
)
"""Every way; at least one for each anomaly."""
