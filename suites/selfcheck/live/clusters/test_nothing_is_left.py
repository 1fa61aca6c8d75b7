"""On a cluster that lives on nothing of ours is left, however a run ends, and nothing of theirs is touched (kfake)."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from harness.base import wait
from harness.base.addresses import Address
from harness.base.clock import RunClock
from harness.base.user_error import ExitCode
from harness.cluster.run_options import PREFIX
from harness.evidence.recorder import NullRecorder
from harness.kafka.any_broker import AnyBroker
from harness.kafka.topics import Topics
from harness.wire.codec.request_builder import request
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.requests.cluster.metadata import Metadata
from harness.wire.requests.log.list_offsets import ListOffsets
from harness.wire.wire_client import WireClient
from suites.selfcheck.fixtures.command import fencepost
from suites.selfcheck.fixtures.kfake_server import kfake, require_kfake

pytestmark = pytest.mark.live
THEIRS, OTHERS = "theirs", f"{PREFIX}of-another-run"
THEIR_GROUP, PARTITIONS = "their-group", 12
WITH_GROUP = "KIP890-BUMP-03"
"""A requirement that makes a group and topics."""
KEPT_BY_OFFSETS = ("KIP664-DP-02", "KIP890-RETRY-01")
"""What kfake keeps, by checks that look at offsets."""


@dataclass(frozen=True)
class ListedGroups:
    """The names of all groups that one broker coordinates."""

    error: int
    error_message: str | None
    names: tuple[str, ...]


@dataclass(frozen=True)
class ListGroups:
    """Ask one broker."""

    api: ClassVar[str] = "ListGroups"

    def build(self, version: int) -> Any:
        """Of every state and type."""
        return request(self.api, version)

    def read(self, response: Any) -> ListedGroups:
        """As they come."""
        top = ResponseFields(response)
        return ListedGroups(top.error(), None, tuple(part.text("group_id") for part in top.parts("groups")))


@dataclass(kw_only=True)
class Owned:
    """Somebody's cluster, with a topic and a group of theirs, and a topic of another run of ours."""

    bootstrap: str
    brokers: AnyBroker = field(init=False)
    before: list[int] = field(init=False)

    def __post_init__(self) -> None:
        """What is theirs is made."""
        addresses = dict(enumerate(map(Address.parse, self.bootstrap.split(","))))
        client = WireClient(
            actor="owner", lane="observer", addresses=addresses, clock=RunClock(), recorder=NullRecorder()
        )
        self.brokers = AnyBroker(client, tuple(addresses))
        for name in (THEIRS, OTHERS):
            Topics(self.brokers).create(name, partitions=PARTITIONS)
        self._write()
        self.before = self.ends()
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": THEIR_GROUP})
        consumer.commit(offsets=[TopicPartition(THEIRS, 0, 0)], asynchronous=False)
        consumer.close()

    def _write(self) -> None:
        """Records of theirs in every partition, so that ours do not begin at 0."""
        producer = Producer({"bootstrap.servers": self.bootstrap, "transactional.id": "their-producer"})
        producer.init_transactions()
        producer.begin_transaction()
        for index in range(PARTITIONS):
            for value in range(index + 1):
                producer.produce(THEIRS, f"theirs {value}", partition=index)
        producer.commit_transaction()

    @property
    def topics(self) -> set[str]:
        """All that there are."""
        return set(self.brokers.first(Metadata(topics=None)).topics)

    @property
    def groups(self) -> set[str]:
        """Likewise."""
        return {name for answer in self.brokers.each(ListGroups()).values() for name in answer.names}

    def ends(self) -> list[int]:
        """How much was written to each partition of theirs."""
        layout = Topics(self.brokers).layout(THEIRS)
        assert layout is not None
        asked = {index: ListOffsets(topic=THEIRS, partition=index) for index in sorted(layout.partitions)}
        return [self.brokers.client.call(layout.leader(i), each).result.offset for i, each in asked.items()]

    def untouched(self) -> bool:
        """Whether there is what was there before, and nothing else."""
        return self.topics == {THEIRS, OTHERS} and self.groups == {THEIR_GROUP} and self.ends() == self.before


@pytest.fixture
def owned() -> Iterator[Owned]:
    """Ended with the test."""
    require_kfake()
    with kfake() as bootstrap:
        made = Owned(bootstrap=bootstrap)
        yield made
        made.brokers.client.close()


def test_after_a_run_nothing_of_ours_is_left(owned: Owned, tmp_path: Path) -> None:
    ran = fencepost(
        "qualify", f"external:{owned.bootstrap}", "--select", f"{WITH_GROUP},VERIFY-01", "--report-dir", str(tmp_path)
    )
    names = set(re.findall(rf"{PREFIX}[0-9a-f]{{6}}-[a-z0-9-]+", (tmp_path / "journal.jsonl").read_text()))
    assert any("-group-" in name for name in names), "no group was made, so nothing is shown"
    assert any("-p1-" in name for name in names), "no topic was made, so nothing is shown"
    assert owned.untouched()
    assert len(re.findall(r"transactional ids that begin with fencepost-.* stay", ran.stderr)) == 1


def test_after_an_interrupt_nothing_of_ours_is_left(owned: Owned, tmp_path: Path) -> None:
    words = ("qualify", f"external:{owned.bootstrap}", "--report-dir", str(tmp_path / "run"))
    with (tmp_path / "output").open("w") as output:
        running = subprocess.Popen(
            [sys.executable, "-m", "harness", *words], stdout=output, stderr=output, preexec_fn=_allow_interrupts
        )
    try:
        wait.until(lambda: owned.topics - {THEIRS, OTHERS}, what="a topic of the run", timeout_seconds=60)
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == ExitCode.INTERRUPTED, (tmp_path / "output").read_text()
    finally:
        running.kill()
    assert owned.untouched()


def test_given_topics_are_written_to_and_judged_as_fresh_ones(owned: Owned, tmp_path: Path) -> None:
    words = ("--topics", THEIRS, "--select", ",".join(KEPT_BY_OFFSETS), "--report-dir", str(tmp_path))
    ran = fencepost("qualify", f"external:{owned.bootstrap}", *words)
    verdicts = [json.loads(line) for line in (tmp_path / "verdicts.jsonl").read_text().splitlines()]
    assert {each["id"]: each["status"] for each in verdicts} == dict.fromkeys(KEPT_BY_OFFSETS, "HOLDS")
    assert owned.topics == {THEIRS, OTHERS}
    assert owned.ends() != owned.before
    assert all(now >= before > 0 for now, before in zip(owned.ends(), owned.before, strict=True))
    assert f"what was written to {THEIRS} stays there" in ran.stderr
    assert "still open" not in ran.stderr


def test_a_plan_touches_nothing(owned: Owned) -> None:
    ran = fencepost("qualify", f"external:{owned.bootstrap}", "--plan")
    assert (ran.returncode, owned.untouched()) == (ExitCode.KEPT, True)
    assert "Would be tried: " in ran.stdout


def _allow_interrupts() -> None:
    """A shell's background job is started with SIGINT ignored, and its children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
