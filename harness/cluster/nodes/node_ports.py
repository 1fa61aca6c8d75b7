"""The ports of a cluster: fixed, because every node has an address of its own."""

from collections.abc import Mapping

from harness.base.addresses import Lane

GUARD, TOXIPROXY, JOLOKIA, BYTEMAN, LINK, VICTIM, RIVAL, OBSERVER, QUORUM = range(23090, 23099)
FIRST_EXTRA = 23100
"""Where the first listener beside the lanes listens on each broker; the next ones follow."""
LANE_PORTS: Mapping[Lane, int] = {"victim": VICTIM, "rival": RIVAL, "observer": OBSERVER}
