"""What the careless ask of brokers: wrong identities in every moment, and never what spoils their own transactions."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Literal

import pytest

from harness.base.seed import Seed
from harness.clients.client import CallResult
from harness.evidence.history.asked_request import ASKED_APIS, AskedRequest
from harness.evidence.history.operation import Outcome
from harness.evidence.json_codec import from_json
from harness.kafka.retriable import TRANSIENT
from suites.chaos.workloads.careless import NOBODYS, Careless
from suites.selfcheck.chaos.test_actors import Countdown, RecordedActors
from suites.selfcheck.fixtures.fake_client import AskingFakeClient, FakeClient

KNOWN = CallResult(outcome=Outcome.DONE, producer_id=4711, epoch=3)
LATER = CallResult(outcome=Outcome.REFUSED, error=min(TRANSIENT), reason="later")
LOST = CallResult(outcome=Outcome.UNSURE, error=None, reason="no answer")


def played(folder: Path, client: FakeClient, questions: int = 400) -> list[dict[str, object]]:
    """The operations of one role with one client after the other, all of which answer alike."""
    recorded = RecordedActors(folder, make_client=lambda: client)
    role = Careless().roles()[0]
    role.run(recorded.actor(role, {"shared": "shared"}, Countdown(questions)), Seed(3).stream(role.name))
    return recorded.operations()


def request(row: Mapping[str, object]) -> AskedRequest:
    """What was asked."""
    return from_json(AskedRequest, str(row["request"]))


def claim(asked: AskedRequest) -> str:
    """How far an identity is the client's own."""
    identity = asked.producer_id, asked.epoch
    known = {(4711, 3): "own", (4711, 2): "older", (4711, 4): "newer", (4711, -1): "half", (-1, 3): "half"}
    nobodys = {4711 + NOBODYS: "other", 4711 + 2 * NOBODYS: "stranger"}
    return known.get(identity, nobodys.get(asked.producer_id, "none"))


def test_every_request_is_asked_with_every_kind_of_identity(tmp_path: Path) -> None:
    client = AskingFakeClient(answer=KNOWN)
    played(tmp_path, client, 4_000)
    kinds = Counter((asked.api, claim(asked)) for asked, _ in client.asked)
    assert {api for api, _ in kinds} == set(ASKED_APIS)
    assert {kind for _, kind in kinds} == {"own", "older", "newer", "half", "other", "stranger"}
    assert any(asked.transactional_id.endswith("nobody") for asked, _ in client.asked)
    assert any(asked.too_large for asked, _ in client.asked)
    assert any(asked.too_long for asked, _ in client.asked)
    assert any(asked.elsewhere for asked, _ in client.asked)
    partitions = {asked.missing: asked.partition for asked, _ in client.asked if asked.topic}
    assert partitions[True] >= Careless().partitions > partitions[False]


@pytest.mark.parametrize("protocol", ["v1", "v2"])
def test_a_batch_of_no_transaction_is_written_only_where_one_is_open_and_its_end_raises_the_epoch(
    protocol: Literal["v1", "v2"], tmp_path: Path
) -> None:
    written, beside = Counter[object](), 0
    for row in played(tmp_path, AskingFakeClient(answer=KNOWN, protocol=protocol), 2_000):
        if row["verb"] == "begin":
            written.clear()
        elif row["verb"] == "produce":
            written[row["partition"]] += 1
        elif row["verb"] == "ask" and not request(row).transactional:
            assert written[request(row).partition] == request(row).sequence > 0
            beside += 1
    assert (beside > 10) is (protocol == "v2")


def test_no_request_ends_or_enters_a_transaction_that_goes_on(tmp_path: Path) -> None:
    """Between the first record of a transaction and its end, whatever arrives late does no harm."""
    within, inside = set[tuple[str, str]](), False
    for row in played(tmp_path, AskingFakeClient(answer=KNOWN), 4_000):
        inside = row["verb"] in ("begin", "produce") or (inside and row["verb"] == "ask")
        if inside and row["verb"] == "ask" and request(row).transactional:
            within.add((request(row).api, claim(request(row))))
    assert ("AddPartitionsToTxn", "own") in within
    spoil = [("EndTxn", "own"), ("Produce", "own"), ("InitProducerId", "own"), ("InitProducerId", "newer")]
    assert within.isdisjoint(spoil)


@pytest.mark.parametrize(("answer", "retired"), [(LOST, True), (KNOWN, False)], ids=["lost", "known"])
def test_after_a_request_whose_effect_may_come_later_a_successor_goes_on(
    answer: CallResult, retired: bool, tmp_path: Path
) -> None:
    rows = played(tmp_path, AskingFakeClient(answers={"ask": [answer] * 1_000}, answer=KNOWN))
    asks = [place for place, row in enumerate(rows[:-2]) if row["verb"] == "ask"]
    assert asks
    nexts = {str(rows[place + 1]["verb"]) for place in asks}
    assert (nexts <= {"abort", "close"}) is retired


def test_the_leader_that_says_later_may_have_added_the_partition(tmp_path: Path) -> None:
    rows = played(tmp_path, AskingFakeClient(answers={"ask": [LATER] * 1_000}, answer=KNOWN))
    behind = defaultdict[str, set[object]](set)
    for place, row in enumerate(rows[:-2]):
        if row["verb"] == "ask":
            behind[request(row).api].add(rows[place + 1]["verb"])
    assert behind["Produce"]
    assert behind["Produce"] <= {"abort", "close"}
    assert "ask" in behind["DescribeTransactions"]


def test_a_client_that_sends_only_what_it_wants_to_is_asked_for_nothing(tmp_path: Path) -> None:
    rows = played(tmp_path, FakeClient(answer=KNOWN))
    assert "ask" not in {row["verb"] for row in rows}
    assert all(
        rows[place - 1]["verb"] in ("close", "begin")
        for place, row in enumerate(rows)
        if place and row["verb"] == "init"
    )
    assert sum(row["verb"] == "commit" for row in rows) > 5


def test_what_is_wrong_in_one_thing_alone_comes_often(tmp_path: Path) -> None:
    """A request with the client's own identity is refused, if at all, for what else is wrong with it."""
    client = AskingFakeClient(answer=KNOWN)
    played(tmp_path, client, 4_000)
    own = [asked for asked, _ in client.asked if claim(asked) == "own"]
    repeated = sum(one == other and one.api == "InitProducerId" for one, other in pairwise(own))
    large = sum(one.too_large and not one.sequence for one in own)
    missing = sum(one.missing for one in own)
    too_long = sum(one.too_long for one in own)
    assert min(repeated, large, missing, too_long) > len(client.asked) / 100
