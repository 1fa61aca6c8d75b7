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
    WalkAction.LET_GO, WalkAction.LET_GO, WalkAction.CLAIM, WalkAction.START,
)  # fmt: skip
"""As often as they stand here; a difference shrinks to the first of them."""
SELDOM = st.sampled_from((False, False, False, True))
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
WALK = st.lists(STEP, min_size=1, max_size=STEPS)
"""Lists of steps."""


def drawn_walks(number: int, count: int) -> Sequence[tuple[WalkStep, ...]]:
    """At most ``count`` walks, each once, the same for the same ``number``."""
    drawn: dict[tuple[WalkStep, ...], None] = {}

    @seed(number)
    @settings(
        max_examples=count,
        phases=(Phase.generate,),
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(WALK)
    def draw(steps: list[WalkStep]) -> None:
        drawn[tuple(steps)] = None

    draw()
    return list(drawn)
