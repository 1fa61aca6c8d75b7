"""What a group has committed, as its coordinator tells consumers that begin to read (OffsetFetch, KIP-447)."""

from collections.abc import Collection
from dataclasses import replace

from harness.base.json_value import Json
from harness.evidence.requirement_evidence import Step
from harness.lab.partition import Group, Partition
from harness.lab.step_recorder import RETRIABLE, StepRecorder
from harness.wire.requests.groups.offset_fetch import NO_OFFSET, OffsetFetch

_LAST_WITH_NAMES = 9


def committed_offset(
    recorder: StepRecorder,
    group: Group,
    partition: Partition,
    *,
    require_stable: bool,
    as_: str | None,
    retry: Collection[int] = RETRIABLE,
) -> Step:
    """The step's ``offset`` is the group's for the partition; -1: it has committed none, or does not tell it now."""
    topic_ids = {} if partition.topic_id is None else {partition.topic: partition.topic_id}
    request = OffsetFetch(
        group=group.name,
        partitions=(partition.topic_partition,),
        require_stable=require_stable,
        topic_ids=topic_ids,
    )
    fields: dict[str, Json] = {"group": group.name, "partition": str(partition), "require_stable": require_stable}
    version = recorder.client.highest(group.offsets.leader, request.api, None if topic_ids else _LAST_WITH_NAMES)
    step = recorder.asked(group.offsets.leader, request, version, as_=as_, request=fields, retry=retry)
    offsets = step.fields.get("offsets")
    found = offsets.get(str(partition), NO_OFFSET) if isinstance(offsets, dict) else NO_OFFSET
    kept = {name: value for name, value in step.fields.items() if name in ("failure", "error_message")}
    return recorder.kept(replace(step, fields={**kept, "offset": found}), as_)
