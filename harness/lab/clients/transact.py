"""Whole transactions, named so that a check finds them (:func:`harness.contract.clients.spoken.spoken_transaction`)."""

from typing import Literal

from harness.evidence.client_evidence import ClientCall
from harness.lab.clients.application import Application
from harness.lab.partition import Group, Partition


def transact(
    application: Application,
    name: str,
    *partitions: Partition,
    group: Group | None = None,
    ending: Literal["commit", "abort"] = "commit",
) -> ClientCall:
    """A record to each partition, offsets of the group, and the end; the answer of the end."""
    begun(application, name, *partitions)
    if group is not None:
        application.send_offsets(group, {partitions[0]: 1}, as_=f"{name} offsets")
    return ended(application, name, ending)


def joined(application: Application, name: str, partition: Partition) -> None:
    """Commit a record, and read it as a member of the application's group: some libraries send offsets as one only."""
    transact(application, name, partition)
    application.subscribe(partition, as_=f"{name} subscribe")
    application.poll_all(1, as_=f"{name} poll")


def begun(application: Application, name: str, *partitions: Partition) -> None:
    """Begin, and write a record to each partition."""
    application.begin(as_=f"{name} begin")
    for partition in partitions:
        application.produce(partition, f"{name} {partition.alias}", as_=f"{name} produce")


def ended(application: Application, name: str, ending: Literal["commit", "abort"] = "commit") -> ClientCall:
    """The end; what cannot be committed is aborted, as ``… abort``."""
    end = application.commit if ending == "commit" else application.abort
    answer = end(as_=f"{name} end")
    if ending == "commit" and not answer.done:
        application.abort(as_=f"{name} abort")
    return answer
