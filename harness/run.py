"""The flow, on one page: from a target to a verdict in nine steps.

:func:`examine` takes one requirement through all nine on the session's warm cluster. A :class:`Run` is what lasts for
the session: the cluster, the folder, one clock, one journal, one seed. ``replay``
(:mod:`harness.app.from_folders.replay`) is steps 8 and 9 on a folder from last week.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from threading import Lock

from harness import preflight
from harness.base import wait
from harness.base.clock import RunClock
from harness.base.unprepared import OutOfReach
from harness.base.wait import Patience
from harness.cluster.cluster import Cluster, Links
from harness.cluster.observer_client import observer_client
from harness.cluster.opening import choose_backend, open_cluster, why_not_made
from harness.cluster.run_options import RunOptions
from harness.cluster.target import parse_target
from harness.contract import LiveRefuter, Order, OwnCluster, Requirement, Status, Verdict, judge, without_evidence
from harness.contract.catalogue.known_failures import KnownFailures
from harness.evidence.journal import ExchangeJournal
from harness.evidence.json_codec import to_json
from harness.evidence.requirement_evidence import UNDRAINED, Evidence, LogTruth, NotSeen
from harness.evidence.run_folder import RunFolder
from harness.faults.frame_gate import FrameGate
from harness.faults.gate.gate import open_gate
from harness.faults.gate.reading_lane import open_reading_lane
from harness.kafka.any_broker import AnyBroker
from harness.kafka.belongings import Belongings
from harness.kafka.targets.silent_target import SilentTarget
from harness.kafka.targets.target_features import TargetFeatures, lacking, read_target_features
from harness.lab import Lab, Unprepared
from harness.lab.powers.beyond_requests.made_to_fail import made_to_fail
from harness.spark.readers.spark_readers import Readers
from harness.wire.wire_errors import WireError


@dataclass(slots=True, kw_only=True)
class Run:
    """A session on one target; its cluster is opened at the first requirement and ended by :func:`close`.

    Two clusters are in use where there is another run :func:`beside` it.

    :param wish: What the cluster that is open now was asked to be; None of the common one.
    :param numbers: Of the clusters that are opened, in their order.
    :param gate: For single requests to and within this cluster, once one was asked for.
    :param offered: What the common cluster offers, once it is known.
    :param labs: Those that are connected now.
    """

    options: RunOptions
    folder: RunFolder
    journal: ExchangeJournal
    clock: RunClock = field(default_factory=RunClock)
    cluster: Cluster | None = None
    offer: TargetFeatures | None = None
    wish: OwnCluster | None = None
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    gate: FrameGate | None = None
    gate_lock: Lock = field(default_factory=Lock)
    offered: TargetFeatures | None = None
    known: KnownFailures = field(default_factory=KnownFailures)
    verdicts: list[Verdict] = field(default_factory=list)
    patience: Patience = field(default_factory=Patience)
    silent: SilentTarget = field(default_factory=SilentTarget)
    labs: list[Lab] = field(default_factory=list)
    readers: Readers = field(init=False)
    belongings: Belongings = field(init=False)

    def __post_init__(self) -> None:
        """Spark's readers write into the run's folder; its JVM starts with the first of them."""
        self.belongings = Belongings(permissions=self.options.permissions)
        self.readers = Readers(
            folder=self.folder.path / "spark", progress=self.options.progress, group=self.belongings.name("spark")
        )


def examine(run: Run, requirement: Requirement[Lab], *, refuter: LiveRefuter | None = None) -> Verdict:
    """One requirement from a running cluster to its verdict; with a ``refuter``, on a cluster that must break it."""
    if verdict := untried(run, requirement):
        return publish(run, verdict)
    cluster, offer = open_target(run, requirement.cluster)
    if cluster.owned and requirement.order is Order.HURTS_CLUSTER:
        remove_topics(run, cluster)
    started = time.monotonic()
    with connect(run, cluster, offer, requirement.id) as lab:
        unprepared = drive(lab, requirement, refuter)
        heal(lab)
        settle(lab)
        logs = drain(lab)
    beyond = isinstance(unprepared, OutOfReach) and not cluster.owned  # one of ours must have every power
    reason = None if unprepared is None else str(unprepared)
    evidence = seal(run, name_of(requirement, refuter), lab.evidence(logs, unprepared=reason, out_of_reach=beyond))
    run.silent.look(cluster, run.clock, requirement.id, evidence)
    verdict = judge(requirement, evidence, seconds=time.monotonic() - started)
    return publish(run, verdict)


def untried(run: Run, requirement: Requirement[Lab]) -> Verdict | None:
    """The verdict where the target cannot be made what is asked for, or does not offer it; None where it is tried."""
    if requirement.cluster is not None and (why := cannot_be_made(run.options, requirement.cluster)):
        reason = f"it needs a cluster of its own ({requirement.cluster}), and {why}"
        return without_evidence(requirement, Status.OUT_OF_REACH, reason)
    if missing := lacking(requirement.needs, needed_offer(run, requirement.cluster)):
        return without_evidence(requirement, Status.NOT_OFFERED, missing)
    if silence := run.silent.reason(run.cluster, run.clock):
        return without_evidence(requirement, Status.NOT_EXERCISED, silence)
    return None


def open_target(run: Run, wish: OwnCluster | None = None) -> tuple[Cluster, TargetFeatures]:
    """Step 1: the cluster that is asked for, started at first use and seen to be healthy, and what it offers.

    One that was asked to be otherwise is ended first, so that a run has one cluster up at a time.
    """
    if run.cluster is not None and run.wish != wish:
        end_cluster(run)
    if run.cluster is None:
        run.cluster, run.wish, run.offer, run.patience = start_cluster(run, wish), wish, None, Patience()
        run.readers.reading = open_reading_lane(run.cluster)
    if run.offer is None:
        offer = read_target_features(run.cluster, run.clock, run.journal)
        if wish is None and run.offered is None:
            run.folder.add_to_run(offer.described(run.cluster))
            run.offered = offer
        if not run.cluster.owned:
            with connect(run, run.cluster, offer, preflight.NAME) as lab:
                preflight.require_transactions(lab, offer)
        run.offer = offer
    return run.cluster, run.offer


def remove_topics(run: Run, cluster: Cluster) -> None:
    """Remove what requirements before this one wrote: a broker that starts again loads every log that it has."""
    with closing(observer_client(cluster.topology, run.clock)) as client:
        run.belongings.remove(AnyBroker(client, cluster.topology.brokers), topics=[*run.belongings.topics], groups=[])


def needed_offer(run: Run, wish: OwnCluster | None) -> TargetFeatures:
    """What a requirement's needs are compared with: what its cluster offers, or the common one where that decides."""
    if wish is None or not wish.after_the_target:
        return open_target(run, wish)[1]
    return run.offered or open_target(run)[1]


