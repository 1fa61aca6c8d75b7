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
RAISED_WITHOUT_ASKING_NODES = rule(
    "the controller does not ask what the nodes support",
    f"{_FEATURES}#reasonNotSupported",
    "return java.util.Optional.empty()",
    when='$1.equals("transaction.version")',
)
LEVEL_NEEDS_METADATA = _at_update(
    "the transaction version may be raised with the metadata version alone",
    f'return new org.apache.kafka.common.requests.ApiError({_REFUSED}, "raise metadata.version first")',
    "$2 == 2",
)
_BROKERS = "org.apache.kafka.controller.ClusterControlManager"
_REGISTERED = "org.apache.kafka.common.metadata.RegisterBrokerRecord$BrokerFeature"
BROKERS_JOIN_UNASKED = rule(
    "a broker is let in whatever it supports",
    f"{_BROKERS}#processRegistrationFeature",
    "return taken",
    bind=f"""kept:{_REGISTERED} = new {_REGISTERED}();
     named:{_REGISTERED} = kept.setName($3.name());
     from:{_REGISTERED} = named.setMinSupportedVersion($3.minSupportedVersion());
     taken:{_REGISTERED} = from.setMaxSupportedVersion($3.maxSupportedVersion())""",
) + rule("a broker is let in whatever it does not name", f"{_BROKERS}#lambda$registerBroker$0", "return")
_RECORD = "org.apache.kafka.common.metadata.FeatureLevelRecord"
_LEVELS = "org.apache.kafka.server.common.TransactionVersion"
METADATA_CHANGE_RESETS_THE_LEVEL = rule(
    "a change of the metadata version takes the transaction version along",
    f"{_FEATURES}#updateFeature",
    "$4.add(new org.apache.kafka.server.common.ApiMessageAndVersion(lowered, level))",
    when='$1.equals("metadata.version") AND $2 == 22',
    bind=f"""level = {_LEVELS}.TV_0.featureLevel();
     record:{_RECORD} = new {_RECORD}();
     named:{_RECORD} = record.setName("transaction.version");
     lowered:{_RECORD} = named.setFeatureLevel(level)""",
)
_API_VERSIONS = "org.apache.kafka.server.DefaultApiVersionManager#apiVersionResponse"
_SHOWN = "org.apache.kafka.common.message.ApiVersionsResponseData$FinalizedFeatureKey"
SHOWS_LEVEL_2_UNASKED = rule(
    "the broker says that level 2 is finalized, whatever it is",
    _API_VERSIONS,
    "$!.data().finalizedFeatures().add(shown)",
    bind=f"""level = {_LEVELS}.TV_2.featureLevel();
     key:{_SHOWN} = new {_SHOWN}();
     named:{_SHOWN} = key.setName("transaction.version");
     to:{_SHOWN} = named.setMaxVersionLevel(level);
     shown:{_SHOWN} = to.setMinVersionLevel(level)""",
    at="EXIT",
)
NO_LEVELS_SHOWN = rule(
    "the broker says that nothing is finalized", _API_VERSIONS, "$!.data().finalizedFeatures().clear()", at="EXIT"
)
METADATA_SHOWN_MOVED_ALONG = rule(
    "the first two times that a broker shows level 2, it shows the next metadata version as well",
    _API_VERSIONS,
    '$!.data().finalizedFeatures().find("metadata.version").setMaxVersionLevel(java.lang.Short.parseShort("22"))',
    when='$!.data().finalizedFeatures().find("transaction.version") != null'
    ' AND $!.data().finalizedFeatures().find("transaction.version").maxVersionLevel() == 2'
    ' AND $!.data().finalizedFeatures().find("metadata.version").maxVersionLevel() == 21'
    ' AND incrementCounter("metadata shown moved along") <= 2',
    at="EXIT",
)
