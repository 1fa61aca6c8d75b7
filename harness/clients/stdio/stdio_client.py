"""A client of any library, in a process of its own that speaks PROTOCOL.md.

The process is started with the first verb. Once it crashes, is silent or speaks something else, that verb has failed,
the process is ended, and every later verb is refused without anything being sent: a successor takes over.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.base.json_value import Json
from harness.clients.client import CallResult, ClientOptions, refused_locally
from harness.clients.stdio.adapter_name import AdapterCommand
from harness.clients.stdio.adapter_options import AdapterOptions
from harness.clients.stdio.adapter_process import AdapterFailed, start_adapter
from harness.clients.stdio.client_processes import RunningClient, RunningClients
from harness.clients.stdio.stdio_outcomes import result_of, result_of_failure
from harness.evidence.history.operation import Outcome, Value, Verb

START_SECONDS = 20.0
"""For the answer to ``open``: a virtual machine may have to start first."""
SLACK_SECONDS = 10.0
"""What a library may take beyond ``request_ms``."""
CLOSE_SECONDS = 5.0


@dataclass(slots=True, kw_only=True)
class StdioClient:
    """See the port. Owned by one thread.

    :param protocol: Not known: a library does not say which transaction protocol it uses with a cluster.
    :param processes: The round's.
    :param _over: Why nothing is sent any more; empty while something may be.
    """

    options: ClientOptions
    command: AdapterCommand
    processes: RunningClients
    protocol: None = None
    _running: RunningClient | None = None
    _over: str = ""

    @property
    def kind(self) -> str:
        return self.command.name

    def init(self) -> CallResult:
        return self._call("init")

    def begin(self) -> CallResult:
        return self._call("begin")

    def produce(self, topic: str, partition: int, value: Value) -> CallResult:
        """See the port; the offset is that of the record's own delivery report."""
        record: dict[str, Json] = {"topic": topic, "partition": partition, "values": [str(value)]}
        return self._call("produce", {**record, "wait": True}, value=str(value))

    def send_offsets(self, topic: str, partition: int, offset: int) -> CallResult:
        offsets: list[Json] = [{"topic": topic, "partition": partition, "offset": offset}]
        return replace(self._call("send_offsets", {"group": self.options.group, "offsets": offsets}), offset=offset)

    def commit(self) -> CallResult:
        return self._call("commit")

    def abort(self) -> CallResult:
        return self._call("abort")

    def subscribe(self, topics: Sequence[str]) -> CallResult:
        """See the port; most libraries join with the polls that follow."""
        return self._call("subscribe", {"topics": list(topics)})

    def poll(self, within_ms: int) -> CallResult:
        return self._call("poll", {"within_ms": within_ms})

    def close(self) -> CallResult:
        """See the port; a process that does not end by itself is ended."""
        running, self._over = self._running, self._over or "the client is closed"
        if running is not None:
            try:
                running.adapter.call("close", within_seconds=CLOSE_SECONDS)
                running.adapter.end()
            except AdapterFailed as failed:
                self._note(running, failed)
                running.adapter.kill()
            self._forget()
        return CallResult(outcome=Outcome.DONE, tries=0)

    def _call(self, verb: Verb, arguments: dict[str, Json] | None = None, *, value: str = "") -> CallResult:
        if self._over:
            return refused_locally(self._over)
        seconds = self.options.request_ms / 1000 + SLACK_SECONDS
        try:
            answer = self._opened().adapter.call(verb, within_seconds=seconds, **(arguments or {}))
        except AdapterFailed as failed:
            return self._failed(verb, failed)
        return result_of(verb, answer, value)

    def _opened(self) -> RunningClient:
        """The process; :raises AdapterFailed: where it cannot be had."""
        if self._running is None:
            adapter = start_adapter(self.command.command, name=self.kind)
            running = self._running = RunningClient(actor=self.options.actor, adapter=adapter)
            self.processes.add(running)
            wish = self.command.looks_up_positions
            given = open_arguments(self.options, looks_up_positions=wish)
            opened = adapter.call("open", within_seconds=START_SECONDS, **given)
            if not opened.done:
                said = f"{opened.error.type}: {opened.error.message}" if opened.error else ""
                raise adapter.failed(f"was {opened.outcome} to open: {said}")
            running.opened = True
        return self._running

    def _failed(self, verb: Verb, failed: AdapterFailed) -> CallResult:
        sentence = str(failed).partition("\n")[0]
        self._over = f"nothing was sent: {sentence}"
        if self._running is None:  # it could not be started
            self.processes.note(self.kind, str(failed))
        else:
            self._note(self._running, failed)
            self._running.adapter.kill()
            self._forget()
        return result_of_failure(verb, sentence)

    def _note(self, running: RunningClient, failed: AdapterFailed) -> None:
        if not running.killed:
            self.processes.note(self.kind, str(failed))

    def _forget(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            self.processes.remove(running)


def open_arguments(options: ClientOptions, *, looks_up_positions: bool = False) -> dict[str, Json]:
    """The arguments of ``open``.

    One request may take as long as the call: so none is sent again while its first try may still be on its way, which
    Transactions V1 cannot tell from the end of the next transaction (KIP-890, motivation).
    """
    longest_ms = min(options.request_ms, options.timeout_ms)  # librdkafka: delivery within the transaction's timeout
    return AdapterOptions(
        bootstrap=[options.bootstrap[node] for node in sorted(options.bootstrap)],
        client_id=options.actor,
        transactional_id=options.transactional_id,
        transaction_timeout_ms=options.timeout_ms,
        request_timeout_ms=longest_ms,
        delivery_timeout_ms=longest_ms,
        block_ms=options.request_ms,
        group=options.group,
        session_timeout_ms=options.session_timeout_ms,
        properties_file=None if options.security.plaintext else options.security.file,
        looks_up_positions=looks_up_positions,
    ).arguments()
