"""Liars on a real cluster: the judge says VIOLATED with the liar's own anomaly, and finds nothing without the liar.

Needs Java, and once Maven and Go. One cluster of 4.3.1 and one Spark JVM for all. Clients and readers use the
``rival`` lane, which the liars falsify; the observer's lane is left alone.
"""

import gc
import itertools
import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from harness.base import wait
from harness.base.addresses import Lane
from harness.base.bound_values import bound
from harness.base.clock import RunClock
from harness.base.paths import ROOT
from harness.chaos.observe.drain import Scope, drain
from harness.clients.recording_client import RecordingClient
from harness.clients.wire.wire_adapter import ADAPTERS
from harness.evidence.history.history_journal import CHAOS_FORMAT, HistoryJournal
from harness.evidence.history.judgement import Judgement
from harness.evidence.status import Status
from harness.faults.fault_target import FaultTarget
from harness.faults.liar import ChaosLiar
from harness.judge import judge
from harness.spark.history.history_frames import open_history
from harness.spark.history.seal import seal
from harness.spark.session.spark_session import SparkHandle, open_session
from harness.wire.requests.log.list_offsets import ListOffsets
from suites.selfcheck.fixtures.live_clients import PARTITIONS, fault_target_with_topic, options
from toxics.liars import (
    forged_acknowledgement,
    forgiven_fencing,
    hide_aborted_list,
    lying_lso,
    swapped_markers,
)

pytestmark = pytest.mark.live

FALSIFIED: Lane = "rival"
SETTLE_SECONDS = 20.0


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkHandle]:
    """One JVM for all judgements."""
    session = open_session(name="liars")
    yield session
    session.close()


@dataclass(slots=True, kw_only=True)
class LiarRun:
    """Workloads that are recorded into one folder, drained once, and judged together."""

    fault_target: FaultTarget
    folder: Path
    history_journal: HistoryJournal
    clock: RunClock = field(default_factory=RunClock)
    topics: list[str] = field(default_factory=list)
    clients: list[RecordingClient] = field(default_factory=list)
    txns: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def read(self, log_lane: Lane) -> None:
        """Drain everything; the readers read on the falsified lane."""
        for client in self.clients:
            client.close()
        lanes = self.fault_target.cluster.topology.lanes
        places = [(topic, index) for topic in self.topics for index in range(PARTITIONS)]
        scope = Scope(partitions=places, broker_addresses=lanes[log_lane], reader_addresses=lanes[FALSIFIED])
        assert drain(scope, self.history_journal, self.clock).notes == []
        self.history_journal.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class LiarWorkload:
    """A short workload on a topic of its own."""

    run: LiarRun
    topic: str

    def client(self, name: str, *, transactional_id: str = "") -> RecordingClient:
        """A client on the falsified lane, initialised."""
        actor, real = f"{self.topic}-{name}", f"{self.topic}-{transactional_id or name}"
        made = RecordingClient(
            client=ADAPTERS["wire-v1"].open(
                replace(
                    options(self.run.fault_target, actor, real, lane=FALSIFIED, request_ms=10_000),
                    timeout_ms=60_000,  # what is left open is still open when all is read
                )
            ),
            actor=actor,
            transactional_id=real,
            clock=self.run.clock,
            history_journal=self.run.history_journal,
        )
        self.run.clients.append(made)
        assert made.init().done
        return made

    def begin(self, client: RecordingClient, size: int) -> None:
        """A transaction with a number of its own."""
        client.begin(next(self.run.txns), size)

    def transact(self, client: RecordingClient, *, commit: bool) -> None:
        """A transaction with a record on every partition."""
        self.begin(client, PARTITIONS)
        for index in range(PARTITIONS):
            assert client.produce(self.topic, index).done
        assert (client.commit() if commit else client.abort()).done

    def settled(self) -> None:
        """Wait until no transaction is open on any partition."""
        wait.until(lambda: all(map(self._stable, range(PARTITIONS))), what="LSO = HW", timeout_seconds=SETTLE_SECONDS)

    def _stable(self, index: int) -> bool:
        fault_target = self.run.fault_target
        leader = fault_target.leader(self.topic, index)
        asked = [ListOffsets(topic=self.topic, partition=index, isolation=isolation) for isolation in (0, 1)]
        assert leader is not None
        high_watermark, stable = (fault_target.client.call(leader, verb).result.offset for verb in asked)
        return stable == high_watermark


def commits_and_aborts(workload: LiarWorkload) -> None:
    """Two transactions that commit and two that abort, alternately."""
    client = workload.client("teller")
    for commit in (True, False, True, False):
        workload.transact(client, commit=commit)
    workload.settled()


def one_producer_each(workload: LiarWorkload) -> None:
    """Transactions that commit and one that aborts, each by a producer of its own."""
    for name, commit in (("a", True), ("b", False), ("c", True)):
        workload.transact(workload.client(name), commit=commit)
    workload.settled()


def left_open(workload: LiarWorkload) -> None:
    """A transaction that commits, and one that stays open."""
    workload.transact(workload.client("teller"), commit=True)
    workload.settled()
    sleeper = workload.client("sleeper")
    workload.begin(sleeper, 2)
    assert sleeper.produce(workload.topic, 0).done


