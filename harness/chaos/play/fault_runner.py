"""The storm: blows struck on time, each in a thread of its own, and every window recorded, whatever came of it.

The plan's laws hold also when a strike takes longer than planned (a broker that is slow to come back): two that need
one power wait for each other, and so do two that take a broker away, with the time between them in which the broker
catches up. When its turn comes only after the planned storm is over, a blow is left out if its toxic has struck before,
and else strikes; one that is stopped before its turn says so.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock, Thread

from harness.chaos.plan.scenario import PlannedFault
from harness.chaos.plan.schedule import RECOVERY
from harness.evidence.operation import FaultWindow
from harness.faults.fault_target import FaultTarget
from harness.faults.toxic import MinimumDuration, Power

SHORTEST = 1.5
"""Seconds that a blow is on at least, however late its turn came."""


def run_faults(
    planned_faults: Sequence[PlannedFault],
    fault_target: FaultTarget,
    stop: Event,
    record: Callable[[FaultWindow], None],
) -> None:
    """Strike them all; returns when every one is healed.

    :param blows: ``at`` counts from now.
    :param stop: Once it is set, what is on is healed, and nothing else begins.
    :param record: Takes each window when it is over, one at a time, from several threads. A fault that failed, or that
        the target has no power for, gives a window with the reason in ``how``. What ``record`` raises ends the storm.
    """
    turns = _Turns(
        fault_target=fault_target,
        stop=stop,
        record=record,
        planned=max((b.at + b.lasts for b in planned_faults), default=0.0),
    )
    threads = [
        Thread(target=turns.take, args=(planned_fault,), name=planned_fault.toxic.name, daemon=True)
        for planned_fault in planned_faults
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException:
        stop.set()
        for thread in threads:
            thread.join()
        raise
    if turns.failures:
        raise turns.failures[0]


@dataclass(slots=True, kw_only=True)
class _Turns:
    """Whose turn it is; ``free`` is when a broker may be taken away again, on the run's clock.

    :param planned: Milliseconds that the storm was to last.
    """

    fault_target: FaultTarget
    stop: Event
    record: Callable[[FaultWindow], None]
    planned: float
    failures: list[Exception] = field(default_factory=list)
    began: float = field(init=False)
    free: float = 0.0
    _struck_before: set[str] = field(default_factory=set)
    _powers: dict[Power, Lock] = field(default_factory=lambda: {power: Lock() for power in Power})
    _brokers: Lock = field(default_factory=Lock)
    _records: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        """The storm begins now."""
        self.began = self.fault_target.clock.now()

    def take(self, planned_fault: PlannedFault) -> None:
        """Wait for the blow's time and its turn, strike, heal, record."""
        self._wait_until(self.began + planned_fault.at)
        with ExitStack() as turn:
            if planned_fault.toxic.disrupts_broker:
                turn.enter_context(self._alone_with_brokers())
            turn.enter_context(self._powers[planned_fault.toxic.power])
            if self._is_over() and planned_fault.toxic.name in self._struck_before:
                return
            window = self._struck(planned_fault)
            self._struck_before |= {planned_fault.toxic.name} if window.struck else set()
        self._keep(window)

    def _is_over(self) -> bool:
        return self.fault_target.clock.now() > self.began + self.planned

    def _keep(self, window: FaultWindow) -> None:
        try:
            with self._records:
                self.record(window)
        except Exception as failure:  # noqa: BLE001  raised by storm() once all is healed
            self.failures.append(failure)
            self.stop.set()

    def _struck(self, planned_fault: PlannedFault) -> FaultWindow:
        started, strikes, error = self.fault_target.clock.now(), None, ""
        try:
            if self.stop.is_set():
                raise TimeoutError("the time was over before its turn came")
            with planned_fault.toxic.strike(self.fault_target, planned_fault.chosen) as strikes:
                self._wait_until(self._end(planned_fault, started))
        except Exception as failure:  # noqa: BLE001  whatever a fault does to us, the run goes on and tells it
            error = f"{type(failure).__name__}: {failure}"
        return FaultWindow(
            name=planned_fault.toxic.name,
            kind=planned_fault.toxic.power,
            where=strikes.where if strikes else json.dumps(dict(planned_fault.chosen), sort_keys=True),
            started=started,
            ended=self.fault_target.clock.now(),
            struck=strikes.struck if strikes else 0,
            how="; ".join(filter(None, (strikes.how if strikes else "it did not strike", error))),
        )

    def _end(self, planned_fault: PlannedFault, started: float) -> float:
        """When it was to be over; a blow that is late is shortened, but not to nothing, a lengthy one not at all."""
        if isinstance(planned_fault.toxic, MinimumDuration):
            return started + planned_fault.lasts
        least = started + min(1000 * SHORTEST, planned_fault.lasts)
        return max(least, min(started + planned_fault.lasts, self.began + planned_fault.at + planned_fault.lasts))

    def _wait_until(self, at: float) -> None:
        self.stop.wait(max(0.0, at - self.fault_target.clock.now()) / 1000)

    @contextmanager
    def _alone_with_brokers(self) -> Iterator[None]:
        with self._brokers:
            self._wait_until(self.free)
            try:
                yield
            finally:
                self.free = self.fault_target.clock.now() + 1000 * RECOVERY
