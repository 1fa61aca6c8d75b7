"""A consumer under test that reads partitions as far as they are stable, and what it is compared with."""

from harness.base.unprepared import OutOfReach
from harness.evidence.client_evidence import ClientCall
from harness.lab.clients.application import Application
from harness.lab.clients.client_lab import ClientLab
from harness.lab.partition import Partition

READ_MS = 15_000
"""Within which everything must have been delivered; a library that has nothing to wait for needs a second."""
POLL_MS = 500
POLLS_TO_THE_END = 3
"""That a position is given to pass the markers behind the last record."""


def read_to_the_end(
    lab: ClientLab,
    app: Application,
    *partitions: Partition,
    as_: str = "read",
    like: Partition | None = None,
    deleted: int = 0,
) -> None:
    """Poll, each poll a step of this name, until nothing more can come; then once more, for what should not come.

    The last stable offset of each partition is asked for before, as a step of the same name. What comes is counted from
    the application's first poll on, so that it can be read further after something has changed.

    :param like: A partition with the same log, where the observer cannot read this one.
    :param deleted: Records below the logs' beginnings, in batches that are still there.
    :raises OutOfReach: For partitions that others wrote to before: the consumer reads them from their beginning.
    """
    if any(partition.start for partition in partitions):
        raise OutOfReach("a consumer reads topics from their beginning, and those that were given are not ours")
    ends = {part.topic_partition: lab.lab.observer.last_stable_offset(part, as_=as_) for part in partitions}
    records = sum(_expected(lab, app, partition) for partition in ((like,) if like else partitions)) - deleted
    deadline, late = lab.lab.now() + READ_MS, 0
    while app.reads and lab.lab.now() < deadline and late < POLLS_TO_THE_END:
        said = app.poll(within_ms=POLL_MS, as_=as_)
        if delivered(lab, app) >= records:
            late += POLLS_TO_THE_END if _at(said, lab, partitions, ends) else 1
    app.poll(within_ms=POLL_MS, as_=as_)


def delivered(lab: ClientLab, app: Application) -> int:
    """How many records the application was given so far."""
    return sum(len(call.records) for call in lab.lab.notes.calls if call.application == app.name)


def _expected(lab: ClientLab, app: Application, partition: Partition) -> int:
    truth = lab.lab.observer.log(partition)
    return len(truth.committed if app.options.isolation == "read_committed" else truth.values())


def _at(said: ClientCall, lab: ClientLab, partitions: tuple[Partition, ...], ends: dict[tuple[str, int], int]) -> bool:
    """Whether the library tells a position of each partition, and it is the end."""
    told = {(each.topic, each.partition): each.offset for each in said.positions}
    names = {lab.lab.notes.aliases.get(str(part), part.topic): part for part in partitions}
    return all(told.get((name, part.index)) == ends[part.topic_partition] for name, part in names.items())
