"""The contract of the backends that start brokers: no broker goes round a proxy, and every power works.

Needs Java, and once Maven and Go; for containers an engine that answers. Starts clusters of its own.
"""

import gzip
import tarfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeAlias

import psutil
import pytest

from harness.base import wait
from harness.base.user_error import ExitCode, UserError
from harness.cluster import distribution
from harness.cluster.cluster import (
    BreakCode,
    Cluster,
    ClusterOptions,
    FillDisk,
    Kill,
    Pause,
    ReadMetrics,
    RunRelease,
)
from harness.cluster.nodes import java_agents, readiness_probe
from harness.cluster.opening import open_cluster
from harness.cluster.target import Distribution, External, Released, Target
from harness.cluster.topology import BROKERS, CONTROLLER
from suites.selfcheck.fixtures.engines import left_on_engine

pytestmark = pytest.mark.live
LeftOver: TypeAlias = Callable[[], list[str]]

VERSION = "4.3.1"
NO_IDS = """
RULE no producer id is handed out
CLASS kafka.coordinator.transaction.TransactionCoordinator
METHOD handleInitProducerId
AT ENTRY
IF TRUE
DO throw new RuntimeException("broken on purpose")
ENDRULE
"""
SAYS_HELLO = """
RULE a broker says hello
CLASS kafka.server.BrokerServer
METHOD startup
AT EXIT
IF TRUE
DO traceln("the user's agent changed this class")
ENDRULE
"""


def opened(target: Target, run_dir: Path, backend: str, options: ClusterOptions | None = None) -> Cluster:
    """A cluster, without its progress."""
    return open_cluster(
        target, backend=backend, options=options or ClusterOptions(), run_dir=run_dir, progress=lambda _: None
    )


@pytest.fixture(scope="module", params=["process", "docker"])
def backend(request: pytest.FixtureRequest) -> str:
    """Each backend that starts brokers."""
    chosen: str = request.param
    if chosen == "docker":
        left_on_engine()
    return chosen


