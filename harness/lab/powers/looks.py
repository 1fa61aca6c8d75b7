"""What a given broker says of producers and transactional ids, whether it is in charge of them or not.

The observer believes leaders and coordinators alone. Here the answer itself is what a requirement is about: that of a
follower, of a broker without a replica, of one that does not coordinate the id, and several answers in one response.
"""

from collections.abc import Collection
from dataclasses import dataclass

from harness.base.json_value import Json
from harness.evidence.requirement_evidence import Step
from harness.lab.partition import Partition
from harness.lab.step_recorder import ResultT, StepRecorder
from harness.wire.api_request import ApiRequest
from harness.wire.requests.transactions.describe_producers import DescribeProducersOf
from harness.wire.requests.transactions.describe_transactions import DescribeTransactionsOf
from harness.wire.topic_partitions import TopicPartition, partition_name

Place = Partition | TopicPartition
"""A partition of the lab's, or any topic and index."""


@dataclass(frozen=True, slots=True)
class Looks:
    """Each answer is one step, asked for once; ``step.at("P1")`` and ``step.of(id)`` are its parts."""

    recorder: StepRecorder

    def producers(self, node: int, *places: Place, as_: str, retry: Collection[int] = ()) -> Step:
        """DescribeProducers of several partitions: ``partitions`` by name, each with ``error`` and ``producers``.

        :param retry: Errors after which it is asked again: a fresh topic may not be known everywhere yet.
        """
        partitions = tuple(_place(each) for each in places)
        noted: dict[str, Json] = {"partitions": [partition_name(*each) for each in partitions]}
        return self._look(node, DescribeProducersOf(partitions=partitions), as_, noted, retry)

    def transactions(self, node: int, *transactional_ids: str, as_: str) -> Step:
        """DescribeTransactions of several ids, or of none: ``transactions`` by id, with ``error`` and ``state``."""
        noted: dict[str, Json] = {"transactional_ids": list(transactional_ids)}
        return self._look(node, DescribeTransactionsOf(transactional_ids=transactional_ids), as_, noted)

    def _look(
        self, node: int, request: ApiRequest[ResultT], as_: str, noted: dict[str, Json], retry: Collection[int] = ()
    ) -> Step:
        """A step; one that says that nothing was looked at where the broker does not offer the API."""
        if request.api not in self.recorder.client.offered(node).apis:
            return self.recorder.not_looked(node, request.api, as_=as_, request=noted)
        version = self.recorder.client.highest(node, request.api)
        return self.recorder.ask(node, request, version, as_=as_, request=noted, retry=retry)


def _place(each: Place) -> TopicPartition:
    return each.topic_partition if isinstance(each, Partition) else each
