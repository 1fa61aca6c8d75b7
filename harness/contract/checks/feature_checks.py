"""What a check asks of finalized features, as ApiVersions v4 shows them (KIP-584, KIP-1022)."""

from harness.contract.expect import Observations, agree
from harness.evidence.requirement_evidence import Evidence, NotSeen, Step

FEATURE = "transaction.version"
METADATA = "metadata.version"


def level(answer: Step, feature: str = FEATURE) -> int:
    """The level that this broker shows; 0 is shown by the feature's absence.

    :raises NotSeen: When the broker did not answer.
    """
    finalized = answer.fields.get("finalized_features")
    if answer.error != 0 or not isinstance(finalized, dict):
        raise NotSeen(f"{answer.name!r}: broker {answer.node} did not show its features")
    return int(str(finalized.get(feature, 0)))


def at_level(seen: Evidence, name: str, wanted: int, *, otherwise: str, feature: str = FEATURE) -> Observations:
    """Every broker that was asked under this name shows the level."""
    for answer in seen.all(name):
        what = f"{name}: {feature} on broker {answer.node}"
        yield agree(what, level(answer, feature), wanted, answer, otherwise=otherwise)
