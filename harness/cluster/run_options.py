"""What every run is given, a qualification as a session of chaos: the target, the cluster, the seed, the folder."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.seed import Seed
from harness.cluster.cluster import ClusterOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Everything that a second run needs to be the same.

    :param target: As on the command line (``kafka:4.3.1``); empty where a session judges nothing live.
    :param folder: The run folder; of a session of chaos the one that holds the rounds.
    :param progress: Called with one sentence for each step longer than two seconds.
    """

    target: str
    folder: Path
    backend: str = "auto"
    seed: Seed = field(default_factory=Seed.fresh)
    cluster: ClusterOptions = field(default_factory=ClusterOptions)
    progress: Callable[[str], None] = print

    def command(self, verb: str, *own: str) -> str:
        """The one command that runs it again: ``fencepost VERB TARGET``, the verb's own options, the cluster's."""
        words = ["fencepost", verb, self.target, *own, "--backend", self.backend]
        words += [f"--broker-jvm-opt={option}" for option in self.cluster.jvm_options]
        words += [f"--broker-property={key}={value}" for key, value in self.cluster.properties.items()]
        return shlex.join(words)
