"""The search for an order of one transactional id's requests, which Spark's workers run as well."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import msgspec

from harness.judge.client_trace import NOBODY_STALE, ClientTrace, Row, Window
from harness.judge.stale_brokers import StaleBrokers
from harness.machine.garbage import collect_garbage_rarely
from harness.model.model_requests import DescribeTransactionAsked, ModelAnswer, ModelRequest
from harness.model.model_state import NONE
from harness.model.protocol_profile import ProtocolProfile
from harness.model.traces.trace_check import MOST, Explained, TraceVerdict, check_trace
from harness.model.traces.traced_cluster import UsedId

USED_BEFORE = "used_before"
"""The fact of a run that tells which transactional ids were used before, with their identities."""
TOLD = 10
"""Operations before and with the answer that no order explains."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedId:
    """What came of one id.

    :param twice: Whether one identity was handed out to it twice, which has a name of its own.
    :param detail: Of an answer that no order explains; with its actor, producer id and operations.
    """

    transactional_id: str
    explained: str
    twice: bool
    detail: str | None = None
    actor: str | None = None
    producer_id: int | None = None
    operations: tuple[int, ...] | None = None


SEARCHED = (
    "transactional_id string, explained string, twice boolean, detail string, actor string, producer_id long, "
    "operations array<bigint>"
)
"""The same with Spark's types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderSearch:
    """All that a search needs beside the operations.

    :param produce: The newest version of Produce that the brokers offer. :param repeated: When a proxy sent twice.
    :param stale: Who may not have heard that another one had taken its place.
    :param timeouts: Of transactions, by transactional id; an id that is not here may time out at any time.
    :param expires: Whether ids expire within seconds. :param used: Ids that were used before the history begins.
    :param most: Configurations that are looked at before the search of an id is given up.
    """

    profile: ProtocolProfile
    produce: int
    repeated: Sequence[Window]
    timeouts: Mapping[str, float]
    expires: bool = False
    stale: StaleBrokers = NOBODY_STALE
    used: Mapping[str, UsedId] = field(default_factory=dict)
    most: int = MOST

    def searched(self, name: str, rows: Iterable[Row]) -> SearchedId:
        """Whether an order explains all answers to the clients of one id."""
        trace = ClientTrace.of(name, rows, produce=self.produce, repeated=self.repeated, stale=self.stale)
        timeout_ms = self.timeouts.get(name, 0)
        verdict = check_trace(
            trace.requests,
            self.profile,
            timeout_ms=timeout_ms,
            expires=self.expires,
            used=self.used.get(name),
            missing=frozenset(trace.missing),
            kept=self.stale.keep(name),
            most=self.most,
        )
        twice = len(set(trace.handed_out)) < len(trace.handed_out)
        if verdict.explained is not Explained.NO:
            return SearchedId(transactional_id=name, explained=str(verdict.explained), twice=twice)
        return _unexplained(trace, verdict, twice=twice)

    def as_row(self, name: str, rows: Iterable[str]) -> Mapping[str, Any]:
        """The same for Spark, whose workers begin with Python's own settings; ``rows`` are of JSON."""
        collect_garbage_rarely()
        return asdict(self.searched(name, map(msgspec.json.decode, rows)))


def _unexplained(trace: ClientTrace, verdict: TraceVerdict, *, twice: bool) -> SearchedId:
    last = verdict.prefix[-1]
    assert last.answer is not None, "what is not explained is an answer"
    allowed = " or ".join(sorted(map(_words, verdict.allowed))) or "nothing"
    asked = type(last.request).__name__.removesuffix("Asked")
    told = f"in no order of the unsure requests of {trace.id} is {asked} v{last.request.version} answered "
    numbers = tuple(trace.numbers[one] for one in verdict.prefix[-TOLD:])
    return SearchedId(
        transactional_id=trace.id,
        explained=str(verdict.explained),
        twice=twice,
        detail=f"{told}{_words(last.answer)}, as operation {numbers[-1]} was; allowed: {allowed}",
        actor=last.who,
        producer_id=_producer_of(last.request, last.answer),
        operations=numbers,
    )


def _producer_of(request: ModelRequest, answer: ModelAnswer) -> int:
    named = NONE if isinstance(request, DescribeTransactionAsked) else request.producer_id
    return answer.producer_id if named == NONE else named


def _words(answer: ModelAnswer) -> str:
    return " ".join(_parts(answer))


def _parts(answer: ModelAnswer) -> Iterator[str]:
    yield "success" if answer.accepted else answer.error
    if answer.epoch >= 0:
        yield f"with epoch {answer.epoch}"
