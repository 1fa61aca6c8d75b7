"""A dry run: what a qualification would do to the target, from what requirements declare and what the target shows.

A running cluster is asked what it offers and who its brokers are, nothing else. A cluster that we start is not started.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TextIO

from harness.base.clock import RunClock
from harness.base.paths import ROOT
from harness.cluster.cluster import Cluster, Kill, ReadMetrics, RunTool
from harness.cluster.opening import open_cluster
from harness.cluster.run_options import Permissions, RunOptions
from harness.cluster.target import External, parse_target
from harness.contract import Access, OwnCluster, Requirement
from harness.contract.catalogue.requirement_catalogue import CatalogueEntry
from harness.evidence.recorder import NullRecorder
from harness.kafka.targets.target_features import TargetFeatures, lacking, read_target_features
from harness.lab import Lab
from harness.lab.placement import FREE, PLACED
from harness.report.contract.plan import Plan, PlannedRequirement, print_plan
from harness.report.shared.words import count
from harness.run import cannot_be_made
from harness.wire.requests.cluster.create_topic import CreateTopic
from harness.wire.requests.cluster.delete_topics import DeleteTopics
from harness.wire.requests.groups.delete_groups import DeleteGroups

CHANGES: Mapping[str, str] = {
    ".unverified(": "setting transaction.partition.verification.enable",
    "admin.setting(": "a setting",
    "admin.feature(": "a feature level",
    "levels.ask(": "a feature level",
    "lab.moves.": "another replica of a partition as its leader",
    "write_marker(": "markers written by an operator",
    "write_marker.several(": "markers written by an operator",
    ".grant(": "what users may do",
    'operator("abort"': "markers written by an operator",
}
"""What a requirement's file calls, and what that changes."""
RUN = "<run>"
ONE_BY_ONE = "of the same target, one at a time, some 5 s to start each"


def show_plan(options: RunOptions, entries: Sequence[CatalogueEntry], stream: TextIO) -> None:
    """Print the plan; :raises UserError: when the target cannot be reached."""
    target = parse_target(options.target)
    if not isinstance(target, External):
        print_plan(_plan_of_ours(options, entries), stream)
        return
    with TemporaryDirectory(prefix="fencepost-plan-") as folder:
        cluster = open_cluster(
            target,
            backend=options.backend,
            options=options.cluster,
            run_dir=Path(folder),
            progress=options.progress,
        )
        try:
            offer = read_target_features(cluster, RunClock(), NullRecorder())
            print_plan(plan_for(cluster, offer, options.permissions, entries), stream)
        finally:
            cluster.close()


def plan_for(
    cluster: Cluster, offer: TargetFeatures, permissions: Permissions, entries: Sequence[CatalogueEntry]
) -> Plan:
    """The plan for a running cluster."""
    planned = [_planned(entry, cluster, offer, permissions) for entry in entries]
    return Plan(
        target=cluster.identity,
        created=_created(cluster, offer, permissions),
        requirements=planned,
        notes=tuple(_notes(offer, permissions)),
    )


def changed_by(entry: CatalogueEntry) -> tuple[str, ...]:
    """What a requirement changes beyond its own topics and sets back; () where it declares no such access."""
    if Access.CHANGES not in entry.requirement.access:
        return ()
    text = _with_shared_parts(entry.file)
    return tuple(dict.fromkeys(what for call, what in CHANGES.items() if call in text))


def _with_shared_parts(file: Path) -> str:
    """The file's text, and that of what it shares with other requirements."""
    text = file.read_text(encoding="utf-8")
    shared = re.findall(r"^from (suites\.contract\.[\w.]+) import", text, re.MULTILINE)
    files = (ROOT.joinpath(*module.split(".")).with_suffix(".py") for module in shared)
    return "\n".join([text, *(one.read_text(encoding="utf-8") for one in files)])


def _plan_of_ours(options: RunOptions, entries: Sequence[CatalogueEntry]) -> Plan:
    planned = [_planned_of_ours(entry, options) for entry in entries]
    made = {each.id for each in planned if each.obstacle is None}
    created = {"a cluster": f"{options.target}, started for this run and ended with it; nothing outside it is touched"}
    created |= own_clusters([entry.requirement for entry in entries if entry.requirement.id in made])
    notes = ("What it does not offer is known when it runs.",)
    return Plan(target=options.target, created=created, requirements=planned, notes=notes)


