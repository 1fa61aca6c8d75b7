"""On a real cluster: a producer whose epoch was forged is one whose epoch was counted up.

Needs Java, and once Maven. Both are brought into the same epochs, do the same, and their records and answers are
compared; what differs by its nature (ids, offsets, times) is left out.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import pytest

from harness.base.json_value import Json
from harness.evidence.requirement_evidence import Step
from harness.lab.lab import Lab
from harness.lab.powers.last_epochs import LAST_EPOCH, LastEpochs
from harness.lab.producer import Producer
from suites.selfcheck.fixtures.live_clients import lab_on, process_cluster

pytestmark = pytest.mark.live

VERSION = "4.3.1"
SMALL = 40
TIMEOUT_MS = 60_000
QUICK_SECONDS = 30.0
"""Counting up takes a minute or two for each id; this is enough on a machine that has other things to do."""
IDS = 4

Way: TypeAlias = Callable[[LastEpochs, Sequence[Producer], int, int], None]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab on a cluster of three brokers."""
    cluster = process_cluster(VERSION, tmp_path_factory.mktemp("epochs"))
    made = lab_on(cluster, "EPOCHS", tmp_path_factory.mktemp("spark"), seed=3)
    yield made
    made.close()
    cluster.close()


def brought(lab: Lab, way: Way, epoch: int) -> Producer:
    """A producer of protocol 2 in that epoch."""
    txn = lab.producer(protocol=2)
    way(LastEpochs(lab.state_log, True), (txn,), epoch, TIMEOUT_MS)
    return txn


def said(txn: Producer, step: Step) -> Mapping[str, Json]:
    """The answer with a producer id that is the producer's own, or another one."""
    fields = dict(step.fields)
    if "producer_id" in fields:
        fields["producer_id"] = "own" if fields["producer_id"] == txn.producer_id else "another"
    return {"error": step.error, **fields}


def done(lab: Lab, txn: Producer, name: str) -> Sequence[Mapping[str, Json]]:
    """What it is answered: a repeated bump, a stale one, a transaction, the next bump."""
    partition, own = lab.partition(name), (txn.producer_id, txn.epoch)
    steps = [txn.init(identity=(own[0], own[1] - back), adopt=False, as_=name, retry=()) for back in (1, 2, 5)]
    steps += [txn.produce(partition, as_=name), txn.end(commit=True, as_=name)]
    steps += [txn.init(identity=(txn.producer_id, txn.epoch), as_=name)]
    ignored = ("base_offset", "partitions", "log_start_offset")
    told = [{key: value for key, value in said(txn, step).items() if key not in ignored} for step in steps]
    return [*told, *kept(lab, txn, own[0])]


def kept(lab: Lab, txn: Producer, own: int) -> Sequence[Mapping[str, Json]]:
    """The records of the id since its last bump into the epoch; ids as its own, another, or none."""
    records = lab.observer.transaction_records(txn.transactional_id, txn.coordinator)
    ids: dict[Json, Json] = {-1: "none", own: "own"}
    shown = []
    for record in records[-6:]:
        assert isinstance(record, dict)
        named = {key: ids.get(value, "another") for key, value in record.items() if key.endswith("producer_id")}
        times = ("transactional_id", "offset", "last_update_ms", "start_ms", "partitions")
        shown.append({**{key: value for key, value in record.items() if key not in times}, **named})
    return shown


def test_forged_and_counted_producers_behave_alike(lab: Lab) -> None:
    forged = brought(lab, LastEpochs.forge, SMALL)
    counted = brought(lab, LastEpochs.count_up, SMALL)
    assert (forged.epoch, counted.epoch) == (SMALL, SMALL)
    answers = done(lab, forged, "forged")
    assert answers == done(lab, counted, "counted")


def test_the_quick_way_serves_many_ids_at_once(lab: Lab) -> None:
    began = time.monotonic()
    made = lab.near_the_end(count=IDS, protocol=2)
    assert time.monotonic() - began < QUICK_SECONDS
    assert [each.epoch for each in made] == [LAST_EPOCH] * IDS
    assert len({each.producer_id for each in made}) == IDS
