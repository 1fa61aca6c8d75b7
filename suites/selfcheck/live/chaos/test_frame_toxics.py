"""Frame toxics on a real cluster: each strikes requests of clients or brokers, heals, heals twice, leaves nothing.

Needs Java, and once Maven and Go. One cluster of 4.3.1 for all, with clients of both protocols at work; and one of
3.5.2, on which a late record must give a transaction that hangs.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from random import Random

import pytest

from harness.base import wait
from harness.base.json_value import Json
from harness.chaos.plan.toxic_catalogue import find_toxics
from harness.clients.wire.wire_adapter import ADAPTERS
from harness.evidence.history.operation import Outcome, Value
from harness.faults.fault_target import FaultTarget
from harness.faults.frame_rule import Rule, Then, When
from harness.faults.frame_toxic import EVERY_ID, FrameToxic, add_rule, lanes_of, links_of
from harness.faults.toxic import ClusterShape, Power, StrikeCount
from harness.wire.requests.log.list_offsets import ListOffsets
from suites.selfcheck.fixtures.live_clients import PARTITIONS, BusyClients, fault_target_with_topic, options

pytestmark = pytest.mark.live

TOPIC, SETTLED = "frames", 20.0
SHAPE = ClusterShape(topics={"accounts": PARTITIONS}, transactional_ids=("teller",))
TOXICS = {name: toxic for name, toxic in find_toxics().items() if toxic.power is Power.FRAMES}
SURE: Mapping[str, Json] = {"transactional_id": EVERY_ID, "percent": 60, "ms": 300, "at_most_ms": 2_000, "every": 2}


@pytest.fixture(scope="module")
def fault_target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultTarget]:
    """One cluster for all toxics."""
    with fault_target_with_topic("4.3.1", tmp_path_factory.mktemp("frames"), TOPIC) as made:
        yield made


@pytest.fixture(scope="module")
def clients(fault_target: FaultTarget) -> Iterator[BusyClients]:
    """Clients at work for the whole time."""
    running = BusyClients(fault_target=fault_target, topic=TOPIC, adapters=ADAPTERS)
    running.begin()
    running.goes_on(2, committed=True)
    yield running
    running.end()


def struck(toxic: FrameToxic, fault_target: FaultTarget, clients: BusyClients, seed: int) -> StrikeCount:
    """Strike while clients are at work; heal, and heal again."""
    drawn = toxic.draw(SHAPE, Random(seed))
    strike = toxic.strike(fault_target, {**drawn, **{key: value for key, value in SURE.items() if key in drawn}})
    with strike as strikes:
        clients.goes_on(4)
    strike.__exit__(None, None, None)
    return strikes


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", TOXICS)
def test_a_toxic_strikes_heals_twice_and_leaves_nothing(
    name: str, seed: int, fault_target: FaultTarget, clients: BusyClients
) -> None:
    toxic = TOXICS[name]
    assert isinstance(toxic, FrameToxic)
    strikes = struck(toxic, fault_target, clients, seed)
    assert strikes.struck > 0, strikes
    assert fault_target.gate.errors() == ()
    assert fault_target.links.disturbed() == []
    clients.goes_on(2, committed=True)


def test_a_rule_that_nothing_fits_strikes_nothing_and_reads_everything(
    fault_target: FaultTarget, clients: BusyClients
) -> None:
    proxies = (*lanes_of(fault_target), *links_of(fault_target))
    when = When(apis=("Produce",), transactional_ids=("nobody",))
    handle = add_rule(fault_target, Rule(name="nobody", proxies=proxies, when=when, then=Then(action="hold")))
    clients.goes_on(2, committed=True)
    report = handle.off()
    assert report.seen > 0
    assert (report.struck, report.unreadable) == (0, 0)


def test_when_all_clients_end_no_transaction_is_left_open(fault_target: FaultTarget, clients: BusyClients) -> None:
    clients.end()
    try:
        for index in range(PARTITIONS):
            wait.until(partial(stable, fault_target, index), what=f"LSO = HW of {index}", timeout_seconds=SETTLED)
    finally:
        clients.begin()  # the other tests come in any order


def test_a_late_record_leaves_a_hanging_transaction_on_an_old_kafka(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with fault_target_with_topic("3.5.2", tmp_path_factory.mktemp("undefended"), TOPIC) as fault_target:
        chosen: Mapping[str, Json] = {
            "transactional_id": "late", "seed": 0, "every": 1, "after_ms": 2_000, "persistent": True, "hang_up": True,
        }  # fmt: skip
        client = ADAPTERS["wire-v1"].open(replace(options(fault_target, "late", "late"), request_ms=5_000))
        assert client.init().done
        client.begin()
        with TOXICS["late-produce"].strike(fault_target, chosen) as strikes:
            assert client.produce(TOPIC, 0, Value(txn=1, ordinal=0, size=1)).outcome is Outcome.UNSURE
            assert client.abort().done
            wait.until(
                lambda: end_offset(fault_target, 0, isolation=0) == 2,
                what="the marker of the abort, and the late record",
                timeout_seconds=SETTLED,
            )
        client.close()
        assert strikes.struck > 0
        assert not stable(fault_target, 0)
        assert end_offset(fault_target, 0, isolation=1) < end_offset(fault_target, 0, isolation=0)


def stable(fault_target: FaultTarget, index: int) -> bool:
    """Whether a partition's last stable offset is its high watermark."""
    return end_offset(fault_target, index, isolation=1) == end_offset(fault_target, index, isolation=0)


def end_offset(fault_target: FaultTarget, index: int, *, isolation: int) -> int:
    """The last stable offset (isolation 1) or the high watermark, by the observer's lane."""
    leader = fault_target.leader(TOPIC, index)
    assert leader is not None
    verb = ListOffsets(topic=TOPIC, partition=index, isolation=isolation)
    return fault_target.client.call(leader, verb).result.offset
