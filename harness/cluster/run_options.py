"""What every run is given, a qualification as a session of chaos: the target, the cluster, the seed, the folder."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.seed import Seed
from harness.cluster.cluster import ClusterOptions

PREFIX = "fencepost-"
"""What the names of all topics, groups and transactional ids of ours begin with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Permissions:
    """What a run may do to a cluster that is not ours; one that we start may be changed freely.

    :param prefix: What the names of all topics, groups and transactional ids of ours begin with.
    :param topics: Topics of the owner's that may be written to, where none may be created; () to create our own.
    :param changes: Whether settings and feature levels may be changed, and markers written.
    :param load: Whether tens of thousands of small requests may be sent, to use up the epochs of a producer id.
    """

    prefix: str = PREFIX
    topics: tuple[str, ...] = ()
    changes: bool = False
    load: bool = False


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
    permissions: Permissions = field(default_factory=Permissions)
    progress: Callable[[str], None] = print

    def command(self, verb: str, *own: str, target: tuple[str, ...] | None = None) -> str:
        """The one command that runs it again: ``fencepost VERB TARGET``, the verb's own options, the cluster's.

        :param target: The words for the target, where it is no argument of the verb.
        """
        words = ["fencepost", verb, *(target or (self.target,)), *own, "--backend", self.backend]
        words += [f"--broker-jvm-opt={option}" for option in self.cluster.jvm_options]
        words += [f"--broker-property={key}={value}" for key, value in self.cluster.properties.items()]
        words += self._permitted()
        return shlex.join(words)

    def _permitted(self) -> list[str]:
        given = self.permissions
        words = [] if given.prefix == PREFIX else [f"--prefix={given.prefix}"]
        words += [f"--topics={','.join(given.topics)}"] if given.topics else []
        words += [f"--client-properties={self.cluster.client_properties}"] if self.cluster.client_properties else []
        words += ["--allow-changes"] if given.changes else []
        return words + (["--allow-load"] if given.load else [])
