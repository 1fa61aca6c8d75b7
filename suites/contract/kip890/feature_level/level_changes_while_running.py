"""KIP890-FEAT-03: transaction.version can be changed while the cluster runs, up and down, by steps and by jumps.

The KIP promises that it is dynamically changeable, and that it can be turned off again; KIP-584 that every broker shows
the finalized level, under an epoch that grows with each change. Level 0 is shown by the feature's absence. All six
moves between 0, 1 and 2 are made.
"""

from itertools import pairwise

from harness.base.json_value import Json
from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.feature_rules import (
    FEATURES_EPOCH_STANDS_STILL,
    LEVEL_1_IS_FINAL,
    LEVEL_CHANGES_ARE_LOST,
)
from harness.contract.checks.feature_checks import FEATURE, at_level
from harness.contract.doctored import evidence, step
from harness.contract.refuters import Failpoint
from harness.contract.requirement import Feature
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab

LEVELS = (2, 1, 0, 1, 2, 0, 2)
MOVES = tuple(f"{old} to {new}" for old, new in pairwise(LEVELS))


def stimulus(lab: Lab) -> None:
    """Ask for each move, and wait until every broker shows it."""
    with lab.admin.keeping(FEATURE):
        lab.levels.ask(FEATURE, LEVELS[0])
        lab.levels.shown(FEATURE, LEVELS[0], as_="before")
        for move, old, new in zip(MOVES, LEVELS[:-1], LEVELS[1:], strict=True):
            lab.levels.ask(FEATURE, new, down=new < old, as_=move)
            lab.levels.shown(FEATURE, new, as_=f"after {move}")


def check(seen: Evidence) -> Observations:
    """Each move is accepted; then every broker shows the level, in a newer epoch than before it."""
    yield from at_level(seen, "before", LEVELS[0], otherwise="level-not-shown")
    epochs = {answer.node: _epoch(answer) for answer in seen.all("before")}
    for move, new in zip(MOVES, LEVELS[1:], strict=True):
        yield expect.accepted(seen[move], otherwise="level-not-changed")
        yield from at_level(seen, f"after {move}", new, otherwise="level-not-shown")
        for answer in seen.all(f"after {move}"):
            what = f"{move}: the epoch on broker {answer.node} grows beyond {epochs[answer.node]}"
            yield expect.unless(_epoch(answer) > epochs[answer.node], what, answer, otherwise="epoch-did-not-grow")
            epochs[answer.node] = _epoch(answer)


def _epoch(answer: Step) -> int:
    return answer.answer_int("finalized_features_epoch")


def _shown(name: str, level: int, epoch: int) -> tuple[Step, ...]:
    shown: Json = {FEATURE: level} if level else {}
    return tuple(
        step(name, "ApiVersions", 4, node=node, finalized_features=shown, finalized_features_epoch=epoch)
        for node in (1, 2)
    )


GOOD = evidence(
    *_shown("before", LEVELS[0], 10),
    *(step(move, "UpdateFeatures", 2) for move in MOVES),
    *(
        shown
        for epoch, (move, level) in enumerate(zip(MOVES, LEVELS[1:], strict=True), 11)
        for shown in _shown(f"after {move}", level, epoch)
    ),
)

REQUIREMENT = Requirement(
    id="KIP890-FEAT-03",
    source=Source(890, "Transaction Feature Version (0)"),
    statement="The level of transaction.version can be changed while the cluster runs, up and down.",
    needs=(Offers("UpdateFeatures", 1), Feature(FEATURE, 2)),
    order=Order.CHANGES_SETTINGS,
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("level-not-changed", GOOD.with_step("2 to 0", error=KafkaError.INVALID_UPDATE_VERSION)),
        Refusal("level-not-shown", GOOD.with_step("before", finalized_features={})),
        Refusal("level-not-shown", GOOD.with_step("after 0 to 1", finalized_features={FEATURE: 2})),
        Refusal("epoch-did-not-grow", GOOD.with_step("after 0 to 2", finalized_features_epoch=15)),
    ),
    refuted_by=(
        Failpoint(rules=LEVEL_1_IS_FINAL, anomaly="level-not-changed"),
        Failpoint(rules=LEVEL_CHANGES_ARE_LOST, anomaly="level-not-shown"),
        Failpoint(rules=FEATURES_EPOCH_STANDS_STILL, anomaly="epoch-did-not-grow"),
    ),
)
