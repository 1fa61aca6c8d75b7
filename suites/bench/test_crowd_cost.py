"""What a committed transaction costs the harness: CPU time of this process, of crowds and of a client that waits.

They write to a kfake, which is a process of its own. A plain crowd writes the transactions of the client that waits,
one with drawn habits three times as many records. Columns are CPU for the same number of committed transactions.
"""

import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from harness.base.clock import RunClock
from harness.chaos.plan.crowd import HABITS, Crowd
from harness.clients.client import ClientOptions
from harness.clients.recording_client import RecordingClient
from harness.clients.wire.wire_adapter import ADAPTERS
from harness.evidence.history.history_journal import HistoryJournal
from suites.selfcheck.fixtures.kfake_crowd import WORKLOAD, KfakeBrokers, kfake_brokers, play_until_committed

TRANSACTIONS = 600
PACE = 1e6
NUMBERS = count(1)


@pytest.fixture(scope="module")
def brokers() -> Iterator[KfakeBrokers]:
    """Brokers that have seen a crowd already: loading schemas is not what is measured."""
    with kfake_brokers() as made:
        yield made


@pytest.mark.benchmark(group=f"CPU of the harness for {TRANSACTIONS} committed transactions", timer=time.process_time)
@pytest.mark.parametrize("habits", ["plain", "drawn"])
def test_a_crowd(
    benchmark: BenchmarkFixture,
    brokers: KfakeBrokers,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    habits: str,
) -> None:
    played = []
    if habits == "plain":
        monkeypatch.setattr("harness.chaos.play.round_crowd.drawn_habits", lambda _: (habits, HABITS[habits][1]))

    def play() -> None:
        number = next(NUMBERS)
        crowd = brokers.crowd(Crowd(together=(0,), per_second=PACE), tmp_path / str(number), prefix=f"c{number}-")
        play_until_committed(crowd, TRANSACTIONS)
        played.append(crowd)

    benchmark.pedantic(play, rounds=3, warmup_rounds=1)
    assert all(sum(seat.committed for seat in crowd.seats) >= TRANSACTIONS for crowd in played)


@pytest.mark.benchmark(group=f"CPU of the harness for {TRANSACTIONS} committed transactions", timer=time.process_time)
def test_a_client_that_waits(benchmark: BenchmarkFixture, brokers: KfakeBrokers, tmp_path: Path) -> None:
    history_journal, draw = HistoryJournal(tmp_path), Random(7)
    transactional_id = f"alone-{next(NUMBERS)}"
    options = ClientOptions(
        actor="alone",
        lane="victim",
        bootstrap={node: str(address) for node, address in brokers.addresses.items()},
        transactional_id=transactional_id,
    )
    client = RecordingClient(
        client=ADAPTERS["wire-v2"].open(options),
        actor="alone",
        transactional_id=transactional_id,
        clock=RunClock(),
        history_journal=history_journal,
    )
    assert client.init().done

    def play() -> None:
        for _ in range(TRANSACTIONS):
            transact(client, draw)

    benchmark.pedantic(play, rounds=3, warmup_rounds=1)
    client.close()
    history_journal.close()


def transact(client: RecordingClient, draw: Random) -> None:
    """One record after the other, as a plain seat of a crowd draws them."""
    records, _ = WORKLOAD.crowd_transaction(draw, draw.randint(*HABITS["plain"][1].records))
    client.begin(next(NUMBERS), len(records))
    assert all(client.produce(record.topic, record.partition, record.payload).done for record in records)
    assert client.commit().done
