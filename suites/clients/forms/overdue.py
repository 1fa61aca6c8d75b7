"""An application whose transaction outlives its timeout, and what works afterwards (KIP-588)."""

from collections.abc import Sequence
from typing import Literal

from harness.contract.clients.client_doctored import Told, batch, call, frame, of_client
from harness.contract.clients.client_expect import all_said, sent
from harness.contract.clients.error_case import Behaviour
from harness.contract.clients.spoken_stories import OFFERED, started, told
from harness.contract.doctored import PRODUCER, abort, commit, data, log
from harness.evidence.client_evidence import CallOutcome, Classification, Frame
from harness.evidence.requirement_evidence import Batch, Evidence, NotSeen
from harness.lab.clients import ClientLab
from harness.lab.clients.client_lab import Settings
from harness.lab.clients.transact import transact
from harness.lab.powers.timeouts import ROOM_SECONDS, TIMEOUT_MS, cleanup_ms

OVERDUE = "overdue"
REFUSED = (("begin", "again begin"), ("commit", "again end"))


TIMES: Settings = {
    "transaction_timeout_ms": TIMEOUT_MS,
    "delivery_timeout_ms": TIMEOUT_MS,
    "request_timeout_ms": TIMEOUT_MS // 2,
}
"""librdkafka wants no time of its own above the transaction's."""


def outlive(
    lab: ClientLab, *, protocol: Literal[1] | None = None, ending: Literal["commit", "abort"] = "abort"
) -> None:
    """Write after the coordinator has aborted the transaction, end it, and try another one; then a new instance."""
    partition = lab.partition()
    app = lab.application(protocol=protocol, **TIMES)
    app.init()
    transact(app, "before", partition)
    app.begin(as_=f"{OVERDUE} begin")
    app.produce(partition, "first", as_="first")
    overdue_ms = TIMEOUT_MS + cleanup_ms(lab.lab, app.coordinator)
    lab.lab.completed(partition, timeout_seconds=overdue_ms / 1000 + ROOM_SECONDS)
    app.produce(partition, "late", as_="late")
    end = app.commit if ending == "commit" else app.abort
    end(as_=f"{OVERDUE} end")
    if not transact(app, "again", partition).done:
        newer = lab.application("newer", same_id=app, protocol=protocol)
        newer.init()
        transact(newer, "anew", partition)


def late_errors(seen: Evidence) -> Sequence[int]:
    """Of the answers to the late record's Produce; :raises NotSeen: when no leader was asked for it."""
    late = all_said(seen, "late")
    frames = sent(seen, "Produce", by="app", after=late[0].started) if late else ()
    codes = [code for frame in frames for code in frame.errors if code]
    if not codes:
        raise NotSeen("no Produce was refused after the timeout")
    return codes


def afterwards(seen: Evidence) -> Behaviour:
    """Whether the same instance committed another transaction, or a new one did."""
    if any(call.done for call in all_said(seen, "again end")):
        return Behaviour.ABORTABLE
    return Behaviour.FATAL if any(call.done for call in all_said(seen, "anew end")) else Behaviour.STUCK


def overdue_story(
    *,
    behaves: Behaviour,
    new: bool = False,
    epoch_after: int = 2,
    late: Classification | None = "abortable",
    code: int = 47,
    late_done: bool = False,
    abort_done: bool | None = None,
) -> Evidence:
    """An application that behaves so; its second transaction is the one that is overdue."""
    epoch, version, fatal = int(new), 12 if new else 11, behaves is not Behaviour.ABORTABLE
    fenced = late == "fatal"
    late_one = call(
        "produce",
        "late",
        name="late",
        outcome="done" if late_done else "refused",
        says=late,
        code=code,
        type_="ProducerFencedException" if fenced else "InvalidProducerEpochException",
        frames=(_produce(version, "late", epoch, error=47),),
    )
    calls = [
        started(2 if new else 1),
        *told("before", new=new),
        call("begin", name=f"{OVERDUE} begin"),
        call("produce", "first", name="first", frames=(_produce(version, "first", epoch),)),
        late_one,
        _end(done=not fatal if abort_done is None else abort_done),
        *_later(behaves, new=new, epoch=epoch_after),
    ]
    return of_client(*calls, logs={"P1": log(*_log(behaves, epoch))}, offered=OFFERED)


def _end(*, done: bool) -> Told:
    outcome: CallOutcome = "done" if done else "refused"
    return call("abort", name=f"{OVERDUE} end", outcome=outcome, says="fatal", code=90, type_="ProducerFencedException")


def _later(behaves: Behaviour, *, new: bool, epoch: int) -> list[Told]:
    if behaves is Behaviour.ABORTABLE:
        return [*told("again", new=new, epoch=epoch)]
    anew = told("anew", new=new, epoch=3, by="newer") if behaves is Behaviour.FATAL else ()
    refused = [call(verb, name=name, outcome="refused") for verb, name in REFUSED]
    return [*refused, *anew]


def _log(behaves: Behaviour, epoch: int) -> list[Batch]:
    written = [data(PRODUCER, 0, "before P1"), commit(PRODUCER, epoch), data(PRODUCER, epoch, "first")]
    written.append(abort(PRODUCER, epoch + 1))
    later = {Behaviour.ABORTABLE: "again P1", Behaviour.FATAL: "anew P1"}.get(behaves)
    return [*written, data(PRODUCER, 3, later), commit(PRODUCER, 3)] if later else written


def _produce(version: int, value: str, epoch: int, *, error: int = 0) -> Frame:
    return frame("Produce", version, batch(value, epoch=epoch), error=error)
