"""What a session's brokers are started with, so that a small machine commits much; what the caller asks for wins.

Measured on two cores with Kafka 4.3.1 in one calm round after another (suites/chaos/README.md): followers that are
answered in groups save the brokers a third of their CPU for a transaction, and the second compiler as much again.
"""

from dataclasses import replace

from harness.cluster.cluster import ClusterOptions
from harness.machine.jvm_compilers import LESS_INLINING

GROUPED = {
    # A leader answers a follower at once, however little there is (``replica.fetch.min.bytes`` is 1): each record of a
    # transaction costs two fetches, their answers and their metrics. Five milliseconds put together what all
    # transactions of the moment wrote, as happens by itself on a cluster with more to do.
    "replica.fetch.min.bytes": "100000",
    "replica.fetch.wait.max.ms": "5",
}
BOTH_COMPILERS = ("-XX:TieredStopAtLevel=4", *LESS_INLINING)
LONG_SECONDS = 120.0
"""Of storms from which the second compiler pays: after a minute it is done, and until then it has cost little."""


def for_volume(options: ClusterOptions, *, seconds: float) -> ClusterOptions:
    """These options for a cluster that lives through storms of so many seconds."""
    compilers = BOTH_COMPILERS if seconds >= LONG_SECONDS else ()
    return replace(
        options, properties={**GROUPED, **options.properties}, jvm_options=(*compilers, *options.jvm_options)
    )
