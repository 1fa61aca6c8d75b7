"""Pause: a broker stands still (SIGSTOP) and goes on (SIGCONT), as after a long garbage collection.

Sometimes for longer than its session of 2 s, so that the controller fences it and it wakes up not knowing; sometimes
for less. Needs the power to pause. Proof that it struck: a question that lay unanswered the whole time and was
answered once the broker went on.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from random import Random

from harness import wait
from harness.chaos.drawn import number
from harness.chaos.later import later
from harness.chaos.leadership import taken_back
from harness.chaos.site import Powerless, Site
from harness.chaos.toxic import Power, Proof, Shape
from harness.cluster.port import Pause
from harness.history.evidence import Json
from harness.wire.errors import NoAnswer, WireError
from harness.wire.pending import Pending
from harness.wire.verbs.metadata import Metadata, MetadataResult

SHORT_MS, LONG_MS = (300, 1_500), (2_500, 4_000)
SILENCE, STILL = 0.1, 5.0
"""Seconds without an answer after which a question lies, and within which one must."""
ANSWERED = 30.0
"""Seconds within which a question that lay must be answered after the broker went on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paused:
    """Fills :class:`harness.chaos.toxic.Toxic`, and ``Lengthy``, so that a session can expire."""

    name: str = "pause"
    power: Power = Power.PROCESS
    takes_a_broker: bool = True
    seconds: float = LONG_MS[1] / 1000

    def draw(self, shape: Shape, draw: Random) -> Mapping[str, Json]:
        """``broker``, and ``still_ms`` before it goes on."""
        return {"broker": draw.choice(shape.brokers), "still_ms": draw.randint(*draw.choice((SHORT_MS, LONG_MS)))}

    def strike(self, site: Site, chosen: Mapping[str, Json]) -> AbstractContextManager[Proof]:
        """Paused on entering; goes on when the block is left at the latest.

        :raises Powerless: When the target's brokers are not ours to pause.
        :raises WireError: When it does not answer after it went on.
        :raises NotInTime: When it is not registered again within the bound.
        """
        return _struck(site, number(chosen, "broker"), number(chosen, "still_ms") / 1000)


@contextmanager
def _struck(site: Site, broker: int, still: float) -> Iterator[Proof]:
    cluster, client = site.cluster, site.asker.client
    if not isinstance(cluster, Pause):
        raise Powerless(f"the {cluster.backend} backend cannot pause a broker")
    proof = Proof(where=f"broker-{broker}", how="questions that lay unanswered until the broker went on")
    version = client.highest(broker, Metadata.api)
    cluster.pause(broker)
    asked: list[Pending[MetadataResult]] = []

    def go_on() -> None:
        lay = [question for question in asked if not question.done()]
        cluster.resume(broker)
        for question in lay:
            question.wait(ANSWERED)
            proof.struck += 1

    with later(still, go_on):
        asked.append(_lying(lambda: client.send(broker, Metadata(), version)))
        yield proof
    taken_back(site, broker, proof)


def _lying(ask: Callable[[], Pending[MetadataResult]]) -> Pending[MetadataResult]:
    """A question that is not answered; the first ones may be, since the threads of a process stop one by one.

    :raises NotInTime: When the broker goes on answering.
    """

    def lies() -> Pending[MetadataResult] | None:
        question = ask()
        try:
            question.wait(SILENCE)
        except NoAnswer:
            return question
        except WireError:
            return None
        return None

    return wait.until(lies, what="the silence of a paused broker", within=STILL)


TOXIC = Paused()
