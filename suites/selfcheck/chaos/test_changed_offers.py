"""What brokers advertise after settling is compared with what they did before, by a client with made-up answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from harness.chaos.observe.changed_offers import changed_offers
from harness.evidence.history.changed_offer import ChangedOffer
from harness.kafka.leader_client import LeaderClient
from harness.wire.offered import Offered
from harness.wire.wire_errors import NoAnswer

BEFORE = Offered(
    apis={"EndTxn": (0, 5), "Produce": (3, 13)},
    supported_features={"transaction.version": (0, 2)},
    finalized_features={"transaction.version": 2},
    finalized_features_epoch=7,
)
LOWERED = replace(BEFORE, finalized_features={})


@dataclass
class Advertising:
    """A wire client; each answer is the next of its list, and the last one from then on. None is no answer."""

    answers: list[Offered | None]
    asked: list[int] = field(default_factory=list)

    def refresh(self, node: int, timeout_seconds: float) -> Offered:
        assert timeout_seconds > 0
        self.asked.append(node)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer is None:
            raise NoAnswer("nobody answers")
        return answer


def changed(client: Advertising, within_seconds: float = 0.0) -> Sequence[ChangedOffer]:
    brokers = LeaderClient(client=client, brokers=(1,))  # type: ignore[arg-type]
    return changed_offers(brokers, {1: BEFORE}, within_seconds=within_seconds)


@pytest.mark.parametrize(
    ("change", "what", "told"),
    [
        ({"finalized_features": {}}, "finalized transaction.version", ("2", "nothing")),
        (
            {"supported_features": {"transaction.version": (0, 1)}},
            "supported transaction.version",
            ("0 to 2", "0 to 1"),
        ),
        ({"apis": {"EndTxn": (0, 4), "Produce": (3, 13)}}, "EndTxn", ("0 to 5", "0 to 4")),
        ({"finalized_features": {"transaction.version": 2, "new": 1}}, "finalized new", ("nothing", "1")),
        ({"finalized_features_epoch": 6}, "epoch of the finalized features", ("7", "6")),
    ],
    ids=["a level is gone", "a lower level is supported", "an older version", "a level is new", "an older epoch"],
)
def test_what_is_told_otherwise_is_named(change: Mapping[str, Any], what: str, told: tuple[str, str]) -> None:
    before, after = told
    expected = [ChangedOffer(broker=1, what=what, before=before, after=after)]
    assert changed(Advertising([replace(BEFORE, **change)])) == expected


def test_the_same_levels_in_a_later_epoch_are_no_change() -> None:
    client = Advertising([replace(BEFORE, finalized_features_epoch=8)])
    assert changed(client) == []
    assert client.asked == [1]


def test_a_broker_that_learns_of_the_levels_in_time_has_changed_nothing() -> None:
    client = Advertising([LOWERED, LOWERED, BEFORE])
    assert changed(client, within_seconds=30.0) == []
    assert len(client.asked) == 3


def test_a_broker_that_does_not_answer_tells_nothing() -> None:
    assert changed(Advertising([None])) == []
