"""Evidence by hand of error cases: a client that behaved in one way, so that controls of a table need no lines each."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from harness.contract.clients.client_doctored import Told, batch, call, frame, of_client
from harness.contract.clients.error_case import Behaviour, ErrorCase
from harness.contract.doctored import abort, commit, data, log
from harness.contract.requirement import Refusal
from harness.evidence.client_evidence import CallOutcome, Classification, Frame
from harness.evidence.requirement_evidence import Batch, Evidence

WITH_RECORDS = ("Produce", "AddPartitionsToTxn")
"""Whose errors are the record's."""
OLD_VERSION = 5
JAVA = ("java", "4.3.1")
SAYS: dict[Behaviour, Classification] = {Behaviour.ABORTABLE: "abortable", Behaviour.FATAL: "fatal"}
"""What a library with classes says that behaves so."""


def story(cases: Sequence[ErrorCase], **behaved: Behaviour) -> Evidence:
    """Every case by a client that behaves as the first of what is expected.

    :param behaved: Another behaviour in one case, by its name with ``_`` for blanks (``Produce_47``).
    """
    told: list[Told] = []
    written: list[Batch] = []
    for case in cases:
        how = behaved.get(case.name.replace(" ", "_"), case.expected(*JAVA)[0])
        told += _calls(case, how)
        written += _written(case, how)
    return of_client(*told, logs={"P1": log(*written)})


def refusals(cases: Sequence[ErrorCase]) -> tuple[Refusal, ...]:
    """Doctored evidence with each anomaly that a table of these cases can have."""
    good, found = story(cases), list[Refusal]()
    for case in cases:
        expected = case.expected(*JAVA)
        other = next(one for one in (Behaviour.ABORTABLE, Behaviour.FATAL, Behaviour.RETRIED) if one not in expected)
        told = with_class(story(cases, **{case.name.replace(" ", "_"): other}), case, other)
        found.append(Refusal(f"not-{expected[0]}", told))
        found.append(Refusal("stuck", story(cases, **{case.name.replace(" ", "_"): Behaviour.STUCK})))
        if expected[0] in SAYS:
            wrong: Classification = "fatal" if expected[0] is Behaviour.ABORTABLE else "abortable"
            found.append(Refusal("class-is-not-so", with_class(good, case, expected[0], says=wrong)))
        if case.bumps and expected[0] is Behaviour.ABORTABLE:
            found.append(Refusal("no-epoch-bump", _without_bump(good)))
    return *_first_of_each(found), *unlike_the_log(good)


def with_class(
    evidence: Evidence, case: ErrorCase, behaved: Behaviour, *, says: Classification | None = None
) -> Evidence:
    """The error's class is the one of that behaviour, or another one."""
    given = says or SAYS.get(behaved)
    calls = tuple(
        replace(each, error=replace(each.error, classification=given))
        if each.error is not None and each.name.startswith(case.step(""))
        else each
        for each in evidence.calls
    )
    return replace(evidence, calls=calls)


def _first_of_each(found: Sequence[Refusal]) -> list[Refusal]:
    """One for each anomaly: the cases of a table are alike."""
    return list({refusal.anomaly: refusal for refusal in reversed(found)}.values())


def unlike_the_log(good: Evidence) -> list[Refusal]:
    """The client said something else than what is in the log."""
    committed = good.log("P1").committed
    twice = good.with_log("P1", committed=(*committed, committed[-1]))
    found = [Refusal("written-twice", twice), Refusal("lost", good.with_log("P1", committed=()))]
    aborted = {call.name.split(":")[0] for call in good.calls if call.call == "abort" and call.done}
    wrote = next((call for call in good.calls if call.values and call.name.split(": ") in _produced(aborted)), None)
    if wrote is not None:
        found.append(Refusal("aborted-is-shown", good.with_log("P1", committed=(*committed, *wrote.values))))
    return found


def _produced(cases: Iterable[str]) -> list[list[str]]:
    """The names of these cases' first records."""
    return [[case, "produce"] for case in cases]


