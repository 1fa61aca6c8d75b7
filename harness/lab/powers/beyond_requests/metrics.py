"""What brokers count (JMX), read before and after a block, so that only what the block did is evidence."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from harness.base.json_value import Json
from harness.base.unprepared import OutOfReach, Unprepared
from harness.base.wait import Patience
from harness.cluster.cluster import Cluster, ReadMetrics

BOUND_SECONDS = 10.0
"""For a broker to count what was answered already: a request is counted after its answer was sent."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A number that brokers keep; a meter's or histogram's ``Count`` only grows."""

    mbean: str
    attribute: str = "Count"


def requests(api: str, version: int) -> Metric:
    """How many requests of this version a broker has answered (``RequestChannel.updateRequestMetrics``)."""
    return Metric(f"kafka.network:type=RequestMetrics,name=RequestsPerSec,request={api},version={version}")


@dataclass(frozen=True, slots=True)
class Metrics:
    """Reads metrics of a cluster's nodes.

    :param note: Takes a fact: its name and value.
    """

    cluster: Cluster
    patience: Patience
    note: Callable[[str, Json], None]

    def value(self, node: int, metric: Metric) -> float | None:
        """The number now; None where the node keeps no such metric.

        :raises OutOfReach: When this cluster's metrics cannot be read.
        """
        if not isinstance(self.cluster, ReadMetrics):
            raise OutOfReach("the metrics of this cluster's brokers cannot be read")
        try:
            return self.cluster.read_metric(node, metric.mbean, metric.attribute)
        except LookupError:
            return None

    def known(self, node: int, metric: Metric) -> float:
        """As :meth:`value`; :raises Unprepared: when the node keeps no such metric."""
        value = self.value(node, metric)
        if value is None:
            raise Unprepared(f"broker {node} keeps no metric {metric.mbean} {metric.attribute}")
        return value

    def total(self, metric: Metric, *nodes: int) -> float | None:
        """The sum over these nodes (none: all brokers); None where none of them keeps it."""
        values = [self.value(node, metric) for node in nodes or self.cluster.topology.brokers]
        kept = [value for value in values if value is not None]
        return sum(kept) if kept else None

    @contextmanager
    def counted(self, name: str, *metrics: Metric, nodes: Sequence[int] = (), least: int = 0) -> Iterator[None]:
        """Note as fact ``name`` by how much these metrics grew together in the block; None where no node keeps one.

        :param least: Wait, bounded, until it has grown by so much; the check judges where it has not.
        """
        before = [self.total(metric, *nodes) or 0.0 for metric in metrics]
        yield
        grown: list[float | None] = [None]

        def enough() -> bool:
            after = [self.total(metric, *nodes) for metric in metrics]
            kept = [now - then for now, then in zip(after, before, strict=True) if now is not None]
            grown[0] = sum(kept) if kept else None
            return sum(kept) >= least

        self.patience.until(enough, kinds=("a metric",), timeout_seconds=BOUND_SECONDS, interval_seconds=0.05)
        self.note(name, None if grown[0] is None else round(grown[0]))
