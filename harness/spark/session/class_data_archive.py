"""The AppCDS archive of Spark's JVM: half of a session's start is loading classes, and an archive has them parsed.

The first session that ends in order writes it (10 s, once for a set of jars and a JVM), so that it holds the classes of
a real streaming read; every later one starts with it. A JVM that finds the archive unfit logs one line and
starts without it: a miss costs time and nothing else.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.machine import download_cache
from harness.machine.toolchain import Java
from harness.spark.session.connector_jars import shipped_jars


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassDataArchive:
    """Where the archive is, or will be, and the draft that this process writes (None: it is there already)."""

    place: Path
    draft: Path | None

    @classmethod
    def of(cls, jars: Sequence[Path], java: Java) -> "ClassDataArchive":
        """The archive for these jars, pyspark's own, and this JVM."""
        key = download_cache.jars_fingerprint((*jars, *shipped_jars()), java.build)
        place = download_cache.cache_root() / "spark" / f"classes-{key}.jsa"
        return cls(place=place, draft=None if place.is_file() else place.with_suffix(f".{os.getpid()}.draft"))

    def flags(self, master: str) -> tuple[str, ...]:
        """The JVM's options for it; none where a cluster runs the session."""
        if not master.startswith("local"):
            return ()
        if self.draft is None:
            return (f"-XX:SharedArchiveFile={self.place}", "-Xshare:auto")
        return (f"-XX:ArchiveClassesAtExit={self.draft}",)

    @property
    def writing(self) -> float:
        """Seconds that writing it may add to the end of the session."""
        return 0.0 if self.draft is None else 90.0

    def keep(self) -> None:
        """The JVM has written the draft: it is the archive from now on. A JVM that could not write one wrote none."""
        if self.draft is not None and self.draft.is_file():
            self.draft.rename(self.place)

    def drop(self) -> None:
        """Leave no draft behind."""
        if self.draft is not None:
            self.draft.unlink(missing_ok=True)