def _without_bump(good: Evidence) -> Evidence:
    frames = tuple(
        replace(each, epoch=0, producer_id=7, batches=tuple(replace(batch, epoch=0) for batch in each.batches))
        if each.api == "Produce" and each.answered_by == "broker"
        else each
        for each in good.frames
    )
    return replace(good, frames=frames)


def _struck(case: ErrorCase, value: str) -> Frame:
    batches = (batch(value),) if case.api == "Produce" else ()
    version = max(OLD_VERSION, case.lowest)
    return frame(case.api, version, *batches, error=case.error, by_gate=True, epoch=-1 if case.at_init else 0)


def _calls(case: ErrorCase, how: Behaviour) -> list[Told]:
    if case.at_init:
        return _init_calls(case, how)
    value, failing = f"{case.name} a", how is not Behaviour.RETRIED
    steps = ["produce", *(["send_offsets"] if case.of_offsets else []), case.ending]
    fails_at = "produce" if case.api in WITH_RECORDS else "send_offsets" if case.of_offsets else case.ending
    made = [call("begin", name=case.step("begin"))]
    if case.second:
        made.append(call("produce", f"{case.name} first", name=case.step("produce first")))
    for step in steps:
        values, frames = (value,) if step == "produce" else (), (_struck(case, value),) if step == fails_at else ()
        late = failing and steps.index(step) >= steps.index(fails_at)
        outcome: CallOutcome = "refused" if late else "done"
        made.append(call(step, *values, name=case.step(step), outcome=outcome, says=SAYS.get(how), frames=frames))
    if not failing:
        return made
    aborted: CallOutcome = "done" if how is Behaviour.ABORTABLE else "refused"
    return [
        *made,
        call("abort", name=case.step("abort after"), outcome=aborted, says=SAYS.get(how)),
        *_later(case, how),
    ]


def _init_calls(case: ErrorCase, how: Behaviour) -> list[Told]:
    says = SAYS.get(how)
    struck = (_struck(case, ""),)
    if how is Behaviour.RETRIED:
        return [call("init", name=case.step("init"), frames=struck), *_transaction(case, "first", done=True)]
    return [
        call("init", name=case.step("init"), outcome="refused", says=says, frames=struck),
        *_later(case, how),
    ]


def _later(case: ErrorCase, how: Behaviour) -> list[Told]:
    """The transaction afterwards, and a new instance's where this one is over."""
    if how is Behaviour.ABORTABLE:
        return _transaction(case, "again", done=True)
    anew = [call("init", name=case.step("anew init"), by="newer")]
    return [
        *_transaction(case, "again", done=False),
        *anew,
        *_transaction(case, "anew", done=how is Behaviour.FATAL, by="newer"),
    ]


def _transaction(case: ErrorCase, which: str, *, done: bool, by: str = "app") -> list[Told]:
    outcome, value = "done" if done else "refused", f"{case.name} {which}"
    frames = (frame("Produce", 12, batch(value, epoch=1)),) if done else ()
    return [
        call("begin", name=case.step(f"{which} begin"), by=by, outcome=outcome),  # type: ignore[arg-type]
        call("produce", value, name=case.step(f"{which} produce"), by=by, outcome=outcome, frames=frames),  # type: ignore[arg-type]
        call("commit", name=case.step(f"{which} commit"), by=by, outcome=outcome),  # type: ignore[arg-type]
    ]


def _written(case: ErrorCase, how: Behaviour) -> list[Batch]:
    """The log of a client that behaves so: what it committed, and an abort of what was written and failed."""
    began = [data(7, 0, f"{case.name} first")] if case.second else []
    wrote = began if case.api in WITH_RECORDS else [*began, data(7, 0, f"{case.name} a")]
    if how is Behaviour.RETRIED:
        name = "first" if case.at_init else "a"
        return [*began, data(7, 0, f"{case.name} {name}"), abort(7, 0) if case.ending == "abort" else commit(7, 0)]
    failed = [*wrote, abort(7, 0)] if wrote and not case.at_init else []
    which = {Behaviour.ABORTABLE: "again", Behaviour.FATAL: "anew"}.get(how)
    return failed + ([data(7, 1, f"{case.name} {which}"), commit(7, 1)] if which else [])
