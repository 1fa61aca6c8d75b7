"""KIP890-FEAT-02-NEW, -FORMATTED: a cluster begins at the level of transaction.version that it was formatted with.

A new cluster starts at level 2, which is Kafka's choice; ``kafka-storage.sh format --feature`` chooses another one
(KIP-1022). KIP890-FEAT-02 asks the same of a cluster that was upgraded.
"""

from harness.base.unprepared import OutOfReach
from harness.contract import (
    Evidence,
    Level,
    Observations,
    Offers,
    OwnCluster,
    Refusal,
    Requirement,
    Source,
)
from harness.contract.byteman.feature_rules import NO_LEVELS_SHOWN
from harness.contract.checks.feature_checks import FEATURE, at_level
from harness.contract.doctored import evidence, step
from harness.contract.refuters import Failpoint
from harness.contract.requirement import Feature
from harness.lab import Lab
from suites.contract.wishes import FORMATTED_AT_1


def stimulus(lab: Lab, level: int) -> None:
    """What every broker shows of a cluster that nobody has changed."""
    if not lab.cluster.owned:
        raise OutOfReach("how a running cluster was formatted is not known")
    lab.levels.shown(FEATURE, level, as_="begun")


def check(seen: Evidence, level: int) -> Observations:
    """Every broker shows this level."""
    yield from at_level(seen, "begun", level, otherwise="wrong-first-level")


def requirement(id_: str, statement: str, level: int, wish: OwnCluster | None) -> Requirement[Lab]:
    """A cluster that begins at this level."""
    good = evidence(
        *(step("begun", "ApiVersions", 4, node=node, finalized_features={FEATURE: level}) for node in (1, 2))
    )
    return Requirement(
        id=id_,
        source=Source(890, "Transaction Feature Version (0)"),
        statement=statement,
        needs=(Offers("UpdateFeatures", 1), Feature(FEATURE, 2)),
        level=Level.SHOULD,
        cluster=wish,
        stimulus=lambda lab: stimulus(lab, level),
        check=lambda seen: check(seen, level),
        accepts=(good,),
        refuses=(Refusal("wrong-first-level", good.with_step("begun", finalized_features={})),),
        refuted_by=(Failpoint(rules=NO_LEVELS_SHOWN, anomaly="wrong-first-level"),),
    )


REQUIREMENTS = (
    requirement("KIP890-FEAT-02-NEW", "A newly formatted cluster starts at level 2.", 2, None),
    requirement(
        "KIP890-FEAT-02-FORMATTED", "A cluster starts at the level that it was formatted with.", 1, FORMATTED_AT_1
    ),
)
