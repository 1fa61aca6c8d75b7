"""A wire client: the nine verbs of the port, on the producing and the consuming half."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.clients.client import CallResult, ClientOptions, Polled
from harness.clients.wire.connections import Connections
from harness.clients.wire.deadline import Deadline
from harness.clients.wire.group_member import GroupMember, not_subscribed
from harness.clients.wire.retry import Retry
from harness.clients.wire.routes import Routes
from harness.clients.wire.transaction_protocol import TransactionProtocol
from harness.clients.wire.wire_consumer import WireConsumer
from harness.clients.wire.wire_producer import Membership, WireProducer
from harness.evidence.operation import Outcome, Value


@dataclass(slots=True)
class ProtocolClient:
    """See the port. Owned by one thread; nothing is sent before the first verb that asks a broker."""

    options: ClientOptions
    protocol: TransactionProtocol
    _attempts: Retry = field(init=False)
    _producer: WireProducer = field(init=False)
    _reader: WireConsumer = field(init=False)
    _member: GroupMember | None = field(init=False, default=None)
    _reading: int = 0

    def __post_init__(self) -> None:
        """Producer and reader share the connections; a member has its own."""
        self._attempts = self._fresh()
        self._producer = WireProducer(options=self.options, protocol=self.protocol, attempts=self._attempts)
        self._reader = WireConsumer(self._attempts)

    @property
    def kind(self) -> str:
        """``wire-v2`` or ``wire-v1``."""
        return self.protocol.kind

    def init(self) -> CallResult:
        """See the port."""
        return self._producer.init()

    def begin(self) -> CallResult:
        """See the port."""
        return self._producer.begin()

    def produce(self, topic: str, partition: int, value: Value) -> CallResult:
        """See the port."""
        return self._producer.produce(topic, partition, value)

    def send_offsets(self, topic: str, partition: int, offset: int) -> CallResult:
        """See the port; without ``subscribe``, as a producer that is no member (generation -1)."""
        assert self.options.group is not None, "send_offsets without a group"
        membership = self._member.membership if self._member else Membership(group=self.options.group)
        return self._producer.send_offsets(topic, partition, offset, membership)

    def commit(self) -> CallResult:
        """See the port."""
        return self._producer.end(commit=True)

    def abort(self) -> CallResult:
        """See the port."""
        return self._producer.end(commit=False)

    def subscribe(self, topics: Sequence[str]) -> CallResult:
        """See the port; done when partitions are assigned, or the group has none left for us."""
        if self._member is None:
            self._member = GroupMember(options=self.options, attempts=self._fresh())
        self._member.topics = tuple(topics)
        return self._owning(self._member.join(self._bound()), self._member)

    def poll(self, within_ms: int) -> Polled:
        """See the port; may take up to ``request_ms`` when the group rebalances."""
        if self._member is None:
            return Polled(answer=not_subscribed())
        owning = self._owning(self._member.keep(self._bound()), self._member)
        if not owning.done:
            return Polled(answer=owning)
        return Polled(answer=owning, records=self._reader.poll(Deadline.of_ms(within_ms)))

    def close(self) -> CallResult:
        """See the port."""
        if self._member is not None:
            self._member.leave()
            self._member = None
        self._attempts.channel.close()
        return CallResult(outcome=Outcome.DONE, tries=0)

    def _owning(self, joined: CallResult, member: GroupMember) -> CallResult:
        """Read on from the committed offsets once a new generation has begun."""
        if not joined.done or member.joins == self._reading:
            return joined
        begun = self._reader.begin(member.group, member.assigned, self._bound())
        self._reading = member.joins if begun.done else 0
        return begun

    def _fresh(self) -> Retry:
        channel = Connections.of(self.options, self.protocol.caps)
        return Retry(channel, Routes(channel))

    def _bound(self) -> Deadline:
        return Deadline.of_ms(self.options.request_ms)
