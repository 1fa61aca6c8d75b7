"""What a local session is started with, each setting with its why. Pure: no JVM, no files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from harness.machine.jvm_compilers import LESS_INLINING

LOOPBACK = "127.0.0.1"
HIDDEN_NAMES = r"(?i)secret|password|token|access[.]?key|jaas|keystore"
EXECUTION = "org.apache.spark.sql.execution.streaming"

# C1 only, one small collector: such a session lives for a minute, and on two cores the second compiler's threads take
# from the brokers that are judged, for nothing. One compiler gets 48 MB for its code, which Spark's generated classes
# fill within a round of a hundred thousand operations; then all is interpreted, and at last the JVM ends ("Out of space
# in CodeCache for adapters"). So it gets what HotSpot gives to both compilers.
QUICK = ("-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m", "-XX:+UseSerialGC")
# A large history is judged with nothing beside it, for minutes: both compilers, and a collector for throughput.
STEADY = ("-XX:+UseParallelGC", *LESS_INLINING)


class JvmPace(StrEnum):
    """What a local session's JVM is for."""

    QUICK = "quick"
    """It starts beside brokers, and lives for a minute."""
    STEADY = "steady"
    """It has the machine, and much to do."""


LARGE_BYTES = 256 << 20
"""Size of a history from which its JVM gets the larger heap and the better compiler: about a million transactions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """A local session's JVM.

    :param memory: The heap.
    :param pace: What the JVM's options are chosen for.
    """

    memory: str = "768m"
    pace: JvmPace = JvmPace.QUICK

    @classmethod
    def fit_for(cls, size: int) -> "Build":
        """What judges a history of ``size`` bytes; ten million operations need the larger heap."""
        return cls(memory="4g", pace=JvmPace.STEADY) if size >= LARGE_BYTES else cls()


QUICKEST = Build()
"""What starts and judges a small round soonest."""
FLAGS: Mapping[JvmPace, tuple[str, ...]] = {JvmPace.QUICK: QUICK, JvmPace.STEADY: STEADY}


LEAN: Mapping[str, str] = {
    # Each call of pyspark would first ask the JVM for its session and conf, and tell it where it was made: several
    # round trips for a column that is one (pyspark.errors.utils).
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.sql.dataFrameQueryContext.enabled": "false",
    "spark.sql.ui.explainMode": "simple",  # every query writes its plan out for a page that nobody opens
}
"""What a program of some thousand columns and some dozen small queries does without."""


COMPACT: Mapping[str, str] = {
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.referenceTracking": "false",  # rows refer to nothing
}
"""How checkpointed rows become bytes; Java's own way names the class of every hundredth one again."""


def settings(
    *,
    master: str,
    name: str,
    jars: Sequence[Path],
    scratch: Path,
    flags: Sequence[str] = (),
    build: Build = QUICKEST,
) -> Mapping[str, str]:
    """Spark's configuration.

    :param jars: The connector's jars.
    :param scratch: A folder of this session's own, for all that Spark writes beside results.
    :param flags: More options of the JVM.
    :param build: A local session's JVM; a cluster's is its own affair.
    """
    return {
        "spark.master": master,
        "spark.app.name": name,
        **_classes(master, jars),
        **_quiet(scratch),
        **LEAN,
        **COMPACT,
        **_small(master, flags, build),
    }


def _classes(master: str, jars: Sequence[Path]) -> Mapping[str, str]:
    if not _is_local(master):
        return {"spark.jars": ",".join(map(str, jars))}
    # ``spark.jars`` would copy every jar into the session and load it past the AppCDS archive: 0.5 s more.
    return {"spark.driver.extraClassPath": ":".join(map(str, jars))}


def _quiet(scratch: Path) -> Mapping[str, str]:
    return {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "WARN",
        # Options of a source stand in Spark's plans; a login of Kafka's has a name that Spark's own pattern lacks.
        "spark.redaction.regex": HIDDEN_NAMES,
        "spark.sql.redaction.options.regex": HIDDEN_NAMES,
        "spark.sql.catalogImplementation": "in-memory",  # no metastore_db
        "spark.sql.warehouse.dir": (scratch / "warehouse").as_uri(),
        "spark.local.dir": str(scratch),
    }


def _small(master: str, flags: Sequence[str], build: Build) -> Mapping[str, str]:
    if not _is_local(master):
        return {"spark.driver.extraJavaOptions": " ".join(flags)} if flags else {}
    return {
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.memory": build.memory,
        "spark.driver.extraJavaOptions": " ".join((*FLAGS[build.pace], *flags)),
        "spark.sql.shuffle.partitions": "2",
        # The default one goes through Hadoop's FileContext, which forks a process for every file: 100 ms a micro-batch.
        "spark.sql.streaming.checkpointFileManagerClass": f"{EXECUTION}.FileSystemBasedCheckpointFileManager",
        "spark.sql.codegen.cache.maxEntries": "5000",  # a judge has some hundred expressions, and meets them again
        "spark.sql.codegen.wholeStage": "false",  # compiling a plan takes longer than reading a few records with it
    }


def _is_local(master: str) -> bool:
    return master.startswith("local")
