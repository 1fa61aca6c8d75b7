"""When faults struck, and which requests the gate had meanwhile, as evidence of situations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock

from harness.base.clock import RunClock
from harness.cluster.topology import link_name
from harness.evidence.situations.recorded import FaultMoment, HeldRequest
from harness.faults.frame_rule import Strike
from harness.faults.toxic import StrikeCount

LINKS = link_name(0, 0).partition("-")[0]


@dataclass(slots=True)
class StruckMoments:
    """Those of a round; safe to use from any thread."""

    clock: RunClock
    moments: list[FaultMoment] = field(default_factory=list)
    held: list[HeldRequest] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def note_fault(self, name: str, strikes: StrikeCount, came_on: tuple[float, float]) -> None:
        """A fault that is over; one that did not strike has no moment.

        :param came_on: When it was entered, and when it was on.
        """
        with self._lock:
            if strikes.requests is not None:
                self.moments += [_struck(name, strike, self.clock) for strike in strikes.requests]
                self.held += _held(name, strikes.requests, self.clock, self.clock.now())
            elif strikes.struck:
                since, upto = strikes.moment or came_on
                self.moments.append(FaultMoment(fault=name, since=since, upto=upto))

    def note_held(self, name: str, strikes: Sequence[Strike], released: float) -> None:
        """Requests of a moment that a fault waited for; one that could not be delivered was held until ``released``."""
        with self._lock:
            self.held += _held(name, strikes, self.clock, released)


def _struck(name: str, strike: Strike, clock: RunClock) -> FaultMoment:
    at = clock.at(strike.at_ns)
    return FaultMoment(
        fault=name,
        since=at,
        upto=at,
        api=strike.api,
        link=_on_link(strike),
        transactional_ids=strike.transactional_ids,
        producer_id=strike.producer_id,
        partitions=strike.partitions,
    )


def _held(name: str, strikes: Sequence[Strike], clock: RunClock, released: float) -> Iterator[HeldRequest]:
    for strike in strikes:
        if strike.delivered_ns is None and strike.fate == "dropped":
            continue  # it was never passed on: no broker will see it
        yield HeldRequest(
            fault=name,
            api=strike.api,
            link=_on_link(strike),
            since=clock.at(strike.at_ns),
            upto=released if strike.delivered_ns is None else clock.at(strike.delivered_ns),
            transactional_ids=strike.transactional_ids,
            producer_id=strike.producer_id,
            partitions=strike.partitions,
        )


def _on_link(strike: Strike) -> bool:
    return strike.proxy.startswith(f"{LINKS}-")
