"""Whether brokers advertise after settling what they did before (ApiVersions: KIP-35, KIP-511; features: KIP-584).

A client chooses its protocol by it: a broker that no longer tells that ``transaction.version`` is 2 has its clients go
back to the old one. A broker that was started again may know of the finalized levels a moment later, so that what
differs is asked for again.
"""

from collections.abc import Iterator, Mapping, Sequence

from harness.base import wait
from harness.evidence.history.changed_offer import ChangedOffer
from harness.kafka.leader_client import RETRY_SECONDS, LeaderClient
from harness.wire.offered import Offered

NOTHING = "nothing"
EPOCH = "epoch of the finalized features"
"""It grows with every change of the cluster's metadata, by the controllers' log."""


def changed_offers(
    leader_client: LeaderClient, before: Mapping[int, Offered], *, within_seconds: float
) -> Sequence[ChangedOffer]:
    """What is told otherwise until the time is over; a broker that does not answer tells nothing.

    :param before: What each broker told then.
    """
    found: Sequence[ChangedOffer] = ()

    def unchanged() -> bool:
        nonlocal found
        found = [each for broker, offered in before.items() for each in _changes_of(leader_client, broker, offered)]
        return not found

    wait.elapsed_ms_until(unchanged, timeout_seconds=within_seconds, interval_seconds=RETRY_SECONDS)
    return found


def _changes_of(leader_client: LeaderClient, broker: int, before: Offered) -> Iterator[ChangedOffer]:
    now = leader_client.advertised_by(broker)
    if now is None:
        return
    then, told = _told(before), _told(now)
    for what in sorted({*then, *told}):
        earlier, later = then.get(what, NOTHING), told.get(what, NOTHING)
        if earlier != later:
            yield ChangedOffer(broker=broker, what=what, before=earlier, after=later)
    epochs = before.finalized_features_epoch, now.finalized_features_epoch
    if epochs[1] < epochs[0]:  # clients take no notice of levels that are older than those that they know (KIP-584)
        yield ChangedOffer(broker=broker, what=EPOCH, before=str(epochs[0]), after=str(epochs[1]))


def _told(offered: Offered) -> Mapping[str, str]:
    """Each API and feature, in words."""
    ranges = {**offered.apis, **{f"supported {name}": told for name, told in offered.supported_features.items()}}
    levels = {f"finalized {name}": str(level) for name, level in offered.finalized_features.items()}
    return {**{name: f"{low} to {high}" for name, (low, high) in ranges.items()}, **levels}
