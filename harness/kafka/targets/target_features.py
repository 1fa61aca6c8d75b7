"""What a target advertises: API ranges and features, from which it follows what applies to it.

A promise applies where the target offers the API version or feature that it is about, never because of a version
string: the same contract must judge a vendor's broker (KIP-511 ApiVersions, KIP-584 features).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import assert_never

from harness.base.clock import RunClock
from harness.base.json_value import Json
from harness.base.user_error import ExitCode, UserError
from harness.cluster.cluster import Cluster
from harness.cluster.observer_client import observer_client
from harness.contract import Ability, Feature, Library, Need, Offers
from harness.evidence.recorder import Recorder
from harness.wire.wire_client import Offered
from harness.wire.wire_errors import WireError

TRANSACTION_APIS = ("InitProducerId", "AddPartitionsToTxn", "EndTxn", "Produce")


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetFeatures:
    """What each broker offers, the intersection of their API ranges, and the features."""

    brokers: Mapping[int, Offered]
    apis: Mapping[str, tuple[int, int]]
    supported: Mapping[str, tuple[int, int]]
    finalized: Mapping[str, int]

    def described(self, cluster: Cluster) -> dict[str, Json]:
        """The part of ``run.json`` that describes what was judged."""
        return {
            "identity": cluster.identity,
            "backend": cluster.backend,
            "versions": dict(cluster.versions),
            "apis": {name: list(limits) for name, limits in sorted(self.apis.items())},
            "features": {
                "supported": {name: list(limits) for name, limits in sorted(self.supported.items())},
                "finalized": dict(sorted(self.finalized.items())),
            },
        }


def read_target_features(cluster: Cluster, clock: RunClock, recorder: Recorder) -> TargetFeatures:
    """Ask every broker what it offers; :raises UserError: when one is silent or knows no transactions."""
    client = observer_client(cluster.topology, clock, recorder=recorder)
    try:
        answers = {broker: client.offered(broker) for broker in cluster.topology.brokers}
    except WireError as silence:
        sentence = f"{cluster.identity} does not say what it offers: {silence}"
        raise UserError(sentence, exit=ExitCode.TARGET_UNREACHABLE) from silence
    finally:
        client.close()
    offered = list(answers.values())
    offer = TargetFeatures(
        brokers=answers,
        apis=_common([broker.apis for broker in offered]),
        supported=_common([broker.supported_features for broker in offered]),
        finalized=max(offered, key=lambda broker: broker.finalized_features_epoch).finalized_features,
    )
    if missing := [api for api in TRANSACTION_APIS if api not in offer.apis]:
        sentence = f"{cluster.identity} knows no transactions: it does not offer {', '.join(missing)}"
        raise UserError(sentence, exit=ExitCode.TARGET_UNREACHABLE)
    return offer


def lacking(needs: Iterable[Need], offer: TargetFeatures) -> str | None:
    """The first need that the target does not meet, as a sentence, or None."""
    return next((sentence for need in needs if (sentence := _lack(need, offer))), None)


def _lack(need: Need, offer: TargetFeatures) -> str | None:
    match need:
        case Offers(api=api, version=version):
            low, high = offer.apis.get(api, (0, -1))
            if low <= version <= high:
                return None
            return f"{api} v{version} is not offered" + (f" (offered: {low}–{high})" if high >= 0 else "")
        case Feature(name=name, level=level):
            low, high = offer.supported.get(name, (0, 0))
            if low <= level <= high:
                return None
            return f"feature {name} at level {level} is not supported (supported: {low}–{high})"
        case Library() | Ability():
            return None  # nothing that a target has
    assert_never(need)


def _common(ranges: list[Mapping[str, tuple[int, int]]]) -> dict[str, tuple[int, int]]:
    everywhere = set(ranges[0]).intersection(*ranges[1:])
    common = {name: (max(r[name][0] for r in ranges), min(r[name][1] for r in ranges)) for name in everywhere}
    return {name: limits for name, limits in common.items() if limits[0] <= limits[1]}
