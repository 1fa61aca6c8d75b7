"""One error in one answer, and how a client behaves then: the cells of KIP-691's table.

The gate gives the answer in the broker's place, so that nothing happened of what was asked. What the client makes of
it is seen from what works afterwards, whatever the library calls it:

* *retried*: the request is sent again, and the call succeeds;
* *abortable*: the transaction fails, and after ``abort`` the same instance commits another one (*later*: the one after
  that, because the next fails as well and is aborted). Where ``init`` failed, it is called again, first without abort;
* *committed without its record*: the record fails, and the commit is reported as done;
* *fatal*: this instance commits nothing more, and a new one of the same id does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from harness.base.kafka_error import error_name
from harness.contract.clients.client_expect import all_said, as_it_said, sent, told
from harness.contract.expect import NotLooked, Observation, Observations, finding, habit, witness
from harness.contract.requirement import Library
from harness.evidence.client_evidence import ClientCall, Frame
from harness.evidence.requirement_evidence import Evidence, NotSeen


class Behaviour(StrEnum):
    """What works after the error."""

    RETRIED = "retried"
    ABORTABLE = "abortable"
    LATER = "abortable, but the next transaction fails as well"
    IGNORED = "committed without its record"
    FATAL = "fatal"
    STUCK = "stuck"  # not even a new instance commits


CLASSES = {
    "retriable": Behaviour.RETRIED,
    "abortable": Behaviour.ABORTABLE,
    "fatal": Behaviour.FATAL,
    "fenced": Behaviour.FATAL,
}
"""What the library's own class of an error announces."""
TRIED = ("again", "once more")
"""Transactions that the same instance tries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCase:
    """One cell.

    :param api: Whose answer has the error, in Kafka's spelling.
    :param error: Kafka's error code.
    :param behaves: What a client does; several where the source allows each of them.
    :param but: What these libraries, at these versions, do instead; the first that fits counts.
    :param ending: How the transaction is ended in which the error comes.
    :param times: How many answers have the error; None: all, until the transaction is ended.
    :param protocol: 1: the client uses the old transaction protocol; None: what brokers and client agree upon.
    :param of_group: Of FindCoordinator: the group's coordinator is looked for, not that of the transactional id.
    :param second: An earlier record of the transaction is written before the error; of AddPartitionsToTxn, to another
        partition, so that the coordinator has begun the transaction.
    :param also: APIs whose answers have the same error until the transaction has been aborted, as those of a
        coordinator that does not know the producer id.
    :param lowest: The first version of the request that brokers answer so; to an older one they never do.
    :param log_start: Of Produce: where the answer says that the log begins; -1 where its broker does not know.
    :param bumps: Whether the next transaction has another epoch (KIP-360), where it is *abortable*.
    """

    api: str
    error: int
    behaves: tuple[Behaviour, ...]
    but: Sequence[tuple[Library, tuple[Behaviour, ...]]] = ()
    ending: Literal["commit", "abort"] = "commit"
    times: int | None = 1
    protocol: Literal[1] | None = None
    bumps: bool = False
    of_group: bool = False
    second: bool = False
    also: tuple[str, ...] = ()
    lowest: int = 0
    log_start: int = -1

    @property
    def name(self) -> str:
        """What its steps begin with: ``Produce 47``, ``EndTxn 120 at abort``, ``FindCoordinator 30 of a group``."""
        at_abort, of_group = self.ending == "abort", self.of_group
        which = " at abort" * at_abort + " of a group" * of_group + " in the second" * self.second
        return f"{self.api} {self.error}{which}"

    @property
    def at_init(self) -> bool:
        """Whether the error comes while the instance is initialised."""
        return self.api == "InitProducerId" or (self.api == "FindCoordinator" and not self.of_group)

    @property
    def begins_anew(self) -> bool:
        """Whether it needs an instance that has not asked yet: a client keeps a coordinator that it has found."""
        return self.at_init or self.of_group

    @property
    def of_offsets(self) -> bool:
        """Whether the request is sent for offsets of a group alone."""
        return self.of_group or self.api in ("AddOffsetsToTxn", "TxnOffsetCommit")

    @property
    def words(self) -> str:
        """For people: ``PRODUCER_FENCED (90) in EndTxn``."""
        return f"{error_name(self.error)} ({self.error}) in {self.api}"

    def expected(self, library: str, version: str) -> tuple[Behaviour, ...]:
        """What this library does at this version."""
        return next((behaves for of, behaves in self.but if of.holds(library, version)), self.behaves)

    def step(self, what: str) -> str:
        """The name of one of its calls."""
        return f"{self.name}: {what}"


def judged_case(seen: Evidence, case: ErrorCase) -> Observations:
    """How the client behaved, beside what is expected and what the library called it.

    Anomalies: ``not-retried``, ``not-abortable``, ``not-fatal`` (what was expected and did not come),
    ``stuck``, ``no-epoch-bump``, ``class-is-not-so``. Not looked at where the client never sent such a request.
    """
    calls = [call for call in seen.calls if call.name.startswith(case.step(""))]
    if not calls:
        raise NotSeen(f"{case.name} was not tried")
    mine = struck_by(seen, case, calls)
    if not mine:
        yield NotLooked(what=f"{case.api} in {case.name}: the client sent none")
        return
    if mine[0].version < case.lowest:
        yield NotLooked(what=f"{case.name}: to version {mine[0].version} brokers do not answer so")
        return
    behaved = behaviour(seen, case)
    yield from map(habit, _compared(seen, case, behaved, mine, calls))


def struck_by(seen: Evidence, case: ErrorCase, calls: Sequence[ClientCall]) -> Sequence[Frame]:
    """Requests that were answered with the case's error, while these calls of it were made."""
    return [
        frame
        for frame in sent(seen, case.api)
        if frame.answered_by == "gate"
        and case.error in frame.errors
        and calls[0].started <= frame.at <= calls[-1].answered
    ]


