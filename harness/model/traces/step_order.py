"""In which order a search takes steps that make no difference to each other: only one of all such orders is tried.

Before an answer about one partition only the coordinator and that partition's leader matter. What happens at another
partition makes a difference to them no sooner than the coordinator does something itself: ends the transaction, bumps
the epoch, is asked for its state. That a partition is added commutes with everything about other partitions: an add is
accepted by the epoch, and while the transaction is not ending; no add changes these (``TransactionCoordinator``).
So between two steps of the coordinator itself come first those at the answer's own partition, then those at the others,
one partition after the other; and what is left there once the coordinator does nothing more may as well come after the
answer. A leader's own steps are taken only before one at its partition that does ask or change what the coordinator
knows (partial-order reduction: Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems", 1996).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from harness.model.traces.configuration import Configuration
from harness.model.traces.trace_steps import ANYWHERE, Concerns, TraceStep, TraceSteps


@dataclass(frozen=True, slots=True)
class StepOrder:
    """Of the steps before one answer. :param own: The place that the answer is about. :param now: When it came."""

    steps: TraceSteps
    own: str
    now: float

    def after(self, one: Configuration) -> Iterator[Configuration]:
        """What may come next, of all orders that come to the same in one only."""
        goes_on = self.own == ANYWHERE or self.steps.coordinator_may_go_on(one, self.now)
        if goes_on and not one.unfinished:
            for step in self.steps.of_coordinator(one, self.now):
                yield step.after.with_anything_next()
        for step in self.steps.of_partitions(one, None if goes_on else self.own):
            if self.own == step.place and step.concerns is not Concerns.COORDINATOR:
                if not one.beside:
                    yield step.after
            elif goes_on and self._is_next(one, step):
                yield replace(step.after, beside=step.place, unfinished=step.concerns is Concerns.LEADER)

    def own_effects(self, one: Configuration, index: int) -> Iterator[Configuration]:
        """What the request that is answered makes of it, where that may come next."""
        if one.unfinished or (one.beside and self.own != ANYWHERE):
            return
        for step in self.steps.effects(one, index):
            yield step.after.with_anything_next()

    def _is_next(self, one: Configuration, step: TraceStep) -> bool:
        return step.place == one.beside if one.unfinished else step.place >= one.beside
