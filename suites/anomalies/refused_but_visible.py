"""The anomaly ``refused-but-visible``: commits records that it had refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.base.kafka_error import KafkaError
from harness.evidence.anomaly import Anomaly, Plant
from harness.evidence.history.operation import Outcome

if TYPE_CHECKING:
    from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
    from suites.selfcheck.fixtures.stories.story import Story

REFUSALS = (
    KafkaError.MESSAGE_TOO_LARGE,
    KafkaError.NOT_ENOUGH_REPLICAS,
    KafkaError.INVALID_TXN_STATE,
    KafkaError.INVALID_RECORD,
)


def a_write_that_was_refused_for_another_reason_is_there(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1, 2)
    s.produce(1, 0, size=2)
    s.produce(1, 1, size=2, outcome=Outcome.REFUSED, error=KafkaError.MESSAGE_TOO_LARGE, log=True)
    s.commit(1)
    s.end()
    return ["refused-but-visible"]


def refused_yet_there(e: HistoryEditor) -> bool:
    """The producer was refused for another reason, and its record is committed."""
    return e.refuse_one(e.rng.choice(REFUSALS))


ANOMALY = Anomaly(
    name="refused-but-visible",
    order=70,
    definition="the committed log has a record whose produce was refused for another reason",
    phrase="commits records that it had refused",
    stories=(a_write_that_was_refused_for_another_reason_is_there,),
    plants=(Plant(change=refused_yet_there),),
)
