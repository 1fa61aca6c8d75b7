"""One application of the client under test: its calls become evidence, and the gate acts on its requests alone.

A call never fails for what a broker or the gate does; what the library says is the answer. What ends a stimulus early
is a program that is no adapter any more, and a call that its library cannot do.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Unpack

from harness.base import wait
from harness.base.json_value import Json
from harness.base.unprepared import Unprepared
from harness.clients.stdio.adapter_answer import AdapterAnswer
from harness.clients.stdio.adapter_options import AdapterOptions
from harness.clients.stdio.adapter_process import AdapterFailed, AdapterProcess
from harness.evidence.client_evidence import ClientCall, Frame, ReadRecord
from harness.evidence.requirement_evidence import Fault
from harness.lab.evidence_builder import EvidenceBuilder
from harness.lab.partition import Group, Partition
from harness.lab.powers.request_gate import GateAction, Gated, GateWish, RequestGate

SLACK_SECONDS = 20.0
"""Beyond the time that its library may take for a call, on a machine that is busy."""
CLOSE_SECONDS = 5.0
ENOUGH_REFUSALS = 6
"""One after another, of polls: the consumer has ended."""
SENT_SECONDS = 15.0
"""Within which a request that is waited for must have come to the gate."""


@dataclass(slots=True, kw_only=True)
class Application:
    """A producer, a consumer, or both, in a process of its own. Made by ``ClientLab.application``.

    :param name: In steps and on the wire.
    :param proxies: Of the lane on which it is, by node.
    :param frames_so_far: Its requests as the gate has seen them.
    :param refused_polls: How many were refused since one was not.
    :param ended: Whether it says that it has no transaction open.
    :param until_closed: What is on for as long as it runs.
    """

    name: str
    adapter: AdapterProcess
    options: AdapterOptions
    coordinator: int
    proxies: Mapping[int, str]
    request_gate: RequestGate
    notes: EvidenceBuilder
    now: Callable[[], float]
    frames_so_far: Callable[[], Sequence[Frame]]
    running: bool = True
    refused_polls: int = 0
    ended: bool = True
    until_closed: ExitStack = field(default_factory=ExitStack)

    @property
    def transactional_id(self) -> str:
        return self.options.transactional_id or ""

    # Calls

    def init(self, *, as_: str = "") -> ClientCall:
        """``initTransactions``."""
        return self._call("init", as_)

    def begin(self, *, as_: str = "") -> ClientCall:
        """Begin a transaction."""
        return self._call("begin", as_)

    def produce(self, partition: Partition, *values: str, wait: bool = True, as_: str = "") -> ClientCall:
        """Write these values; with ``wait`` the call has the results, else :meth:`flush` or the next call has them."""
        places: dict[str, Json] = {"topic": partition.topic, "partition": partition.index}
        return self._call("produce", as_, {**places, "values": [*values], "wait": wait}, values=values)

    def flush(self, *, as_: str = "") -> ClientCall:
        """Wait until every record has its result."""
        return self._call("flush", as_)

    def send_offsets(self, group: Group, offsets: Mapping[Partition, int], *, as_: str = "") -> ClientCall:
        """Put the group's offsets into the transaction."""
        places: list[Json] = [
            {"topic": partition.topic, "partition": partition.index, "offset": offset}
            for partition, offset in offsets.items()
        ]
        return self._call("send_offsets", as_, {"group": group.name, "offsets": places})

    def commit(self, *, as_: str = "") -> ClientCall:
        """Commit the transaction."""
        return self._call("commit", as_)

    def abort(self, *, as_: str = "") -> ClientCall:
        """Abort the transaction."""
        return self._call("abort", as_)

    def subscribe(self, *partitions: Partition, joins: bool = True, as_: str = "") -> ClientCall:
        """Read these partitions from their beginnings; as a member of its group, where it has one, their topics.

        :param joins: False: it never joins its group; some libraries send a group's offsets only with a consumer of it.
        """
        if self.options.group is not None and joins:
            return self._call("subscribe", as_, {"topics": [*dict.fromkeys(each.topic for each in partitions)]})
        places: list[Json] = [{"topic": each.topic, "partition": each.index} for each in partitions]
        return self._call("subscribe", as_, {"partitions": places})

    def poll(self, *, within_ms: int = 1_000, as_: str = "") -> ClientCall:
        """Records that are delivered now."""
        polled = self._call("poll", as_, {"within_ms": within_ms}, more_seconds=within_ms / 1000)
        self.refused_polls = self.refused_polls + 1 if polled.outcome == "refused" else 0
        if polled.outcome == "refused":  # at once, as often as it is asked
            wait.pause(max(0.0, within_ms - (polled.answered - polled.started)) / 1000)
        return polled

    @property
    def reads(self) -> bool:
        """Whether polling it any more makes sense: of a consumer that has ended each poll is refused."""
        return self.refused_polls < ENOUGH_REFUSALS

    def poll_all(self, count: int, *, within_ms: int = 10_000, as_: str = "poll") -> Sequence[ReadRecord]:
        """Poll until so many records came, its consumer has ended, or the time is over; each is a step of this name."""
        found: list[ReadRecord] = []
        deadline, self.refused_polls = self.now() + within_ms, 0
        while self.reads and len(found) < count and (left := deadline - self.now()) > 0:
            found += self.poll(within_ms=min(500, round(left) + 1), as_=as_).records
        return found

    def close(self, *, as_: str = "") -> None:
        """Close it as a library closes, then end the program. A second time is no error."""
        if not self.running:
            return
        try:
            with suppress(AdapterFailed):  # that it closes in time is no promise of a KIP
                self._record("close", as_ or "close", (), CLOSE_SECONDS, {})
        finally:
            self.kill()

    def kill(self) -> None:
        """End it as a crash would: nothing more is sent."""
        self.running = False
        self.adapter.kill()
        self.until_closed.close()

    # Its requests

    def gate(
        self, api: str, action: GateAction, *, name: str = "", nodes: Sequence[int] = (), **wish: Unpack[GateWish]
    ) -> AbstractContextManager[Gated]:
        """Act on its requests of this API, to these brokers or to any; words as in ``lab.gate``, noted as a fault."""
        proxies = [proxy for node, proxy in self.proxies.items() if node in nodes or not nodes]
        faults: list[Fault] = self.notes.faults
        mine: GateWish = {**wish, "client_id": self.options.client_id}
        return self.request_gate.on(
            *proxies, api=api, action=action, name=name or f"{action} {api}", faults=faults, wish=mine
        )

    def refused(self, api: str, error: int, *, times: int | None = 1, skip: int = 0) -> AbstractContextManager[Gated]:
        """The gate answers so many of its requests with this error in the broker's place; None: all of them."""
        return self.gate(api, "refuse", name=f"{api} {error}", error=error, at_most=times, skip=skip)

    def sent(self, *apis: str) -> Sequence[Frame]:
        """Its requests of these APIs so far, or of all."""
        return [frame for frame in self.frames_so_far() if not apis or frame.api in apis]

    def has_sent(self, api: str, count: int = 1) -> None:
        """Wait, bounded, until so many of its requests came to the gate; :raises Unprepared: when they do not."""
        if wait.elapsed_ms_until(lambda: len(self.sent(api)) >= count, timeout_seconds=SENT_SECONDS) is None:
            raise Unprepared(f"{self.adapter.name} has sent {len(self.sent(api))} {api} requests, not {count}")

    # Underneath

    def open(self) -> None:
        """The first call; :raises Unprepared: when the library cannot be made so."""
        self._call("open", "", self.options.arguments())

    def _call(
        self,
        call: str,
        as_: str,
        arguments: Mapping[str, Json] = MappingProxyType({}),
        *,
        values: Sequence[str] = (),
        more_seconds: float = 0.0,
    ) -> ClientCall:
        seconds = self.options.block_ms / 1000 + self.options.delivery_timeout_ms / 1000 + more_seconds + SLACK_SECONDS
        try:
            said = self._record(call, as_ or call, values, seconds, arguments)
        except AdapterFailed as failed:
            self.kill()
            raise Unprepared(str(failed)) from failed
        if said.error is not None and said.error.type == "unsupported":
            raise Unprepared(f"{self.adapter.name} cannot {call}: {said.error.message}")
        if call in ("begin", "commit", "abort"):
            self.ended = call != "begin" and said.done
        return said

    def _record(
        self, call: str, as_: str, values: Sequence[str], seconds: float, arguments: Mapping[str, Json]
    ) -> ClientCall:
        started = self.now()
        answer = self.adapter.call(call, within_seconds=seconds, **arguments)
        said = self._noted(call, as_, tuple(values), started, answer)
        if call != "open":
            self.notes.calls.append(said)
        return said

    def _noted(self, call: str, as_: str, values: tuple[str, ...], started: float, answer: AdapterAnswer) -> ClientCall:
        return ClientCall(
            name=as_,
            call=call,
            application=self.name,
            outcome=answer.outcome,
            started=started,
            answered=self.now(),
            error=answer.error,
            values=values,
            deliveries=tuple(map(self.notes.short, answer.deliveries)),
            records=tuple(map(self.notes.short, answer.records)),
            positions=tuple(map(self.notes.short, answer.positions)),
        )
