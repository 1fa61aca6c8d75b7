"""Pause: a broker is stopped (SIGSTOP) and goes on (SIGCONT), as after a long garbage collection.

Sometimes for longer than its session of 2 s, so that the controller fences it meanwhile; sometimes for less.
Needs the power to pause. Counts a request that stayed unanswered the whole time and was answered once the broker went
on; of a pause that is to outlast the session only where the controller has fenced the broker.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from harness.base import wait
from harness.base.deferred_action import deferred
from harness.base.json_value import Json
from harness.cluster.cluster import Pause
from harness.faults.brokers.leadership import await_recovery
from harness.faults.fault_target import FaultTarget, Powerless
from harness.faults.toxic import ClusterShape, Power, StrikeCount, ToxicReach
from harness.faults.typed_draws import number
from harness.wire.pending_request import PendingResponse
from harness.wire.requests.cluster.metadata import Metadata, MetadataResult
from harness.wire.wire_errors import NoAnswer, WireError

SHORT_MS, LONG_MS = (300, 1_500), (2_500, 4_000)
UNANSWERED_SECONDS = 0.1
"""Seconds without an answer after which a request counts as unanswered."""
STOPPED_SECONDS = 5.0
"""Seconds within which a paused broker must stop answering."""
ANSWERED_SECONDS = 30.0
"""Seconds within which an unanswered request must be answered after the broker went on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerPause:
    """Fills :class:`harness.faults.toxic.Toxic`, and ``MinimumDuration``, so that a session can expire.

    :param lengths_ms: Of these one is drawn, then a length between its ends.
    :param fenced: Whether only a pause counts in which the broker was fenced.
    """

    name: str = "pause"
    power: Power = Power.PROCESS
    acts_on: tuple[ToxicReach, ...] = (ToxicReach.PROCESSES,)
    disrupts_broker: bool = True
    seconds: float = LONG_MS[1] / 1000
    lengths_ms: Sequence[tuple[int, int]] = (SHORT_MS, LONG_MS)
    fenced: bool = False

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """``broker``, and ``still_ms`` before it goes on."""
        return {"broker": draw.choice(shape.brokers), "still_ms": draw.randint(*draw.choice(self.lengths_ms))}

    @contextmanager
    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Iterator[StrikeCount]:
        """Paused on entering; goes on when the block is left at the latest.

        :raises Powerless: When the target's brokers are not ours to pause.
        :raises WireError: When it does not answer after it went on.
        :raises TimedOut: When it is not registered again within the bound.
        """
        broker, paused_seconds = number(chosen, "broker"), number(chosen, "still_ms") / 1000
        cluster, client = fault_target.cluster, fault_target.client
        if not isinstance(cluster, Pause):
            raise Powerless(f"the {cluster.backend} backend cannot pause a broker")
        strikes = StrikeCount(where=f"broker-{broker}", how="requests that stayed unanswered until the broker went on")
        version, since = client.highest(broker, Metadata.api), fault_target.clock.now()
        cluster.pause(broker)
        strikes.moment = since, fault_target.clock.now()
        try:
            request = _unanswered(lambda: client.send(broker, Metadata(), version))
        except BaseException:
            cluster.resume(broker)
            raise

        def go_on() -> None:
            unanswered = not request.done()
            was_fenced = self.fenced and fault_target.dropped(broker)
            cluster.resume(broker)
            if unanswered:
                request.wait(ANSWERED_SECONDS)
                strikes.struck += was_fenced or not self.fenced
            if self.fenced:
                strikes.how += "; it was fenced" if was_fenced else "; it was not fenced, which counts for nothing"

        passed_seconds = (fault_target.clock.now() - strikes.moment[1]) / 1000
        with deferred(max(0.0, paused_seconds - passed_seconds), go_on):
            yield strikes
        await_recovery(fault_target, broker, strikes)


def _unanswered(send: Callable[[], PendingResponse[MetadataResult]]) -> PendingResponse[MetadataResult]:
    """A request that is not answered; the first ones may be, since the threads of a process stop one by one.

    :raises TimedOut: When the broker goes on answering.
    """

    def unanswered() -> PendingResponse[MetadataResult] | None:
        request = send()
        try:
            request.wait(UNANSWERED_SECONDS)
        except NoAnswer:
            return request
        except WireError:
            return None
        return None

    return wait.until(unanswered, what="a paused broker without answers", timeout_seconds=STOPPED_SECONDS)


TOXIC = BrokerPause()
