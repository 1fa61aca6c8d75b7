"""``kafka-transactions.sh`` as an operator runs it: the class of the target's own jars, over one of our lanes.

A run of it is a step whose ``error`` is the exit code. Its table comes as ``rows``, one mapping a line by the table's
own headings; ``TopicPartition`` is added where a line has topic and partition apart, and ``TopicPartitions`` is a list.
"""

from collections.abc import Callable
from dataclasses import dataclass

from harness.base.addresses import Lane
from harness.base.json_value import Json
from harness.base.unprepared import OutOfReach
from harness.cluster.cluster import Cluster, RunningTool, RunTool, ToolResult
from harness.evidence.requirement_evidence import TOOL, Step
from harness.lab.partition import Partition
from harness.lab.step_recorder import StepRecorder
from harness.wire.security.security import PLAINTEXT

API = "kafka-transactions"
MAIN = "org.apache.kafka.tools.TransactionsCommand"
BOUND_SECONDS = 60.0
"""For one run; the tool's own requests may take that long (``default.api.timeout.ms``)."""


def place(partition: Partition) -> tuple[str, ...]:
    """The partition as the tool's arguments name it."""
    return "--topic", partition.topic, "--partition", str(partition.index)


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingCommand:
    """A run of the tool that was started and whose end is not waited for yet."""

    recorder: StepRecorder
    running: RunningTool
    request: dict[str, Json]
    sent: float

    def answer(self, *, as_: str | None) -> Step:
        """Wait for its end and note it; one that does not end in time has no error and no answer."""
        ended = self.running.wait(BOUND_SECONDS)
        now = self.recorder.clock.now()
        step = Step(
            name=as_ or API,
            api=API,
            version=TOOL,
            error=None if ended is None else ended.exit_code,
            fields={} if ended is None else _fields(ended),
            request=self.request,
            actor=self.recorder.actor,
            sent=self.sent,
            answered=None if ended is None else now,
            waited_ms=round(now - self.sent, 3),
        )
        return self.recorder.kept(step, as_)


@dataclass(frozen=True, slots=True)
class Operator:
    """Runs the tool against a cluster.

    :param lane: Of the addresses that the tool is given.
    :param ask_for_change: Called with a phrase before something is changed; raises where it may not be.
    """

    cluster: Cluster
    lane: Lane
    recorder: StepRecorder
    ask_for_change: Callable[[str], None]

    def start(self, command: str, *arguments: str | int) -> PendingCommand:
        """Start a sub-command and go on; the end is asked for later.

        :raises OutOfReach: When the target's tools are not at hand.
        """
        if not isinstance(self.cluster, RunTool):
            raise OutOfReach("the target's command line tools are not at hand")
        if self.cluster.topology.secured(self.lane) != PLAINTEXT:
            raise OutOfReach("the tool is given no credentials")
        if command == "abort" and "--help" not in arguments:
            self.ask_for_change("writing a marker")
        given = [command, *map(str, arguments)]
        sent = self.recorder.clock.now()
        running = self.cluster.start_tool(
            MAIN, ["--bootstrap-server", self.cluster.topology.bootstrap(self.lane), *given]
        )
        return PendingCommand(recorder=self.recorder, running=running, request={"arguments": [*given]}, sent=sent)


def _fields(ended: ToolResult) -> dict[str, Json]:
    lines = ended.stdout.splitlines()
    text = [line for line in lines if "\t" not in line]
    return {"stdout": [*text], "stderr": ended.stderr.strip(), "rows": [*table(lines)]}


def table(lines: list[str]) -> list[Json]:
    """The rows of a table as ``ToolsUtils.prettyPrintTable`` prints it: cells end in a tab; [] where there is none.

    >>> table(["Topic  \\tPartition\\t", "t-1    \\t3        \\t"])
    [{'Topic': 't-1', 'Partition': '3', 'TopicPartition': 't-1-3'}]
    """
    cells = [[cell.strip() for cell in line.split("\t")[:-1]] for line in lines if "\t" in line]
    if not cells:
        return []
    return [_row(dict(zip(cells[0], one, strict=True))) for one in cells[1:]]


def _row(cells: dict[str, str]) -> Json:
    row: dict[str, Json] = {**cells}
    if "Topic" in cells and "Partition" in cells:
        row["TopicPartition"] = f"{cells['Topic']}-{cells['Partition']}"
    if "TopicPartitions" in cells:
        row["TopicPartitions"] = [name for name in cells["TopicPartitions"].split(",") if name]
    return row
