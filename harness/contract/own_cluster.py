"""A cluster that a requirement asks for in place of the run's common one: what the common one cannot be while it runs.

Equal wishes share one cluster, so a wish is as plain as it can be. Only a target of which we start the brokers can
fulfil it; on a running cluster the requirement is out of reach.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field

BROKERS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCluster:
    """What is different from the common cluster.

    :param properties: Of all brokers and the controller, from their start (``{"producer.id.expiration.ms": "1000"}``).
    :param node_properties: Of single nodes, by node id; they win over ``properties``.
    :param features: Levels at which storage is formatted (``{"transaction.version": 0}``).
    :param metadata: The release whose metadata version storage is formatted with (``"3.9"``); "" for the target's own.
    :param releases: Nodes that run another release than the target's, by node id (``{1: "3.7.2"}``).
    :param users: Names of users that an authorizer asks after; clients on the lanes, and brokers, are superusers.
    :param fresh: A name, where nobody else may have used the cluster before: only equal names share it.
    """

    properties: Mapping[str, str] = field(default_factory=dict)
    node_properties: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    features: Mapping[str, int] = field(default_factory=dict)
    metadata: str = ""
    releases: Mapping[int, str] = field(default_factory=dict)
    users: tuple[str, ...] = ()
    brokers: int = BROKERS
    fresh: str = ""

    @property
    def key(self) -> str:
        """Equal for equal wishes; sorts them."""
        return json.dumps(asdict(self), sort_keys=True)

    @property
    def after_the_target(self) -> bool:
        """Whether what the target offers must be known before the start.

        A release that does not know a level cannot be formatted at it, and brokers of another release offer less.
        """
        return bool(self.features or self.metadata or self.releases)

    def __str__(self) -> str:
        """A phrase for plans and lists: ``three brokers with producer.id.expiration.ms=1000``."""
        return ", ".join(self._parts()) or "a cluster of its own"

    def _parts(self) -> Iterator[str]:
        if self.brokers != BROKERS:
            yield f"{self.brokers} broker{'s' * (self.brokers > 1)}"
        yield from (f"{key}={value}" for key, value in sorted(self.properties.items()))
        for node, own in sorted(self.node_properties.items()):
            yield from (f"{key}={value} on node {node}" for key, value in sorted(own.items()))
        yield from (f"formatted with {name}={level}" for name, level in sorted(self.features.items()))
        if self.metadata:
            yield f"formatted for {self.metadata}"
        for release in sorted(set(self.releases.values())):
            nodes = [str(node) for node, own in sorted(self.releases.items()) if own == release]
            yield f"node{'s' * (len(nodes) > 1)} {', '.join(nodes)} of {release}"
        if self.users:
            yield f"an authorizer and {', '.join(self.users)}"
        if self.fresh:
            yield f"fresh ({self.fresh})"
