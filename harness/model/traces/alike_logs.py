"""Logs without what makes no difference to any answer, so that configurations that answer alike are one."""

from collections.abc import Mapping
from dataclasses import replace

from harness.model.frozen_map import FrozenMap
from harness.model.model_state import PartitionLog


def renumbered_log(log: PartitionLog, numbers: Mapping[int, int]) -> PartitionLog:
    """Its verifications under other numbers."""
    verifications = {id_: replace(each, number=numbers[each.number]) for id_, each in log.verifications.items()}
    return replace(log, verifications=FrozenMap(verifications))


def without_entries(log: PartitionLog, numbers: Mapping[int, int]) -> PartitionLog:
    """The same without its entries, and without where producers' batches lie in it."""
    producers = {
        id_: replace(
            known,
            batches=tuple((sequence, 0) for sequence, _ in known.batches),
            open_since=None if known.open_since is None else 0,
        )
        for id_, known in log.producers.items()
    }
    return replace(renumbered_log(log, numbers), entries=(), producers=FrozenMap(producers))
