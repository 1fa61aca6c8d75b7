"""Stories of producers that are fenced, and of some that only seem to be: see the stories of what was written."""

from collections.abc import Sequence

from suites.selfcheck.judge_stories import REFUSED, Story, told_in


def a_fenced_producer_writes_with_success(s: Story) -> Sequence[str]:
    s.init()
    s.init("b", epoch=1)
    s.begin(1)
    s.produce(1)
    s.commit(1)
    s.end()
    return ["fenced-but-visible"]


def a_fenced_producer_writes_with_success_and_is_aborted(s: Story) -> Sequence[str]:
    s.init()
    s.init("b", epoch=1)
    s.begin(1)
    s.produce(1)
    s.abort(1)
    s.end()
    return ["fenced-but-acknowledged"]


def a_fenced_producer_ends_with_success_what_it_never_wrote(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.init("b", epoch=1)
    s.produce(1, outcome=REFUSED)
    s.commit(1, control=None)
    s.end()
    return []


def a_write_that_was_refused_by_fencing_is_committed_by_the_successor(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.init("b", epoch=1)
    s.produce(1, outcome=REFUSED, log=True)
    s.whole(2, actor="b")
    s.end()
    return ["fenced-but-visible"]


def two_inits_overlap_and_the_one_that_won_writes(s: Story) -> Sequence[str]:
    s.init("b", epoch=0)
    first = s.init("a", epoch=1)
    s.change("operations", 0, ended=first.ended + 1)
    s.whole(1, actor="a")
    s.end()
    return []


def a_write_under_way_while_another_inits_may_win(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    written = s.produce(1)
    s.commit(1)
    newer = s.init("b", epoch=1)
    s.change("operations", -1, started=written.started - 5, ended=newer.ended)
    s.end()
    return []


def producers_take_turns_with_one_transactional_id(s: Story) -> Sequence[str]:
    for turn, actor in enumerate("abc"):
        s.init(actor, epoch=turn)
        s.whole(9 - turn, actor=actor)
    s.end()
    return []


def one_actor_inits_again_and_goes_on(s: Story) -> Sequence[str]:
    s.init("b", epoch=0)
    s.init("a", epoch=1)
    s.init("b", epoch=2)
    s.whole(1, actor="b")
    s.end()
    return []


STORIES = told_in(globals())
"""Every story of this module."""
