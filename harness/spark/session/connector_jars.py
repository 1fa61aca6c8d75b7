"""The connector's jars: brought in once by Maven, without what pyspark ships already.

pyspark has Spark and Hadoop (a hundred megabytes of the connector's dependencies are those); a second copy of them, a
patch version apart, would only be in the way. The connector must be of pyspark's own version, and 4.0.0 is the newest
that resolves whole (newer ones lack ``spark-token-provider-kafka-0-10``), hence the pin in ``pyproject.toml``.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pyspark

from harness.machine import download_cache
from harness.machine.maven import Artifact, copy_jars

VERSION = "4.0.0"
CONNECTOR = Artifact(group="org.apache.spark", name="spark-sql-kafka-0-10_2.13", version=VERSION)


def connector_jars(progress: Callable[[str], None] = lambda _: None) -> tuple[Path, ...]:
    """The jars that a session needs beside pyspark's own, sorted.

    :raises UserError: TOOL_MISSING without Maven; TARGET_UNKNOWN when the connector cannot be resolved.
    """
    place = download_cache.cache_root() / "spark" / f"connector-{VERSION}"
    if not place.is_dir():
        progress(f"bringing in Spark's Kafka connector {VERSION} by Maven (once; some 10 MB are kept)")
    with download_cache.room_needed():
        download_cache.create_once(place, _bring_in)
    return tuple(sorted(place.glob("*.jar")))


def shipped_jars() -> tuple[Path, ...]:
    """The jars inside the pyspark package, sorted."""
    return tuple(sorted((Path(pyspark.__file__).parent / "jars").glob("*.jar")))


def not_shipped(brought: Iterable[Path], shipped: Iterable[Path]) -> tuple[Path, ...]:
    """Those of ``brought`` whose artifact, in any version, is not among ``shipped``."""
    there = {artifact(jar) for jar in shipped}
    return tuple(jar for jar in brought if artifact(jar) not in there)


def artifact(jar: Path) -> str:
    """The artifact's name without its version.

    >>> artifact(Path("spark-sql-kafka-0-10_2.13-4.0.0.jar"))
    'spark-sql-kafka-0-10_2.13'
    >>> artifact(Path("slf4j-api-2.0.16.jar"))
    'slf4j-api'
    """
    return re.sub(r"-\d+(\.\w+)+(-\w+)*$", "", jar.stem)


def _bring_in(draft: Path) -> None:
    copy_jars((CONNECTOR,), draft)
    brought = set(draft.glob("*.jar"))
    for jar in brought.difference(not_shipped(brought, shipped_jars())):
        jar.unlink()