def fenced_in_mid_transaction(workload: LiarWorkload) -> None:
    """A second producer of the same id takes over; the first one writes into another partition, and both commit."""
    zombie = workload.client("zombie", transactional_id="same")
    workload.begin(zombie, 1)
    rival = workload.client("rival", transactional_id="same")
    workload.begin(rival, 1)
    assert rival.produce(workload.topic, 0).done
    zombie.produce(workload.topic, 1)
    zombie.commit()
    assert rival.commit().done
    workload.settled()


@dataclass(frozen=True, slots=True)
class Case:
    """A liar and the workload that shows it.

    :param log_lane: The lane by which the raw log is read and brokers are asked.
    :param besides: Anomalies that the workload itself has, with or without the liar.
    """

    liar: ChaosLiar
    act: Callable[[LiarWorkload], None]
    log_lane: Lane = "observer"
    besides: frozenset[str] = frozenset()


OPEN = frozenset({"hanging-transaction", "stuck-lso"})
CASES = (
    Case(hide_aborted_list.LIAR, commits_and_aborts),
    Case(forged_acknowledgement.LIAR, commits_and_aborts),
    Case(swapped_markers.LIAR, one_producer_each, log_lane=FALSIFIED),
    Case(forgiven_fencing.LIAR, fenced_in_mid_transaction),
    Case(lying_lso.LIAR, left_open, log_lane=FALSIFIED, besides=OPEN),
)


def new_run(fault_target: FaultTarget, folder: Path) -> LiarRun:
    """A run with an empty folder."""
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps({"kind": "chaos", "format": CHAOS_FORMAT}))
    return LiarRun(fault_target=fault_target, folder=folder, history_journal=HistoryJournal(folder / "history"))


def run_case(run: LiarRun, case: Case, topic: str) -> None:
    """Run the case's workload on a new topic."""
    run.fault_target.admin.create_topic(topic, {0: (1, 2, 3), 1: (2, 3, 1), 2: (3, 1, 2)})
    run.topics.append(topic)
    case.act(LiarWorkload(run=run, topic=topic))


def test_every_liar_has_a_case() -> None:
    assert {case.liar for case in CASES} == {liar for _, liar in bound(ROOT / "toxics" / "liars", "LIAR")}


def judged(spark: SparkHandle, folder: Path) -> Judgement:
    """What the judge says of a folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # pyspark leaves collect()'s sockets to the collector
        seal(spark.spark, folder)
        judgement = judge(open_history(spark.spark, folder))
        gc.collect()
        return judgement


@dataclass(frozen=True, slots=True)
class LiarFolders:
    """The folder of each liar, how many messages it changed, and the folder of a run without liars."""

    folders: Mapping[str, Path]
    changed: Mapping[str, int]
    gate_errors: tuple[str, ...]
    sound: Path


@pytest.fixture(scope="module")
def liar_folders(tmp_path_factory: pytest.TempPathFactory) -> LiarFolders:
    """All workloads run on one cluster, which has ended when the judge begins."""
    place = tmp_path_factory.mktemp("liars")
    changed = {}
    with fault_target_with_topic("4.3.1", place, "unused") as fault_target:
        for case in CASES:
            run = new_run(fault_target, place / case.liar.name)
            with case.liar.on_lane(fault_target, FALSIFIED) as handle:
                run_case(run, case, case.liar.name)
                run.read(case.log_lane)
            changed[case.liar.name] = handle.report().struck
        sound = new_run(fault_target, place / "sound")
        for case in CASES:
            run_case(sound, case, f"true-{case.liar.name}")
        sound.read(FALSIFIED)
        return LiarFolders(
            {case.liar.name: place / case.liar.name for case in CASES},
            changed,
            fault_target.gate.errors(),
            sound.folder,
        )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.liar.name)
def test_a_liar_is_violated_with_its_own_anomaly(case: Case, liar_folders: LiarFolders, spark: SparkHandle) -> None:
    assert liar_folders.changed[case.liar.name] > 0
    judgement = judged(spark, liar_folders.folders[case.liar.name])
    assert judgement.status is Status.VIOLATED
    assert set(case.liar.shows) <= judgement.anomalies.keys() <= {*case.liar.shows, *case.besides}, details(judgement)


def test_without_liars_the_same_workloads_are_sound(liar_folders: LiarFolders, spark: SparkHandle) -> None:
    judgement = judged(spark, liar_folders.sound)
    assert judgement.anomalies.keys() == OPEN, details(judgement)
    assert {found.topic for check in judgement.checks for found in check.findings} == {f"true-{lying_lso.LIAR.name}"}


def test_nothing_went_wrong_in_the_gate_itself(liar_folders: LiarFolders) -> None:
    assert liar_folders.gate_errors == ()


def details(judgement: Judgement) -> Mapping[str, list[str]]:
    """The findings in words, for the message of a failure."""
    return {check.name: [found.detail for found in check.findings] for check in judgement.checks if check.findings}