def _planned_of_ours(entry: CatalogueEntry, options: RunOptions) -> PlannedRequirement:
    wish = entry.requirement.cluster
    obstacle = None if wish is None else cannot_be_made(options, wish)
    return PlannedRequirement(id=entry.requirement.id, changes=changed_by(entry), obstacle=obstacle)


def own_clusters(requirements: Iterable[Requirement[Lab]]) -> Mapping[str, str]:
    """How many starts the wishes cost beside the common cluster's, and which they are; {} when there are none."""
    wishes: dict[str, OwnCluster] = {}
    ids: dict[str, list[str]] = {}
    for each in requirements:
        if wish := each.cluster:
            wishes[wish.key] = wish
            ids.setdefault(wish.key, []).append(each.id)
    if not wishes:
        return {}
    told = (f"{wish} ({', '.join(sorted(ids[key]))})" for key, wish in sorted(wishes.items()))
    rows = {f"  cluster {number}": text for number, text in enumerate(told, 1)}
    return {count(len(wishes), "more cluster", "more clusters"): ONE_BY_ONE, **rows}


def _planned(
    entry: CatalogueEntry, cluster: Cluster, offer: TargetFeatures, permissions: Permissions
) -> PlannedRequirement:
    requirement, changes = entry.requirement, changed_by(entry)
    if missing := lacking(requirement.needs, offer):
        return PlannedRequirement(id=requirement.id, changes=changes, obstacle=missing, offered=False)
    obstacle = next(_obstacles(requirement, cluster, permissions), None)
    return PlannedRequirement(id=requirement.id, changes=changes, obstacle=obstacle)


def _obstacles(requirement: Requirement[Lab], cluster: Cluster, permissions: Permissions) -> Iterator[str]:
    if requirement.cluster is not None:
        yield "it asks for a cluster of its own"
    given = {
        Access.CHANGES: (permissions.changes, "it changes the cluster, which needs --allow-changes"),
        Access.LOAD: (permissions.load, "it uses up the epochs of a producer id, which needs --allow-load"),
        Access.LINKS: (bool(cluster.topology.links), "no proxies stand between these brokers"),
        Access.BROKERS: (len(cluster.topology.brokers) > 1, "the cluster has one broker"),
        Access.METRICS: (isinstance(cluster, ReadMetrics), "the metrics of its brokers cannot be read"),
        Access.TOOL: (isinstance(cluster, RunTool), "its command line tools are not at hand"),
        Access.NODES: (isinstance(cluster, Kill), "its brokers are not ours to stop"),
        Access.LANES: (bool(cluster.topology.lane_proxies), "no proxies stand between clients and this cluster"),
    }
    yield from (obstacle for access, (there, obstacle) in given.items() if access in requirement.access and not there)


def _created(cluster: Cluster, offer: TargetFeatures, permissions: Permissions) -> Mapping[str, str]:
    """By kind; how many there are of each only the requirements themselves find out."""
    prefix = f"{permissions.prefix}{RUN}-<requirement>"
    several = len(cluster.topology.brokers) > 1
    free = f" ({max(FREE, len(cluster.topology.brokers) + 1)} where assignments are refused)" if several else ""
    topics = f"{prefix}-<partition>-<number>, {PLACED} partitions each{free}, one to nine a requirement"
    if permissions.topics:
        topics = f"none; records are written to {', '.join(permissions.topics)}, and stay there"
    elif CreateTopic.api not in offer.apis:
        topics += "; by asking for them, because CreateTopics is not offered"
    return {
        "topics": topics + _end(DeleteTopics.api, offer, bool(permissions.topics)),
        "groups": f"{prefix}-group-<number>" + _end(DeleteGroups.api, offer, False),
        "transactional ids": f"{prefix}-<lane>-<number>; they stay until the cluster forgets them",
    }


def _end(api: str, offer: TargetFeatures, given: bool) -> str:
    if given:
        return ""
    return "; removed at the end" if api in offer.apis else f"; they stay, because {api} is not offered"


def _notes(offer: TargetFeatures, permissions: Permissions) -> Iterator[str]:
    yield f"{RUN} is drawn for each run; everything of ours begins with {permissions.prefix}"
    looks = [api for api in ("DescribeTransactions", "DescribeProducers") if api not in offer.apis]
    if looks:
        yield f"{' and '.join(looks)}: not offered, so answers and logs alone are the evidence"
