"""Waiting for a transaction to get on: until nothing is open on a partition, or its coordinator keeps a state.

A state that only moves forward ends the wait for one that it has passed. A last stable offset ends none early, though
the coordinator may call the transaction complete: markers may be visible later than that. It has its bound, and when
that was in vain before, less of it (:mod:`harness.base.wait`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness.base.wait import Patience
from harness.evidence.requirement_evidence import Step
from harness.lab.observer import Observer
from harness.lab.partition import Partition
from harness.lab.producer import Producer

COMPLETION = "completion"
"""What all waits for markers have in common."""
BOUND_SECONDS = 5.0
"""For a state or a last stable offset, on a cluster that nothing disturbs."""
SETTLE_SECONDS = 3.0
"""For the last stable offsets after the stimulus."""
FOLLOWING: Mapping[str, frozenset[str]] = {
    "Empty": frozenset(),  # what a server says of a completed transaction that has no name for it
    "PrepareCommit": frozenset({"CompleteCommit"}),
    "PrepareAbort": frozenset({"CompleteAbort"}),
    "PrepareEpochFence": frozenset({"PrepareAbort", "CompleteAbort"}),
    "CompleteCommit": frozenset(),
    "CompleteAbort": frozenset(),
}
"""The states that may follow one without another request of a client (Kafka's ``TransactionState``)."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Waits over the observer's lane; those with a bound of the caller's own have all of it."""

    observer: Observer
    patience: Patience

    def complete(self, partitions: Sequence[Partition], timeout_seconds: float | None = None) -> None:
        """Wait until no transaction is open on these partitions; :raises TimedOut: when one still is."""
        patience = self.patience if timeout_seconds is None else self.patience.fresh()
        patience.get(
            lambda: self._stable(partitions),
            what="last stable offset = high watermark",
            kinds=(COMPLETION, "last stable offset"),
            timeout_seconds=BOUND_SECONDS if timeout_seconds is None else timeout_seconds,
        )

    def pass_by(self, partition: Partition, offset: int) -> bool:
        """Whether the last stable offset gets beyond ``offset``."""
        kinds = COMPLETION, "last stable offset"
        return self._wait(
            lambda: self.observer.sample(partition).last_stable_offset > offset, BOUND_SECONDS, True, *kinds
        )

    def settle(self, partitions: Sequence[Partition]) -> bool:
        """Whether nothing is open on these partitions after the stimulus, within :data:`SETTLE_SECONDS`."""
        return self._wait(lambda: self._stable(partitions), SETTLE_SECONDS, True, COMPLETION, "settling")

    def reach(
        self,
        producer: Producer,
        states: Sequence[str],
        partitions: Sequence[Partition],
        *,
        as_: str,
        timeout_seconds: float | None = None,
    ) -> Step:
        """Wait until the coordinator keeps one of ``states`` for the id; the last answer is the step.

        Where the broker cannot be asked, it is waited until nothing is open on ``partitions``, if the state is a
        completed one.
        """
        began = self.observer.recorder.clock.now()
        full = BOUND_SECONDS if timeout_seconds is None else timeout_seconds
        patient = timeout_seconds is None
        if self.observer.describes_transactions(producer.coordinator):
            look = StateLook(observer=self.observer, producer=producer, states=states)
            self._wait(look.got_on, full, patient, "state", hopeless=look.passed)
            if look.preparing:  # markers alone are missing now, whatever came before was to take
                self._wait(look.fits, BOUND_SECONDS, True, COMPLETION, "markers", hopeless=look.passed)
        elif all(state.startswith("Complete") for state in states):
            self._wait(lambda: self._stable(partitions), full, patient, COMPLETION, "last stable offset")
        return self.observer.transaction(producer.transactional_id, producer.coordinator, as_=as_, began=began)

    def _wait(
        self,
        condition: Callable[[], bool],
        full_seconds: float,
        patient: bool,
        *kinds: str,
        hopeless: Callable[[], bool] = lambda: False,
    ) -> bool:
        patience = self.patience if patient else self.patience.fresh()
        return patience.until(condition, kinds=kinds, timeout_seconds=full_seconds, hopeless=hopeless)

    def _stable(self, partitions: Sequence[Partition]) -> bool:
        samples = map(self.observer.sample, partitions)
        return all(sample.last_stable_offset == sample.high_watermark for sample in samples)


@dataclass(slots=True, kw_only=True)
class StateLook:
    """One look after the other at the state that a coordinator keeps for an id."""

    observer: Observer
    producer: Producer
    states: Sequence[str]
    seen: str = ""

    def fits(self) -> bool:
        """Look; whether it is one of those waited for."""
        self.seen = self.observer.state(self.producer.transactional_id, self.producer.coordinator)
        return self.seen in self.states

    def got_on(self) -> bool:
        """Look; whether it is one of those waited for, or markers alone are missing."""
        return self.fits() or self.preparing

    @property
    def preparing(self) -> bool:
        """Whether the state that was seen last is not waited for, and waits for markers."""
        return self.seen not in self.states and self.seen.startswith("Prepare")

    def passed(self) -> bool:
        """Whether none of them can come after what was seen."""
        return FOLLOWING.get(self.seen, frozenset(self.states)).isdisjoint(self.states)
