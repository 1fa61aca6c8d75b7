"""The walks of a comparison: the same on both targets, and one of each kind that differs is cut."""

from pathlib import Path

from harness.base.seed import Seed
from harness.cluster.run_options import RunOptions
from harness.explore.cell_results import CellExchange, CellOutcome, CellResult, Difference
from harness.explore.explore_options import ExploreOptions
from harness.explore.walks.same_walks import AskedWalks, each_once, one_of_each_kind, walks_of_comparison
from harness.explore.walks.walk_exploration import FoundWalk, Walk
from harness.model.protocol_profile import NEWEST
from harness.model.walks import WalkAction, WalkOffer, WalkStep, path_of


def options(target: str, folder: Path) -> ExploreOptions:
    """Of a target, by one seed."""
    return ExploreOptions(run=RunOptions(target=target, folder=folder, seed=Seed(3)))


def walk(*actions: WalkAction) -> Walk:
    """Of one instance."""
    return tuple(map(WalkStep, actions))


def differs(number: int, asked: str, part: str, seen: str, steps: int) -> CellResult:
    """A walk whose last answer is not what the model says."""
    exchange = CellExchange(asked=asked, sent="", node=1, version=3, answered=seen)
    return CellResult(
        cell=number,
        state="",
        request="",
        outcome=CellOutcome.DIFFERS,
        steps=steps,
        differences=(Difference(part=part, expected="NONE", seen=seen),),
        exchanges=(exchange,) * steps,
    )


def test_two_targets_are_asked_the_same_walks_and_half_of_them_in_the_old_protocol_alone(tmp_path: Path) -> None:
    walks = walks_of_comparison(options("kafka:3.9.2", tmp_path), 0)
    assert walks == walks_of_comparison(options("kafka:4.3.1", tmp_path), 0)
    alike = [
        path_of(each, NEWEST, WalkOffer()) == path_of(each, NEWEST, WalkOffer(new_protocol=False)) for each in walks
    ]
    assert all(alike[1::2])
    assert not all(alike[::2])


def test_of_each_kind_that_differs_the_shortest_is_cut_whatever_its_numbers_are() -> None:
    long, short = walk(*[WalkAction.START] * 9), walk(WalkAction.START, WalkAction.COMMIT)
    other, eventful = walk(WalkAction.START, WalkAction.ABORT), walk(WalkAction.TIME_OUT, WalkAction.COMMIT)
    chosen = one_of_each_kind(
        [
            (long, differs(1, "EndTxnAsked(epoch=3)", "step 10", "PRODUCER_FENCED", 10)),
            (short, differs(2, "EndTxnAsked(epoch=1)", "step 2", "PRODUCER_FENCED", 2)),
            (other, differs(3, "EndTxnAsked(epoch=1)", "step 2", "INVALID_TXN_STATE", 2)),
            (eventful, differs(4, "EndTxnAsked(epoch=1)", "step 2", "NOT_COORDINATOR", 2)),
        ]
    )
    assert [each for each, _ in chosen] == [short, other]


def test_walks_that_are_cut_to_the_same_requests_are_told_once() -> None:
    asked = AskedWalks(profile=NEWEST, offer=WalkOffer(), rounds=1)
    result = differs(1, "EndTxnAsked(epoch=1)", "step 2", "PRODUCER_FENCED", 2)
    long, short = walk(WalkAction.START, WalkAction.COMMIT), walk(WalkAction.START)
    cut = [FoundWalk(steps=steps, share="3 of 3", result=result) for steps in (long, short, long)]
    assert [each.steps for each in each_once(cut, asked)] == [short, long]
