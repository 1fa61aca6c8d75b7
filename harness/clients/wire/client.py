"""A wire client: the nine verbs of the port, on the producing and the consuming half."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.clients.port import Answer, ClientOptions, Polled
from harness.clients.wire.attempts import Attempts
from harness.clients.wire.bound import Bound
from harness.clients.wire.channel import Channel
from harness.clients.wire.member import Member, not_subscribed
from harness.clients.wire.producer import Membership, Producer
from harness.clients.wire.protocol import TransactionProtocol
from harness.clients.wire.reader import Reader
from harness.clients.wire.routes import Routes
from harness.history.operation import Outcome, Value


@dataclass(slots=True)
class ProtocolClient:
    """See the port. Owned by one thread; nothing is sent before the first verb that asks a broker."""

    options: ClientOptions
    protocol: TransactionProtocol
    _attempts: Attempts = field(init=False)
    _producer: Producer = field(init=False)
    _reader: Reader = field(init=False)
    _member: Member | None = field(init=False, default=None)
    _reading: int = 0

    def __post_init__(self) -> None:
        """Producer and reader share the connections; a member has its own."""
        self._attempts = self._fresh()
        self._producer = Producer(options=self.options, protocol=self.protocol, attempts=self._attempts)
        self._reader = Reader(self._attempts)

    @property
    def kind(self) -> str:
        """``wire-v2`` or ``wire-v1``."""
        return self.protocol.kind

    def init(self) -> Answer:
        """See the port."""
        return self._producer.init()

    def begin(self) -> Answer:
        """See the port."""
        return self._producer.begin()

    def produce(self, topic: str, partition: int, value: Value) -> Answer:
        """See the port."""
        return self._producer.produce(topic, partition, value)

    def send_offsets(self, topic: str, partition: int, offset: int) -> Answer:
        """See the port; without ``subscribe``, as a producer that is no member (generation -1)."""
        assert self.options.group is not None, "send_offsets without a group"
        membership = self._member.membership if self._member else Membership(group=self.options.group)
        return self._producer.send_offsets(topic, partition, offset, membership)

    def commit(self) -> Answer:
        """See the port."""
        return self._producer.end(commit=True)

    def abort(self) -> Answer:
        """See the port."""
        return self._producer.end(commit=False)

    def subscribe(self, topics: Sequence[str]) -> Answer:
        """See the port; done when partitions are assigned, or the group has none left for us."""
        if self._member is None:
            self._member = Member(options=self.options, attempts=self._fresh())
        self._member.topics = tuple(topics)
        return self._owning(self._member.join(self._bound()), self._member)

    def poll(self, within_ms: int) -> Polled:
        """See the port; may take up to ``request_ms`` when the group rebalances."""
        if self._member is None:
            return Polled(answer=not_subscribed())
        owning = self._owning(self._member.keep(self._bound()), self._member)
        if not owning.done:
            return Polled(answer=owning)
        return Polled(answer=owning, records=self._reader.poll(Bound.of_ms(within_ms)))

    def close(self) -> Answer:
        """See the port."""
        if self._member is not None:
            self._member.leave()
            self._member = None
        self._attempts.channel.close()
        return Answer(outcome=Outcome.DONE, tries=0)

    def _owning(self, joined: Answer, member: Member) -> Answer:
        """Read on from the committed offsets once a new generation has begun."""
        if not joined.done or member.joins == self._reading:
            return joined
        begun = self._reader.begin(member.group, member.assigned, self._bound())
        self._reading = member.joins if begun.done else 0
        return begun

    def _fresh(self) -> Attempts:
        channel = Channel.of(self.options, self.protocol.caps)
        return Attempts(channel, Routes(channel))

    def _bound(self) -> Bound:
        return Bound.of_ms(self.options.request_ms)