def cannot_be_made(options: RunOptions, wish: OwnCluster) -> str | None:
    """Why the target cannot be made what a requirement asks for; None when it can."""
    return why_not_made(parse_target(options.target), options.backend, options.cluster.changed(wish))


def start_cluster(run: Run, wish: OwnCluster | None) -> Cluster:
    """The common cluster, or one of the requirement's own; the logs of each lie apart."""
    given, target, number = run.options, parse_target(run.options.target), next(run.numbers)
    choice, first = choose_backend(target, given.backend), wish is None and run.offered is None
    if first:
        given.progress(f"{target} on the {choice.backend} backend ({choice.why}), seed {given.seed.value}")
        run.folder.add_to_run({"backend_why": choice.why})
    else:
        given.progress(f"a cluster of its own: {wish}" if wish else f"one more cluster of {target}")
    return open_cluster(
        target,
        backend=given.backend,
        options=given.cluster if wish is None else given.cluster.changed(wish),
        run_dir=run.folder.path if first else run.folder.path / "clusters" / str(number),
        progress=given.progress,
    )


def gate_of(run: Run, links: Links) -> FrameGate:
    """The gate of the cluster that is open, started at first use, by whichever requirement comes first."""
    with run.gate_lock:
        if run.gate is None:
            run.gate = open_gate(links)
        return run.gate


@contextmanager
def connect(run: Run, cluster: Cluster, offer: TargetFeatures, requirement: str) -> Iterator[Lab]:
    """Step 2: a lab whose clients record into the run's one journal on the run's one clock; healed when it closes."""
    again = sum(verdict.id == requirement for verdict in run.verdicts)  # with refuters: topics need fresh names
    lab = Lab(
        cluster=cluster,
        offered_by=offer.brokers,
        requirement=requirement,
        draw=run.options.seed.stream(f"{requirement}/{again}"),
        clock=run.clock,
        recorder=run.journal,
        readers=run.readers,
        permissions=run.options.permissions,
        patience=run.patience,
        belongings=run.belongings,
        open_gate=lambda: gate_of(run, lab.links),
    )
    run.labs.append(lab)
    try:
        yield lab
    finally:
        heal(lab)
        if not cluster.owned:
            _why_not(lab.tidy)
        run.labs.remove(lab)
        lab.close()
        if lab.spent:
            end_cluster(run)


def drive(lab: Lab, requirement: Requirement[Lab], refuter: LiveRefuter | None = None) -> Exception | None:
    """Step 3: the stimulus; the reason is returned when the situation could not be brought about."""
    with made_to_fail(lab, refuter):
        reason = _why_not(lambda: _stimulate(lab, requirement))
    shared = requirement.beside_others and refuter is None and lab.groups
    assert not shared, f"{requirement.id} uses a group, whose offsets lie beside those of others: order=Order.ALONE"
    undeclared = lab.accessed - set(requirement.access)
    assert not undeclared, f"{requirement.id} does not declare its access: {sorted(undeclared)}"
    return reason


