"""A group's offsets in a transaction: AddOffsetsToTxn and TxnOffsetCommit, right or wrong, as a member or as none."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from harness.base.json_value import Json
from harness.evidence.requirement_evidence import Step
from harness.lab.partition import Group, Partition
from harness.lab.powers.identified_producer import IdentifiedProducer, overridden
from harness.lab.step_recorder import RETRIABLE


@dataclass(slots=True, kw_only=True)
class OffsetsProducer(IdentifiedProducer):
    """The part of a :class:`harness.lab.producer.Producer` that commits offsets; its parameters are as there."""

    def add_offsets(
        self,
        group: Group,
        *,
        as_: str | None = None,
        version: int | None = None,
        epoch: int | None = None,
        retry: Collection[int] = RETRIABLE,
    ) -> Step:
        """AddOffsetsToTxn: the group's offsets partition enters the transaction."""
        request = overridden(self.state.add_offsets(group.name), producer_epoch=epoch)
        fields: dict[str, Json] = {"producer_epoch": request.producer_epoch, "group": group.name}
        used = self.version("AddOffsetsToTxn") if version is None else version
        step = self.step_recorder.ask(self.coordinator, request, used, as_=as_, request=fields, retry=retry)
        if step.error == 0:
            self.state.added.add(group.name)
        return step

    def commit_offset(
        self,
        group: Group,
        partition: Partition,
        offset: int,
        *,
        as_: str | None = None,
        version: int | None = None,
        epoch: int | None = None,
        producer_id: int | None = None,
        transactional_id: str | None = None,
        member: str | None = None,
        generation: int | None = None,
        also: Sequence[Partition] = (),
        retry: Collection[int] = RETRIABLE,
    ) -> Step:
        """TxnOffsetCommit: valid once the transaction commits; from v5 on it adds the offsets partition itself.

        :param also: Partitions for which the same offset is committed in the same request.
        :param member: As whom it is committed, with the group's ``generation`` (v3 and above); None: as no member.
        """
        offsets = {each.topic_partition: offset for each in (partition, *also)}
        request = overridden(
            self.state.txn_offset_commit(group.name, offsets),
            producer_epoch=epoch,
            producer_id=producer_id,
            transactional_id=transactional_id,
            member=member,
            generation=generation,
        )
        fields: dict[str, Json] = {
            "producer_id": request.producer_id,
            "producer_epoch": request.producer_epoch,
            "group": group.name,
            "partitions": [str(each) for each in (partition, *also)],
            "offset": offset,
            "generation": request.generation,
        }
        used = self.version("TxnOffsetCommit") if version is None else version
        return self.step_recorder.ask(group.offsets.leader, request, used, as_=as_, request=fields, retry=retry)
