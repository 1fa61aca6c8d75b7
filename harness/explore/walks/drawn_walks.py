"""How Hypothesis draws walks: by steps, so that whatever is left of one is a walk again."""

from collections.abc import Sequence

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from harness.model.alphabet import PARTITIONS
from harness.model.walks import WalkAction, WalkStep

INSTANCES = (0, 0, 0, 0, 1, 1, 2)
"""Of the application, on one transactional id; the first does most."""
ACTIONS = (
    WalkAction.WRITE, WalkAction.WRITE, WalkAction.COMMIT, WalkAction.ABORT, WalkAction.ADD, WalkAction.ADD,
    WalkAction.COMMIT_OFFSET, WalkAction.COMMIT_OFFSET, WalkAction.ADD_OFFSETS, WalkAction.LET_GO, WalkAction.LET_GO,
    WalkAction.CLAIM, WalkAction.START,
)  # fmt: skip
"""As often as they stand here; a difference shrinks to the first of them."""
SELDOM = st.sampled_from((*(False,) * 7, True))
STEPS = 24
"""Of the longest walk."""

STEP = st.builds(
    WalkStep,
    action=st.sampled_from(ACTIONS),
    instance=st.sampled_from(INSTANCES),
    partition=st.integers(0, len(PARTITIONS) - 1),
    new_protocol=st.booleans(),
    late=SELDOM,
    unheard=SELDOM,
)
RECORD, OFFSET = (WalkAction.ADD, WalkAction.WRITE), (WalkAction.ADD_OFFSETS, WalkAction.COMMIT_OFFSET)
IN_ORDER = (RECORD, OFFSET, (*RECORD, *OFFSET))
"""What an instance writes whose messages come in order; steps that are drawn one by one seldom get so far."""


def _by_one(
    begins: tuple[WalkAction, ...],
    writes: tuple[WalkAction, ...],
    ends: tuple[WalkAction, ...],
    instance: int,
    partition: int,
    new: bool,
) -> list[WalkStep]:
    return [WalkStep(each, instance, partition, new_protocol=new) for each in (*begins, *writes, *ends)]


TRANSACTION = st.builds(
    _by_one,
    begins=st.sampled_from(((), (WalkAction.START,))),
    writes=st.sampled_from(IN_ORDER),
    ends=st.sampled_from(((), (WalkAction.COMMIT,), (WalkAction.ABORT,))),
    instance=st.sampled_from(INSTANCES),
    partition=st.integers(0, len(PARTITIONS) - 1),
    new=st.booleans(),
)
ONE_STEP = STEP.map(lambda step: [step])
SOME_STEPS = st.one_of(ONE_STEP, ONE_STEP, TRANSACTION)


def _steps(least: int, most: int) -> st.SearchStrategy[list[WalkStep]]:
    several = st.lists(SOME_STEPS, min_size=least, max_size=most)
    return several.map(lambda drawn: [step for some in drawn for step in some][:most])


WALK = _steps(1, STEPS)
"""Lists of steps."""
BETWEEN_EVENTS = 6
"""Steps at most: a transaction that is to time out at an event must not have done so on the way there."""
LAST_STEP = st.builds(
    WalkStep,
    action=st.sampled_from([each for each in ACTIONS if each is not WalkAction.LET_GO]),
    partition=st.integers(0, len(PARTITIONS) - 1),
    new_protocol=st.booleans(),
)
"""Something that is asked, so that what happened before it shows."""
NOTHING, TIME_OUT = (), (WalkAction.TIME_OUT,)
COORDINATOR, LEADER = (WalkAction.MOVE_COORDINATOR,), (WalkAction.MOVE_LEADER,)
ROUNDS: Sequence[tuple[WalkAction, ...]] = (
    *(NOTHING, TIME_OUT, COORDINATOR, NOTHING, LEADER, NOTHING),
    *((*TIME_OUT, *COORDINATOR), NOTHING, (*COORDINATOR, *LEADER), NOTHING),
)
"""What happens in each walk of a round, in this order, round after round. A move strikes all walks that are under way,
and a timeout is waited for by all, so all walks of a round have the same events, between steps of their own."""


WALKS_OF_ROUND, WALKS_WITH_EVENTS = 400, 150
"""That are asked before the clock is looked at: fewer where each step must be soon over."""


def walks_of_round(seed_value: int, number: int) -> Sequence[tuple[WalkStep, ...]]:
    """Those of a round, the same for the same seed."""
    events = events_of_round(number)
    return drawn_walks(seed_value + number, WALKS_WITH_EVENTS if events else WALKS_OF_ROUND, events)


def events_of_round(number: int) -> tuple[WalkAction, ...]:
    """What happens in the walks of that round."""
    return ROUNDS[number % len(ROUNDS)]


def walks_with(events: Sequence[WalkAction]) -> st.SearchStrategy[list[WalkStep]]:
    """Lists of steps in which these happen in this order."""
    if not events:
        return WALK
    steps = _steps(0, BETWEEN_EVENTS)
    parts = st.tuples(*(steps for _ in events), steps, LAST_STEP)
    return parts.map(lambda drawn: _joined(drawn[:-2], events, [*drawn[-2], drawn[-1]]))


def _joined(before: Sequence[list[WalkStep]], events: Sequence[WalkAction], after: list[WalkStep]) -> list[WalkStep]:
    pairs = zip(before, events, strict=True)
    return [step for steps, event in pairs for step in (*steps, WalkStep(event))] + after


def drawn_walks(number: int, count: int, events: Sequence[WalkAction] = ()) -> Sequence[tuple[WalkStep, ...]]:
    """At most ``count`` walks, each once, the same for the same ``number``; ``events`` happen in each."""
    drawn: dict[tuple[WalkStep, ...], None] = {}

    @seed(number)
    @settings(
        max_examples=count,
        phases=(Phase.generate,),
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(walks_with(events))
    def draw(steps: list[WalkStep]) -> None:
        drawn[tuple(steps)] = None

    draw()
    return list(drawn)
