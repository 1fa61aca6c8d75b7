"""A liar: the gate on one lane, rewriting messages so that a sound Kafka looks broken.

Liars prove that the judge finds what it must find; chaos never draws one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from harness.base.addresses import Lane
from harness.faults.fault_target import FaultTarget, Powerless
from harness.faults.frame_gate import RuleHandle
from harness.faults.frame_rule import Rule, Then, When
from harness.faults.frame_toxic import add_rule


@dataclass(frozen=True, slots=True, kw_only=True)
class ChaosLiar:
    """One lie. One liar is one file under ``toxics/liars`` that binds ``LIAR``.

    :param shows: The anomalies that the judge must find in a history that was read or written through the lie.
    :param lie: ``module:factory``, see :mod:`harness.faults.gate.lie`.
    """

    name: str
    apis: tuple[str, ...]
    shows: tuple[str, ...]
    lie: str

    @contextmanager
    def on_lane(self, fault_target: FaultTarget, lane: Lane) -> Iterator[RuleHandle]:
        """The lie is on for the length of the block; the rule's report counts messages that were changed.

        :raises Powerless: Where there are no proxies.
        """
        proxies = tuple(proxy for (of, _), proxy in fault_target.cluster.topology.lane_proxies.items() if of == lane)
        if not proxies:
            raise Powerless(f"the lane {lane} goes through no proxy here")
        then = Then(action="lie", lie=self.lie)
        handle = add_rule(fault_target, Rule(name=self.name, proxies=proxies, when=When(apis=self.apis), then=then))
        try:
            yield handle
        finally:
            handle.off()
