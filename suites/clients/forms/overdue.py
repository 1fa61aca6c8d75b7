"""An application whose transaction outlives its timeout, and what works afterwards (KIP-588)."""

from collections.abc import Sequence
from typing import Literal

from harness.contract.clients.client_doctored import Told, batch, call, frame, of_client
from harness.contract.clients.client_expect import all_said, sent
from harness.contract.clients.error_case import Behaviour
from harness.contract.clients.spoken_stories import OFFERED, started, told
from harness.contract.doctored import PRODUCER, abort, commit, data, log
from harness.evidence.client_evidence import Classification, Frame
from harness.evidence.requirement_evidence import Evidence, NotSeen
from harness.lab.clients import ClientLab
from harness.lab.clients.transact import transact
from harness.lab.powers.timeouts import ROOM_SECONDS, TIMEOUT_MS, cleanup_ms

OVERDUE = "overdue"


def outlive(
    lab: ClientLab, *, protocol: Literal[1] | None = None, ending: Literal["commit", "abort"] = "abort"
) -> None:
    """Write after the coordinator has aborted the transaction, end it, and try another one; then a new instance."""
    partition = lab.partition()
    app = lab.application(protocol=protocol, transaction_timeout_ms=TIMEOUT_MS)
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
    epoch = 1 if new else 0
    fatal = behaves is not Behaviour.ABORTABLE
    ended = not fatal if abort_done is None else abort_done
    version = 12 if new else 11
    calls: list[Told] = [started(2 if new else 1), *told("before", new=new)]
    calls += [
        call("begin", name=f"{OVERDUE} begin"),
        call("produce", "first", name="first", frames=(_produce(version, "first", epoch),)),
        call(
            "produce",
            "late",
            name="late",
            outcome="done" if late_done else "refused",
            says=late,
            code=code,
            type_="ProducerFencedException" if late == "fatal" else "InvalidProducerEpochException",
            frames=(_produce(version, "late", epoch, error=47),),
        ),
        call(
            "abort",
            name=f"{OVERDUE} end",
            outcome="done" if ended else "refused",
            says="fatal",
            code=90,
            type_="ProducerFencedException",
        ),
    ]
    written = [data(PRODUCER, 0, "before P1"), commit(PRODUCER, epoch), data(PRODUCER, epoch, "first")]
    written += [abort(PRODUCER, epoch + 1)]
    if not fatal:
        calls += told("again", new=new, epoch=epoch_after)
        written += [data(PRODUCER, 2, "again P1"), commit(PRODUCER, 3)]
    else:
        calls += [
            call("begin", name="again begin", outcome="refused"),
            call("commit", name="again end", outcome="refused"),
        ]
    if behaves is Behaviour.FATAL:
        calls += told("anew", new=new, epoch=3, by="newer")
        written += [data(PRODUCER, 3, "anew P1"), commit(PRODUCER, 3)]
    return of_client(*calls, logs={"P1": log(*written)}, offered=OFFERED)


def _produce(version: int, value: str, epoch: int, *, error: int = 0) -> Frame:
    return frame("Produce", version, batch(value, epoch=epoch), error=error)