def _stimulate(lab: Lab, requirement: Requirement[Lab]) -> None:
    """Who is alone on a cluster of ours finds it led as at its start, also where load had a broker fenced meanwhile."""
    if lab.cluster.owned and not requirement.beside_others:
        lab.nodes.lead_as_preferred()
    lab.accessed.clear()  # what prepares or breaks the cluster is no wish of the requirement's
    requirement.stimulus(lab)


def heal(lab: Lab) -> None:
    """Step 4: every link and every broker as it was, also after an error; nothing may be left."""
    lab.nodes.heal()
    lab.leave_the_gate()
    if lab.cluster.links is not None and lab.cluster.links.disturbed():
        lab.cluster.links.reset()
        assert not lab.cluster.links.disturbed(), "a toxic survived healing"


def settle(lab: Lab) -> None:
    """Step 5: wait, bounded, until no transaction is open; how long it took (or None: too long) is evidence."""
    started = lab.now()
    settled = list[bool]()
    _why_not(lambda: settled.append(lab.settled()))
    lab.note("settled_ms", round(lab.now() - started, 3) if settled == [True] else None)


def drain(lab: Lab) -> Mapping[str, LogTruth]:
    """Step 6: every partition, raw with control records and as a read_committed client; {} when it cannot be read."""
    logs: dict[str, LogTruth] = {}
    if reason := _why_not(lambda: logs.update(lab.drained())):
        lab.note(UNDRAINED, str(reason))
    return logs


def seal(run: Run, name: str, evidence: Evidence) -> Evidence:
    """Step 7: the evidence on disk, before anyone judges it; from here nothing touches the network."""
    run.folder.write_evidence(name, evidence)
    return evidence


# Step 8 is ``judge`` of harness.contract: pure, the same in replay.


def publish(run: Run, verdict: Verdict) -> Verdict:
    """Step 9: the verdict beside the evidence; the pages are written from the folder when the session ends."""
    verdict = replace(verdict, known_failure=run.known.reasons.get(verdict.id))
    run.folder.append_verdict(to_json(verdict))
    run.verdicts.append(verdict)
    return verdict


def close(run: Run) -> None:
    """End the cluster and the journal; may be called twice. Nothing of ours stays on a cluster that lives on."""
    end_cluster(run)
    run.readers.close()  # after the cluster: should this be cut short, Spark's JVM ends with us anyway
    run.journal.close()


def beside(run: Run) -> Run:
    """A second run of the same session, with a cluster of its own; :func:`close_beside` ends it.

    Folder, journal, clock, verdicts and labs are those of the first.
    """
    made = replace(run, cluster=None, offer=None, wish=None, gate=None, patience=Patience())
    made.readers.folder = run.readers.folder / "beside"
    return made


def handed_on(run: Run, to: Run) -> Run:
    """``to`` with the cluster that ``run`` has open, which is not its own any more; it may be handed back later."""
    to.cluster, to.offer, to.wish, to.gate, to.patience = run.cluster, run.offer, run.wish, run.gate, run.patience
    to.clock, to.numbers, to.offered = run.clock, run.numbers, run.offered
    to.readers, run.readers = run.readers, to.readers
    to.belongings.topics += run.belongings.topics  # what could not be removed is tried again at the end
    to.belongings.groups += run.belongings.groups
    run.belongings.topics.clear()
    run.belongings.groups.clear()
    run.cluster, run.offer, run.gate = None, None, None
    if to.offered is not None and to.cluster is not None and to.wish is None:
        to.folder.add_to_run(to.offered.described(to.cluster))
    return to


def close_beside(second: Run) -> None:
    """End what it does not share."""
    end_cluster(second)
    second.readers.close()


def disconnect(run: Run) -> None:
    """Close the clients of every lab that is connected: what waits for an answer on another thread ends now."""
    for lab in list(run.labs):
        lab.close()


def end_cluster(run: Run) -> None:
    """End the cluster that is open, if any, and its gate."""
    gate, run.gate = run.gate, None
    if gate is not None:
        gate.close()
    cluster, run.cluster, run.offer = run.cluster, None, None
    if cluster is not None:
        if cluster.owned:
            run.belongings.topics.clear()  # they end with it
        else:
            leave(run, cluster)
        cluster.close()


def leave(run: Run, cluster: Cluster) -> None:
    """Remove what no requirement could remove, and tell once what stays."""
    with closing(observer_client(cluster.topology, run.clock)) as client:
        run.belongings.remove_all(AnyBroker(client, cluster.topology.brokers))
    for sentence in run.belongings.left():
        run.options.progress(sentence)


def name_of(requirement: Requirement[Lab], refuter: LiveRefuter | None) -> str:
    """Of the evidence: the id, and behind ``@`` the anomaly that a negative control must show."""
    return requirement.id if refuter is None else f"{requirement.id}@{refuter.anomaly}"


def _why_not(action: Callable[[], object]) -> Exception | None:
    try:
        action()
    except (Unprepared, NotSeen, WireError, wait.TimedOut) as reason:
        return reason
    return None
