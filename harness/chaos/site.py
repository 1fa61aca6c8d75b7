"""Where toxics strike: the cluster with its powers, and questions about who leads what, over the observer's lane."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.clock import RunClock
from harness.cluster.port import Cluster, Links
from harness.lab.admin import Admin
from harness.lab.asking import Asker


class Powerless(Exception):
    """The target lacks a power that a toxic needs; the text names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A running cluster as toxics see it.

    :param topics: The scenario's word for a topic to the topic's real name.
    :param asker: On the observer's lane; its exchanges are not kept.
    """

    cluster: Cluster
    clock: RunClock
    asker: Asker
    topics: Mapping[str, str]

    @property
    def admin(self) -> Admin:
        """Kafka's own administration."""
        return Admin(self.asker, self.cluster.topology.brokers)

    @property
    def links(self) -> Links:
        """The proxies; :raises Powerless: where nothing stands between."""
        if self.cluster.links is None:
            raise Powerless("this backend has no proxies")
        return self.cluster.links
