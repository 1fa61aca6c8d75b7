"""A Spark session that starts in seconds, prints nothing, and leaves nothing running.

The JVM is a child of ours that reads our end of a pipe: when this process is gone, kill -9 included, the pipe is, and
the JVM ends by itself. Everything it writes beside results (``spark-warehouse``, ``artifacts``, temporary folders)
goes to a scratch folder that is its working directory, and is removed with it, or by the next start.
"""

import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from harness.base.user_error import ExitCode, UserError
from harness.machine import toolchain
from harness.machine.run_processes import RunProcesses, open_run_processes
from harness.spark.session.class_data_archive import ClassDataArchive
from harness.spark.session.connector_jars import connector_jars
from harness.spark.session.jvm_names import look_up_once
from harness.spark.session.spark_master import check_master, first_line
from harness.spark.session.spark_settings import QUICKEST, Build, JvmPace, settings

END_SECONDS = 10.0
"""What a JVM may take to end in order before it is killed; writing its archive comes on top, once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkHandle:
    """A running session: ``spark`` is pyspark's own; the rest is what must be ended with it.

    pyspark can have one in a process; the next can be opened when this one is closed.
    """

    spark: SparkSession
    gateway: Any
    scratch: RunProcesses
    archive: ClassDataArchive

    def close(self, *, in_order: bool = True) -> None:
        """End the JVM; ``in_order=False`` kills it at once. May be called twice."""
        jvm: subprocess.Popen[bytes] = self.gateway.proc
        try:
            if in_order and jvm.poll() is None:
                self._stop()
                jvm.wait(END_SECONDS + self.archive.writing)
                self.archive.keep()
        except subprocess.TimeoutExpired:
            pass  # killed below, like one that is not to end in order
        finally:
            _end(self.gateway)
            self.archive.drop()
            self.scratch.close()

    def _stop(self) -> None:
        with suppress(Py4JError, OSError):  # the JVM may be gone already, and then there is nothing to stop
            self.spark.stop()
        self.gateway.proc.stdin.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(in_order=kind is None)


def open_session(
    *,
    name: str,
    master: str = "local[2]",
    log: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
    build: Build = QUICKEST,
) -> SparkHandle:
    """A session of its own JVM, with the Kafka connector.

    :param log: The file that gets Spark's log; without one it is discarded.
    :param build: What its JVM is like, for a local master.
    :raises UserError: When a tool is missing, the master does not answer, or the JVM does not start.
    """
    check_master(master)
    java = toolchain.java()
    jars = connector_jars(progress)
    archive = ClassDataArchive.of(jars, java)
    scratch = open_run_processes()
    chosen = settings(
        master=master,
        name=name,
        jars=jars,
        scratch=scratch.folder,
        flags=archive.flags(master) if build.pace is JvmPace.QUICK else (),
        build=build,
    )
    try:
        gateway = _launch(_conf(chosen), scratch.folder, log)
        return SparkHandle(spark=_connect(gateway, chosen), gateway=gateway, scratch=scratch, archive=archive)
    except BaseException:
        archive.drop()
        scratch.close()
        raise


def _launch(conf: Any, cwd: Path, log: Path | None) -> Any:
    with open(log or "/dev/null", "ab") as output:  # noqa: PTH123  one spelling for a file and for no file
        try:
            return launch_gateway(conf, {"cwd": cwd, "stdout": output, "stderr": output})
        except PySparkRuntimeError as error:
            where = f"; its log is {log}" if log else ""
            raise UserError(f"Spark's JVM ended while it was starting{where}", exit=ExitCode.INTERNAL) from error


def _connect(gateway: Any, chosen: Mapping[str, str]) -> SparkSession:
    try:
        with _own_interrupts():
            session = SparkSession(SparkContext(conf=_conf(chosen), gateway=gateway))
        look_up_once(gateway.jvm)
        return session
    except Py4JJavaError as error:
        reason = first_line(error)  # read from the JVM before it is ended
        _end(gateway)
        raise UserError(
            f"Spark does not start on {chosen['spark.master']}: {reason}", exit=ExitCode.TOOL_MISSING
        ) from None
    except BaseException:
        _end(gateway)
        raise


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Ctrl-C does as before: the handler of pyspark asks its context, and fails once that has ended."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():  # pyspark too changes it there alone
            signal.signal(signal.SIGINT, before)


def _conf(chosen: Mapping[str, str]) -> Any:
    return SparkConf(loadDefaults=False).setAll(list(chosen.items()))


def _end(gateway: Any) -> None:
    """End the JVM, and have pyspark forget it.

    pyspark keeps the first JVM of a process, and has no public way to another one: ``SparkContext.stop``
    ends the context and leaves the gateway, and it needs a JVM that still answers. So its class attributes are reset.
    """
    with suppress(Py4JError, OSError):
        gateway.shutdown()
    gateway.proc.stdin.close()
    if gateway.proc.poll() is None:
        gateway.proc.kill()
        gateway.proc.wait()
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None
