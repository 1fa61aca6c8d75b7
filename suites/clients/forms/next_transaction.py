"""The transaction after the one that is looked at: whether the same instance goes on."""

from harness.contract import Observations, Refusal, habit
from harness.contract.clients.client_doctored import Told, batch, call, frame, with_call
from harness.contract.clients.client_expect import said, succeeded
from harness.evidence.client_evidence import ClientCall
from harness.evidence.requirement_evidence import Evidence
from harness.lab.clients import Application
from harness.lab.clients.client_lab import Settings
from harness.lab.partition import Partition

SHORT: Settings = {"request_timeout_ms": 1_000, "delivery_timeout_ms": 3_000, "block_ms": 6_000}
"""Times of an application whose records or ends are given up."""


def aborted_unless_done(app: Application, ended: ClientCall) -> None:
    """Abort what could not be committed."""
    if not ended.done:
        app.abort(as_=f"abort after {ended.name}")


def next_transaction(app: Application, partition: Partition, value: str, *, step: str = "next") -> ClientCall:
    """Begin one, write a record and commit it."""
    app.begin(as_=f"{step} begin")
    app.produce(partition, value, as_=f"{step} produce")
    return app.commit(as_=f"{step} commit")


def goes_on(seen: Evidence, *, step: str = "next") -> Observations:
    """The next transaction is committed by the same instance: the Java client's way (KIP-691). Else ``stuck``."""
    yield habit(succeeded(said(seen, f"{step} commit"), otherwise="stuck"))


def was_written(seen: Evidence, value: str) -> bool:
    """Whether the library reported the record as written at last: then it was not given up."""
    return any(each.value == value and each.outcome == "done" for call_ in seen.calls for each in call_.deliveries)


def told_next(value: str, *, step: str = "next", by: str = "app", epoch: int = 1, sequence: int = 0) -> list[Told]:
    """By hand: what a client tells that goes on."""
    written = frame("Produce", 12, batch(value, epoch=epoch, sequence=sequence))
    return [
        call("begin", name=f"{step} begin", by=by),
        call("produce", value, name=f"{step} produce", by=by, frames=(written,)),
        call("commit", name=f"{step} commit", by=by),
    ]


def does_not_go_on(good: Evidence, *, step: str = "next", at: str = "P1") -> Refusal:
    """By hand: the last commit is refused, and what it wrote is not shown."""
    value = said(good, f"{step} produce").values[0]
    refused = with_call(good, f"{step} commit", outcome="refused")
    shown = tuple(each for each in good.log(at).committed if each != value)
    return Refusal("stuck", refused.with_log(at, committed=shown))
