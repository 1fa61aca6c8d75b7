"""Records that are in the log while the client has not learned so: what it sends again."""

from harness.contract import NotSeen, Observations, finding, habit, witness
from harness.contract.clients.client_expect import during, said, succeeded
from harness.evidence.requirement_evidence import Evidence


def sent_again(seen: Evidence, step: str, *, error: int | None = None) -> Observations:
    """The batch of that produce is sent again with its producer id, epoch and sequence, and then it is done.

    Java's way; a client that does not may still be right, which the log shows. Anomalies: ``not-retried``,
    ``another-sequence``.

    :param error: What the first try was answered with; None: nothing.
    """
    call = said(seen, step)
    frames = [frame for frame in during(seen, call, "Produce") if frame.batches]
    if not frames or (frames[0].error != error and error not in frames[0].errors):
        raise NotSeen(f"no answer of {step!r} was lost")
    if len(frames) == 1:
        yield habit(finding("not-retried", f"{step}: one Produce was sent"))
        return
    tries = {(batch.producer_id, batch.epoch, batch.base_sequence) for frame in frames for batch in frame.batches[:1]}
    what = f"{step}: {len(frames)} Produce with producer id, epoch and sequence {sorted(tries)}"
    yield witness(what) if len(tries) == 1 else habit(finding("another-sequence", what))
    yield habit(succeeded(call, otherwise="not-retried"))
