"""What librdkafka reports only in its statistics: producer id and epoch, and how many requests it sent.

It repeats requests without saying so. But it counts what it sends by API, and a call that is done sent at least one
request, so as long as there are no more requests than calls that needed one, none was ever repeated: then a refusal is
the answer to a first try. When librdkafka forgets a broker, that broker's counts are gone, and nothing is certain any
more.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Identity = tuple[int, int]
"""Producer id and epoch."""

COUNTED = ("InitProducerId", "Produce", "TxnOffsetCommit", "EndTxn")
"""APIs by which a verb has its effect; a broker that was asked none of them may be forgotten."""


@dataclass(slots=True)
class Statistics:
    """Filled by librdkafka's ``stats_cb``; read by the client.

    :param identity: The last producer id and epoch; None before there is any.
    :param forgetful: Whether counts were lost.
    """

    identity: Identity | None = None
    forgetful: bool = False
    _at: float = -1.0
    _sent: dict[str, Mapping[str, int]] = field(default_factory=dict)
    _needed: dict[str, int] = field(default_factory=dict)

    def take(self, emitted: str) -> None:
        """One emission (STATISTICS.md of librdkafka); ``ts`` is its monotonic clock, in microseconds."""
        statistics = json.loads(emitted)
        sent = {name: _counted(broker["req"]) for name, broker in statistics["brokers"].items()}
        self.forgetful = self.forgetful or any(
            sent.get(name, {}).get(api, 0) < count
            for name, before in self._sent.items()
            for api, count in before.items()
        )
        self._sent = sent
        self._at = statistics["ts"] / 1e6
        eos = statistics.get("eos", {})
        if eos.get("producer_id", -1) >= 0:
            self.identity = (eos["producer_id"], eos["producer_epoch"])

    def needed(self, api: str) -> None:
        """A call is done that cannot be done without one request of ``api``."""
        self._needed[api] = self._needed.get(api, 0) + 1

    def refresh(self, poll: Callable[[float], object], timeout_seconds: float) -> bool:
        """Wait until an emission is newer than this call; False when none came in time."""
        called = time.monotonic()
        while self._at < called:
            left = called + timeout_seconds - time.monotonic()
            if left <= 0:
                return False
            poll(min(0.02, left))
        return True

    def sent_for_this(self, api: str) -> int | None:
        """How many requests of ``api`` the call that just failed sent at most; None when that is not known."""
        if self.forgetful:
            return None
        total = sum(counts.get(api, 0) for counts in self._sent.values())
        return max(0, total - self._needed.get(api, 0))


def _counted(requests: Mapping[str, int]) -> Mapping[str, int]:
    return {api: requests.get(api, 0) for api in COUNTED}
