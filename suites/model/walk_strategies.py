"""How Hypothesis draws walks: by steps, so that a walk shrinks to the fewest and plainest that show a difference."""

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
