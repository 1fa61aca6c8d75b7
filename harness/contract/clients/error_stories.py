"""Evidence by hand of error cases: a client that behaved in one way, so that controls of a table need no lines each."""

from collections.abc import Sequence
from dataclasses import replace

from harness.contract.clients.client_doctored import Told, batch, call, frame, of_client
from harness.contract.clients.error_case import Behaviour, ErrorCase
from harness.contract.doctored import abort, commit, data, log
from harness.contract.requirement import Refusal
from harness.evidence.client_evidence import Classification, Frame
from harness.evidence.requirement_evidence import Batch, Evidence

SAYS: dict[Behaviour, Classification] = {Behaviour.ABORTABLE: "abortable", Behaviour.FATAL: "fatal"}
"""What a library with classes says that behaves so."""


def story(cases: Sequence[ErrorCase], **behaved: Behaviour) -> Evidence:
    """Every case by a client that behaves as the first of what is expected.

    :param behaved: Another behaviour in one case, by its name with ``_`` for blanks (``Produce_47``).
    """
    told: list[Told] = []
    written: list[Batch] = []
    for case in cases:
        how = behaved.get(case.name.replace(" ", "_"), case.expected("java", "4.3.1")[0])
        told += _calls(case, how)
        written += _written(case, how)
    return of_client(*told, logs={"P1": log(*written)})


def refusals(cases: Sequence[ErrorCase]) -> tuple[Refusal, ...]:
    """Doctored evidence with each anomaly that a table of these cases can have."""
    good, found = story(cases), list[Refusal]()
    for case in cases:
        expected = case.expected("java", "4.3.1")
        other = next(one for one in (Behaviour.ABORTABLE, Behaviour.FATAL, Behaviour.RETRIED) if one not in expected)
        told = with_class(story(cases, **{case.name.replace(" ", "_"): other}), case, other)
        found.append(Refusal(f"not-{expected[0]}", told))
        found.append(Refusal("stuck", story(cases, **{case.name.replace(" ", "_"): Behaviour.STUCK})))
        if expected[0] in SAYS:
            wrong: Classification = "fatal" if expected[0] is Behaviour.ABORTABLE else "abortable"
            found.append(Refusal("class-is-not-so", with_class(good, case, expected[0], says=wrong)))
        if case.bumps and expected[0] is Behaviour.ABORTABLE:
            found.append(Refusal("no-epoch-bump", _without_bump(good)))
    return *_first_of_each(found), *_unlike_the_log(good)


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


def _unlike_the_log(good: Evidence) -> list[Refusal]:
    """The client said something else than what is in the log."""
    committed = good.log("P1").committed
    ended = next(call for call in good.calls if call.call == "commit" and call.done)
    twice = good.with_log("P1", committed=(*committed, committed[-1]))
    found = [Refusal("written-twice", twice), Refusal("lost", good.with_log("P1", committed=()))]
    wrote = next((call for call in good.calls if call.call == "produce" and not call.done), None)
    aborted = next((call for call in good.calls if call.call == "abort" and call.done), None)
    if aborted is not None and wrote is not None and ended is not None:
        found.append(Refusal("aborted-is-shown", good.with_log("P1", committed=(*committed, *wrote.values))))
    return found


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
    return frame(case.api, 5, *batches, error=case.error, by_gate=True, epoch=0)


def _calls(case: ErrorCase, how: Behaviour) -> list[Told]:
    if case.at_init:
        return _init_calls(case, how)
    says = SAYS.get(how)
    failing, value = how is not Behaviour.RETRIED, f"{case.name} a"
    fails_at = "produce" if case.api in ("Produce", "AddPartitionsToTxn") else case.ending
    produced = failing and fails_at == "produce"
    struck = (_struck(case, value),)
    made = [
        call("begin", name=case.step("begin")),
        call(
            "produce",
            value,
            name=case.step("produce"),
            outcome="refused" if produced else "done",
            says=says,
            frames=struck if fails_at == "produce" else (),
        ),
        call(
            case.ending,
            name=case.step(case.ending),
            outcome="refused" if failing else "done",
            says=says,
            frames=struck if fails_at != "produce" else (),
        ),
    ]
    if not failing:
        return made
    aborted = how is Behaviour.ABORTABLE
    outcome = "done" if aborted else "refused"
    made.append(call("abort", name=case.step("abort after"), outcome=outcome, says=says))  # type: ignore[arg-type]
    return made + _later(case, how)


def _init_calls(case: ErrorCase, how: Behaviour) -> list[Told]:
    says = SAYS.get(how)
    struck = (frame(case.api, 5, error=case.error, by_gate=True, epoch=-1),)
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
    first = [data(7, 0, f"{case.name} a")]
    if how is Behaviour.RETRIED:
        name = "first" if case.at_init else "a"
        return [data(7, 0, f"{case.name} {name}"), commit(7, 0)]
    failed = [*first, abort(7, 0)] if case.api == "EndTxn" else []
    which = {Behaviour.ABORTABLE: "again", Behaviour.FATAL: "anew"}.get(how)
    return failed + ([data(7, 1, f"{case.name} {which}"), commit(7, 1)] if which else [])
