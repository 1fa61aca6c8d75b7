"""A liar: the gate on one lane, telling what the broker did not say. It makes a sound Kafka look broken, so that the
judge is seen to tell; chaos never draws one."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from harness.base.addresses import Lane
from harness.faults.fault_target import FaultTarget, Powerless
from harness.faults.gate.gate import GateFailed, RuleHandle
from harness.faults.gate.rule import Rule, Then, When


@dataclass(frozen=True, slots=True, kw_only=True)
class Liar:
    """One lie, by the module that tells it. One liar is one file under ``toxics/liars`` that binds ``LIAR``.

    :param shows: The anomalies that a judge must name who hears the lie.
    :param lie: ``module:factory``, see :mod:`harness.faults.gate.lie`.
    """

    name: str
    apis: tuple[str, ...]
    shows: tuple[str, ...]
    lie: str

    @contextmanager
    def telling(self, fault_target: FaultTarget, lane: Lane) -> Iterator[RuleHandle]:
        """The lie is told on a lane for the length of the block; the account counts messages that were changed.

        :raises Powerless: Where nothing stands between.
        """
        proxies = tuple(proxy for (of, _), proxy in fault_target.cluster.topology.lane_proxies.items() if of == lane)
        if not proxies:
            raise Powerless(f"the lane {lane} goes through no proxy here")
        then = Then(action="lie", lie=self.lie)
        rule = Rule(name=self.name, proxies=proxies, when=When(apis=self.apis), then=then)
        try:
            fault_target.gate.through(*proxies)
            engagement = fault_target.gate.engage(rule)
        except GateFailed as failed:
            raise Powerless(str(failed)) from failed
        try:
            yield engagement
        finally:
            engagement.off()
