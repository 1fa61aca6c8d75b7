"""What a backend is: a value with a name, the targets that it opens, and how it opens them.

Another backend is one file (or folder) with such a value, and its line in :mod:`harness.cluster.backend_catalogue`.
What is slow to import, such as the container engine's client, is imported by its functions when they are called.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from harness.cluster.cluster import Cluster, ClusterOptions
from harness.cluster.target import Target

Progress: TypeAlias = Callable[[str], None]
"""Called with a sentence about each step that takes longer than a moment."""
Opener: TypeAlias = Callable[[Target, ClusterOptions, Path, Progress], Cluster]
"""Opens a target; the folder is the run's, and logs go to ``logs`` in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """A way to come from a target to a running cluster.

    :param name: As ``--backend`` takes it and reports show it.
    :param opens: Classes of the targets that it can open.
    :param reason: Why ``auto`` took it, where others open the target too.
    :param unavailable: Why it cannot open the target on this machine, in a phrase; None when it can, or when only
        trying will tell. Nothing is pulled, built or started.
    :param opener: Opens the target; :raises UserError: when it cannot be opened.
    :param cannot: Why it starts no cluster with such options, in a sentence; None when it does.
    """

    name: str
    opens: tuple[type[Target], ...]
    reason: str
    unavailable: Callable[[Target], str | None]
    opener: Opener
    cannot: Callable[[ClusterOptions], str | None] = lambda _options: None

    def __str__(self) -> str:
        return self.name
