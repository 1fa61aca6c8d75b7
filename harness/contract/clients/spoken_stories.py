"""Evidence by hand of transactions in one of the two protocols, for controls of promises about versions."""

from typing import Literal

from harness.base.json_value import Json
from harness.contract.clients.client_doctored import Told, batch, call, frame
from harness.contract.clients.spoken import FEATURE
from harness.contract.doctored import PRODUCER, abort, commit, data
from harness.evidence.client_evidence import Frame
from harness.evidence.requirement_evidence import Batch

OFFERED: Json = {
    "1": {
        "ApiVersions": [0, 4],
        "InitProducerId": [0, 6],
        "AddPartitionsToTxn": [0, 5],
        "AddOffsetsToTxn": [0, 4],
        "Produce": [0, 13],
        "TxnOffsetCommit": [0, 5],
        "EndTxn": [0, 5],
    }
}
"""The fact of what a broker advertises."""


def shown_level(level: int, *, epoch: int = 10, node: int = 1) -> Frame:
    """An ApiVersions answer that shows ``transaction.version``."""
    levels: Json = {FEATURE: level} if level else {}
    return frame("ApiVersions", 4, node=node, answer={"finalized_features": levels, "finalized_features_epoch": epoch})


def started(level: int = 2, *, by: str = "app") -> Told:
    """``init``, before which the level is shown."""
    return call("init", by=by, frames=(shown_level(level), frame("InitProducerId", 5)))


def begin(name: str, *, by: str = "app", frames: tuple[Frame, ...] = ()) -> Told:
    """The beginning."""
    return call("begin", name=f"{name} begin", by=by, frames=frames)


def write(name: str, *, new: bool, epoch: int, by: str = "app", value: str = "", more: tuple[Frame, ...] = ()) -> Told:
    """A record, in one of the protocols."""
    added = () if new else (frame("AddPartitionsToTxn", 3, epoch=epoch),)
    sent = frame("Produce", 12 if new else 11, batch(value, epoch=epoch))
    return call("produce", value or f"{name} P1", name=f"{name} produce", by=by, frames=(*more, *added, sent))


def end(name: str, *, new: bool, epoch: int, by: str = "app", ending: Literal["commit", "abort"] = "commit") -> Told:
    """The end, in one of the protocols."""
    sent = frame("EndTxn", 5 if new else 4, epoch=epoch, committed=ending == "commit")
    return call(ending, name=f"{name} end", by=by, frames=(sent,))


def told(
    name: str,
    *,
    new: bool,
    epoch: int = 0,
    by: str = "app",
    ending: Literal["commit", "abort"] = "commit",
    offsets: bool = False,
) -> tuple[Told, ...]:
    """A whole transaction, as ``transact`` names it."""
    added = () if new else (frame("AddOffsetsToTxn", 4, epoch=epoch),)
    sent = (*added, frame("TxnOffsetCommit", 5 if new else 4, epoch=epoch))
    offered = (call("send_offsets", name=f"{name} offsets", by=by, frames=sent),) if offsets else ()
    return (
        begin(name, by=by),
        write(name, new=new, epoch=epoch, by=by),
        *offered,
        end(name, new=new, epoch=epoch, by=by, ending=ending),
    )


def logged(*names: str, new: bool, epoch: int = 0, aborted: bool = False) -> list[Batch]:
    """What these transactions leave in the log, each with an epoch of its own in the new protocol."""
    found: list[Batch] = []
    for number, name in enumerate(names):
        own = epoch + number * new
        marker = abort(PRODUCER, own + new) if aborted else commit(PRODUCER, own + new)
        found += [data(PRODUCER, own, f"{name} P1"), marker]
    return found