def behaviour(seen: Evidence, case: ErrorCase) -> Behaviour:
    """What worked after the error; :raises NotSeen: when that was not tried."""
    first = all_said(seen, case.step("init" if case.at_init else case.ending))
    if first and first[0].done:
        wrote = all_said(seen, case.step("first produce" if case.at_init else "produce"))
        return Behaviour.IGNORED if any(not call.done for call in wrote) else Behaviour.RETRIED
    again = [_committed(seen, case, which) for which in TRIED]
    if any(again):
        return Behaviour.ABORTABLE if again[0] or case.at_init else Behaviour.LATER
    if not all_said(seen, case.step("anew init")):
        raise NotSeen(f"{case.name}: no new instance was tried")
    return Behaviour.FATAL if _committed(seen, case, "anew") else Behaviour.STUCK


def _committed(seen: Evidence, case: ErrorCase, which: str) -> bool:
    """Whether that transaction was committed with its record."""
    steps = ("produce", "commit")
    return all(any(call.done for call in all_said(seen, case.step(f"{which} {step}"))) for step in steps)


def _compared(
    seen: Evidence, case: ErrorCase, behaved: Behaviour, struck: Sequence[Frame], calls: Sequence[ClientCall]
) -> Iterator[Observation]:
    expected = case.expected(str(seen.fact("library")), str(seen.fact("version")))
    words = f"{case.words}: {behaved}"
    if behaved in expected:
        yield witness(words)
    else:
        name = "stuck" if behaved is Behaviour.STUCK else f"not-{expected[0]}"
        yield finding(name, f"{words}; expected {' or '.join(expected)}; {_said(calls)}")
    if case.bumps and behaved is Behaviour.ABORTABLE:
        yield _bumped(seen, case, struck[0])
    yield from _classified(case, behaved, calls)


def _said(calls: Sequence[ClientCall]) -> str:
    return "; ".join(told(call) for call in calls if not call.done) or "no call failed"


def _bumped(seen: Evidence, case: ErrorCase, struck: Frame) -> Observation:
    """The epoch of the next transaction's records, or another producer id (KIP-360, "Simplified error handling")."""
    again = all_said(seen, case.step("again produce"))[0]
    batches = [
        batch
        for frame in sent(seen, "Produce", by=again.application, after=again.started, before=again.answered)
        for batch in frame.batches
    ]
    if not batches:
        raise NotSeen(f"{case.name}: no Produce after the abort")
    before, after = (struck.producer_id, struck.epoch), (batches[0].producer_id, batches[0].epoch)
    what = f"{case.words}: producer id and epoch were {before} and are {after} after the abort"
    return witness(what) if before != after else finding("no-epoch-bump", what)


def _classified(case: ErrorCase, behaved: Behaviour, calls: Sequence[ClientCall]) -> Observations:
    """The library's class of the error announces what works afterwards, where it classifies errors."""
    named = [call for call in calls if call.error is not None and call.error.classification is not None]
    later = tuple(case.step(which) for which in (*TRIED, "anew"))
    early = [call for call in named if not call.name.startswith(later)]
    for call in early[:1]:
        assert call.error is not None
        announced = CLASSES[call.error.classification or "fatal"]
        what = f"{case.words}: {behaved}, and {told(call)}"
        so = (
            announced is behaved
            or Behaviour.RETRIED in (announced, behaved)
            or behaved in (Behaviour.LATER, Behaviour.IGNORED)
        )
        yield witness(what) if so else finding("class-is-not-so", what)


def judged_cases(seen: Evidence, cases: Sequence[ErrorCase]) -> Observations:
    """Every case, and that the log is as the client said; :raises NotSeen: when no case came about."""
    looked = False
    for case in cases:
        for observation in judged_case(seen, case):
            looked = looked or not isinstance(observation, NotLooked)
            yield observation
    if not looked:
        raise NotSeen(f"{cases[0].api}: in no case the client was given the error")
    yield from as_it_said(seen)