@pytest.fixture(scope="module")
def cluster(backend: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One cluster for all powers."""
    running = opened(Released(VERSION), tmp_path_factory.mktemp("powers"), backend)
    yield running
    running.close()


def transaction_possible(cluster: Cluster, timeout_seconds: float = 20.0) -> bool:
    """Whether a producer id is handed out, now or soon."""
    observer = cluster.topology.lanes["observer"]

    def handed_out() -> bool:
        found = readiness_probe.coordinator(observer[1], "selfcheck")
        return found is not None and readiness_probe.transaction_possible(observer[found], "selfcheck")

    return wait.elapsed_ms_until(handed_out, timeout_seconds=timeout_seconds) is not None


def test_a_killed_broker_comes_back_with_its_data_and_its_address(cluster: Cluster) -> None:
    assert isinstance(cluster, Kill)
    assert isinstance(cluster, ReadMetrics)
    observer = cluster.topology.lanes["observer"]
    held = cluster.read_metric(2, "kafka.server:type=ReplicaManager,name=PartitionCount", "Value")
    assert held > 0
    cluster.kill(2)
    assert readiness_probe.brokers(observer[2]) is None
    cluster.restart(2)
    assert all(readiness_probe.brokers(observer[broker]) == observer for broker in BROKERS)
    assert cluster.read_metric(2, "kafka.server:type=ReplicaManager,name=PartitionCount", "Value") == held


def test_a_node_goes_on_with_its_data_and_the_jars_that_are_named(cluster: Cluster) -> None:
    assert isinstance(cluster, RunRelease)
    assert isinstance(cluster, ReadMetrics)
    held = cluster.read_metric(2, "kafka.server:type=ReplicaManager,name=PartitionCount", "Value")
    for release, altered in ((VERSION, True), (None, False)):
        cluster.run_release(2, release)
        assert cluster.altered() is altered
        assert cluster.read_metric(2, "kafka.server:type=ReplicaManager,name=PartitionCount", "Value") == held > 0
    with pytest.raises(UserError):
        cluster.run_release(2, "0.0.1")
    observer = cluster.topology.lanes["observer"]
    assert readiness_probe.brokers(observer[2]) == observer, "a release that is not there was not asked for first"


def test_a_broker_whose_disk_is_full_ends_and_comes_back(cluster: Cluster) -> None:
    assert isinstance(cluster, FillDisk)
    assert isinstance(cluster, Kill)
    cluster.fill_disk(3)
    wait.until(lambda: cluster.ended(3), what="the end of the broker", timeout_seconds=30)
    cluster.restart(3)
    observer = cluster.topology.lanes["observer"]
    assert readiness_probe.brokers(observer[3]) == observer


def test_a_killed_controller_comes_back(cluster: Cluster) -> None:
    assert isinstance(cluster, Kill)
    cluster.kill(CONTROLLER)
    cluster.restart(CONTROLLER)
    assert readiness_probe.quorum_leads(cluster.topology.lanes["observer"][1])


def test_a_paused_broker_does_not_answer_until_it_is_resumed(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(cluster, Pause)
    observer = cluster.topology.lanes["observer"]
    cluster.pause(3)
    monkeypatch.setattr(readiness_probe, "ANSWER_SECONDS", 0.3)
    assert readiness_probe.brokers(observer[3]) is None
    monkeypatch.undo()
    cluster.resume(3)
    assert (
        wait.elapsed_ms_until(lambda: readiness_probe.brokers(observer[1]) == observer, timeout_seconds=20) is not None
    )


def test_a_metric_that_is_not_there_is_a_lookup_error(cluster: Cluster) -> None:
    assert isinstance(cluster, ReadMetrics)
    with pytest.raises(LookupError, match="InstanceNotFoundException"):
        cluster.read_metric(1, "kafka.server:type=Nonsense", "Value")


def test_broken_code_is_broken_until_it_is_restored_and_also_after_a_restart(cluster: Cluster) -> None:
    assert isinstance(cluster, BreakCode)
    assert isinstance(cluster, Kill)
    assert transaction_possible(cluster)
    cluster.load_rules(NO_IDS)
    assert not transaction_possible(cluster, timeout_seconds=0.2)
    cluster.kill(1)
    cluster.restart(1)
    assert not transaction_possible(cluster, timeout_seconds=0.2)
    cluster.unload_rules()
    assert transaction_possible(cluster)


@pytest.mark.parametrize(("sound", "wrong"), [("IF TRUE", "IF TRU(E"), ("RULE no", "ROLE no")])
def test_a_rule_that_does_not_apply_raises_bytemans_message(sound: str, wrong: str, cluster: Cluster) -> None:
    assert isinstance(cluster, BreakCode)
    with pytest.raises(RuntimeError, match=r"^broker-1: .*org\.jboss\.byteman"):
        cluster.load_rules(NO_IDS.replace(sound, wrong))
    assert transaction_possible(cluster)


def test_a_rule_that_failed_while_it_ran_raises_when_it_is_taken_out(cluster: Cluster) -> None:
    assert isinstance(cluster, BreakCode)
    cluster.load_rules(NO_IDS.replace("throw new RuntimeException(", "$1.noSuchMethod("))
    assert transaction_possible(cluster)
    with pytest.raises(RuntimeError, match="invalid method noSuchMethod"):
        cluster.unload_rules()


def test_faults_on_links_are_seen_and_healed(cluster: Cluster) -> None:
    links = cluster.links
    assert links is not None
    links.add_toxic("link-1-2", kind="latency", direction="upstream", attributes={"latency": 3_600_000}, name="hold")
    links.disable("lane-victim-3")
    assert links.disturbed() == ["lane-victim-3 disabled", "link-1-2/hold"]
    links.remove_toxic("link-1-2", "hold")
    links.remove_toxic("link-1-2", "hold")
    links.reset()
    assert links.disturbed() == []
    with pytest.raises(LookupError):
        links.disable("link-1-9")


def test_an_external_cluster_is_learnt_from_one_address_and_left_alone(cluster: Cluster, tmp_path: Path) -> None:
    observer = cluster.topology.lanes["observer"]
    external = opened(External((observer[2],)), tmp_path, "external")
    try:
        assert external.topology.brokers == BROKERS
        assert external.topology.lanes["observer"] == observer
        assert external.links is not None
        assert readiness_probe.brokers(external.topology.lanes["victim"][1]) == observer
        assert not isinstance(external, Kill | Pause | ReadMetrics | BreakCode)
    finally:
        external.close()
    assert readiness_probe.brokers(observer[1]) == observer


def has(log: Path, text: str) -> bool:
    """Whether it is in the log, which a thread writes on."""
    return text in log.read_text()


def test_a_second_cluster_with_the_users_agent_from_a_tarball(
    cluster: Cluster, backend: str, tmp_path: Path, left_over: LeftOver
) -> None:
    rules = tmp_path / "hello.btm"
    rules.write_text(SAYS_HELLO)
    options = ClusterOptions(
        jvm_options=(f"-javaagent:{java_agents.jar_of(java_agents.BYTEMAN)}=script:{rules}", "-Xlog:class+load"),
        properties={"transaction.max.timeout.ms": "1234567"},
    )
    second = opened(Distribution(packed(tmp_path)), tmp_path, backend, options)
    try:
        assert second.identity.startswith(f"Kafka {VERSION} ")
        assert readiness_probe.brokers(cluster.topology.lanes["observer"][1]) == cluster.topology.lanes["observer"]
        log = second.logs()["broker-1"]
        for line in ("the user's agent changed this class", "kafka.server.KafkaApis source: shared objects file"):
            wait.until(partial(has, log, line), what=line, timeout_seconds=60, interval_seconds=0.1)
    finally:
        second.close()
    assert left_over() == []


def test_a_broker_that_ends_while_it_starts_gives_the_reason_and_leaves_nothing(
    backend: str, tmp_path: Path, left_over: LeftOver
) -> None:
    with pytest.raises(UserError, match=r"num\.io\.threads") as error:
        opened(Released(VERSION), tmp_path, backend, ClusterOptions(properties={"num.io.threads": "none"}))
    assert error.value.exit is ExitCode.NOT_READY
    assert left_over() == []


@pytest.fixture
def left_over(backend: str) -> LeftOver:
    """What is new since the test began: children of ours, and containers and networks of this machine's runs."""
    before = things(backend)
    return lambda: sorted(things(backend) - before)


def things(backend: str) -> set[str]:
    """Everything that a cluster of ours consists of."""
    children = {str(child.pid) for child in psutil.Process().children(recursive=True)}
    return children | (left_on_engine() if backend == "docker" else set())


def packed(folder: Path) -> Path:
    """A tarball in the official layout, byte for byte the same each time, so that it is unpacked and prepared once."""
    files = distribution.released(Released(VERSION), lambda _: None)
    made = folder / f"kafka_2.13-{VERSION}.tgz"
    with gzip.GzipFile(made, "wb", compresslevel=1, mtime=0) as zipped, tarfile.open(fileobj=zipped, mode="w") as tar:
        for jar in files.jars():
            member = tar.gettarinfo(jar, f"kafka_2.13-{VERSION}/libs/{jar.name}")
            member.mtime = 0
            with jar.open("rb") as content:
                tar.addfile(member, content)
    return made
