"""Rules that break feature levels: how the controller changes them, and what brokers show.

Names of classes and arguments are those of Kafka 4.3.1 (``org.apache.kafka.controller.FeatureControlManager``).
"""

from harness.contract.byteman.rule_text import rule

_FEATURES = "org.apache.kafka.controller.FeatureControlManager"
_REFUSED = "org.apache.kafka.common.protocol.Errors.INVALID_UPDATE_VERSION"


def _at_update(name: str, do: str, when: str, at: str = "ENTRY") -> str:
    """One feature's update: ``$1`` its name, ``$2`` the level, ``$4`` the records that are to be written."""
    return rule(name, f"{_FEATURES}#updateFeature", do, when=f'$1.equals("transaction.version") AND {when}', at=at)


LEVEL_1_IS_FINAL = _at_update(
    "the transaction version cannot be lowered below 1",
    f'return new org.apache.kafka.common.requests.ApiError({_REFUSED}, "never")',
    "$2 == 0",
)
LEVEL_CHANGES_ARE_LOST = _at_update(
    "a lowered transaction version is answered and never written", "$4.clear()", "$2 == 1", at="EXIT"
)
FEATURES_EPOCH_STANDS_STILL = rule(
    "the epoch of the finalized features never grows",
    "org.apache.kafka.common.message.ApiVersionsResponseData#setFinalizedFeaturesEpoch",
    "$1 = 5",
)
LEVEL_3_TAKEN = _at_update(
    "a level that is not supported is taken", "return org.apache.kafka.common.requests.ApiError.NONE", "$2 == 3"
)
EVERY_WAY_TAKEN_FOR_DOWN = _at_update(
    "a lower level needs no permission",
    "$3 = org.apache.kafka.clients.admin.FeatureUpdate$UpgradeType.SAFE_DOWNGRADE",
    "$2 == 1",
)
