"""Runs the planned faults on time, each in a thread of its own, and records each fault window, failed ones too.

The schedule's laws hold also when a strike takes longer than planned (a broker that is slow to come back): two faults
that need one power wait for each other, and so do two that disrupt a broker, with the time between them in which the
broker catches up. Where none is on, the next one waits a little for the traffic that it is to meet. A fault that could
begin only after the planned end is left out if its toxic has struck before, and else strikes; one that is stopped
before it could begin is recorded as such.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock, Thread

from harness.base import wait
from harness.chaos.moments.awaited_moment import at_its_moment
from harness.chaos.moments.struck_moments import StruckMoments
from harness.chaos.plan.scenario import PlannedFault
from harness.chaos.plan.schedule import RECOVERY_SECONDS
from harness.evidence.history.operation import FaultWindow
from harness.faults.fault_target import FaultTarget
from harness.faults.toxic import MinimumDuration, Power

SHORTEST_SECONDS = 1.5
"""Seconds that a fault is on at least, however late it began."""
TRAFFIC_SECONDS = 10.0
"""That a fault may wait for clients to be at work; then it strikes all the same, and the judge says what it met."""


def run_faults(
    planned_faults: Sequence[PlannedFault],
    fault_target: FaultTarget,
    stop: Event,
    record: Callable[[FaultWindow], None],
    struck_moments: StruckMoments | None = None,
    is_at_work: Callable[[], bool] = lambda: True,
) -> None:
    """Strike with all of them; returns when every one is healed.

    :param planned_faults: Their ``at_ms`` counts from now.
    :param stop: Once it is set, what is on is healed, and nothing else begins.
    :param record: Takes each window when it is over, one at a time, from several threads. A fault that failed, or that
        the target has no power for, or whose moment never came, gives a window with the reason in ``how``. What
        ``record`` raises ends the faults.
    :param struck_moments: Where it is noted when each struck.
    :param is_at_work: Whether clients do now what a fault is to meet.
    """
    last_end_ms = max((fault.at_ms + fault.duration_ms for fault in planned_faults), default=0.0)
    runner = _FaultRunner(
        fault_target=fault_target,
        stop=stop,
        record=record,
        planned_ms=last_end_ms,
        struck_moments=struck_moments or StruckMoments(fault_target.clock),
        is_at_work=is_at_work,
    )
    threads = [
        Thread(target=runner.run, args=(planned,), name=planned.toxic.name, daemon=True) for planned in planned_faults
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
    if runner.failures:
        raise runner.failures[0]


@dataclass(slots=True, kw_only=True)
class _FaultRunner:
    """What the faults of a round share; times are milliseconds of the run's clock.

    :param planned_ms: How long all faults together were to last.
    :param next_disruption_ms: When a broker may be disrupted again.
    """

    fault_target: FaultTarget
    stop: Event
    record: Callable[[FaultWindow], None]
    planned_ms: float
    struck_moments: StruckMoments
    is_at_work: Callable[[], bool]
    failures: list[Exception] = field(default_factory=list)
    began_ms: float = field(init=False)
    next_disruption_ms: float = 0.0
    _struck_before: set[str] = field(default_factory=set)
    _powers: dict[Power, Lock] = field(default_factory=lambda: {power: Lock() for power in Power})
    _brokers: Lock = field(default_factory=Lock)
    _records: Lock = field(default_factory=Lock)
    _on: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.began_ms = self.fault_target.clock.now()

    def run(self, planned: PlannedFault) -> None:
        """Wait for the fault's time and for others that exclude it; strike, heal, record."""
        self._wait_until(self.began_ms + planned.at_ms)
        with ExitStack() as exclusive:
            if planned.toxic.disrupts_broker:
                exclusive.enter_context(self._only_disruption())
            exclusive.enter_context(self._powers[planned.toxic.power])
            if self._is_over() and planned.toxic.name in self._struck_before:
                return
            self._await_traffic()
            self._on.add(id(planned))
            window = self._strike(planned)
            self._on.discard(id(planned))
            self._struck_before |= {planned.toxic.name} if window.struck else set()
        self._record(window)

    def _await_traffic(self) -> None:
        if not self._on:
            wait.elapsed_ms_until(lambda: self.stop.is_set() or self.is_at_work(), timeout_seconds=TRAFFIC_SECONDS)

    def _is_over(self) -> bool:
        return self.fault_target.clock.now() > self.began_ms + self.planned_ms

    def _record(self, window: FaultWindow) -> None:
        try:
            with self._records:
                self.record(window)
        except Exception as failure:  # noqa: BLE001  raised by run_faults() once all is healed
            self.failures.append(failure)
            self.stop.set()

    def _strike(self, planned: PlannedFault) -> FaultWindow:
        clock, strikes, error = self.fault_target.clock, None, ""
        started_ms = on_ms = clock.now()
        try:
            if self.stop.is_set():
                raise TimeoutError("the time was over before it could begin")
            with ExitStack() as healed:
                with at_its_moment(planned, self.fault_target, self.struck_moments, self.stop) as chosen:
                    started_ms = clock.now()
                    strikes = healed.enter_context(planned.toxic.strike(self.fault_target, chosen))
                    on_ms = clock.now()
                self._wait_until(self._end_ms(planned, started_ms))
        except Exception as failure:  # noqa: BLE001  the run goes on and reports it
            error = f"{type(failure).__name__}: {failure}"
        waited = f"at its moment, {planned.moment}" if strikes and planned.moment else ""
        if strikes:
            self.struck_moments.note_fault(planned.toxic.name, strikes, (started_ms, on_ms))
        return FaultWindow(
            name=planned.toxic.name,
            kind=planned.toxic.power,
            where=strikes.where if strikes else json.dumps(dict(planned.chosen), sort_keys=True),
            started=started_ms,
            ended=clock.now(),
            struck=strikes.struck if strikes else 0,
            how="; ".join(filter(None, (strikes.how if strikes else "it did not strike", waited, error))),
            moved=None if strikes is None or strikes.moved is None else " ".join(strikes.moved),
            clock_off_ms=strikes.clock_off_ms if strikes else None,
        )

    def _end_ms(self, planned: PlannedFault, started_ms: float) -> float:
        """When it is to be over: one that began late is shortened, but not to nothing, and never below its minimum."""
        full_end_ms = started_ms + planned.duration_ms
        if isinstance(planned.toxic, MinimumDuration):
            return full_end_ms
        least_ms = started_ms + min(1000 * SHORTEST_SECONDS, planned.duration_ms)
        return max(least_ms, min(full_end_ms, self.began_ms + planned.at_ms + planned.duration_ms))

    def _wait_until(self, at_ms: float) -> None:
        self.stop.wait(max(0.0, at_ms - self.fault_target.clock.now()) / 1000)

    @contextmanager
    def _only_disruption(self) -> Iterator[None]:
        with self._brokers:
            self._wait_until(self.next_disruption_ms)
            try:
                yield
            finally:
                self.next_disruption_ms = self.fault_target.clock.now() + 1000 * RECOVERY_SECONDS
