"""Kinds of frame toxics that differ in few values: messages that are lost or repeated, requests that are delayed."""

from collections.abc import Mapping, Sequence
from functools import partial
from random import Random
from typing import Literal

from harness.base.json_value import Json
from harness.faults.frame_rule import Then, When
from harness.faults.frame_toxic import Aim, FrameToxic
from harness.faults.typed_draws import number, texts

OFTEN_LOST = ("Produce", "EndTxn")
SOMETIMES_LOST = ("InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit")


def lost_messages(name: str, action: Literal["drop-request", "drop-response"], *, how: str) -> FrameToxic:
    """A share of the requests of clients' transactions, or of their responses, is dropped.

    The connection ends in their place, or stays open without an answer.
    """

    def rule(chosen: Mapping[str, Json], aim: Aim) -> tuple[When, Then]:
        return share_of_requests(chosen, aim), Then(action=action, hang_up=bool(chosen["hang_up"]))

    apis = (*OFTEN_LOST, *SOMETIMES_LOST)
    return FrameToxic(name=name, on="lanes", how=how, apis=apis, draw_values=_draw_lost, rule=rule)


def share_of_requests(chosen: Mapping[str, Json], aim: Aim) -> When:
    """``percent`` of the requests of the drawn ``apis`` that carry a transactional id."""
    return When(
        apis=texts(chosen, "apis"),
        transactional_ids=aim.transactional_ids,
        transactional=True,
        probability=number(chosen, "percent") / 100,
        seed=aim.seed,
    )


def delayed_requests(name: str, api: str, *, versions: Sequence[int] = (), by_id: bool = True) -> FrameToxic:
    """A share of one API's requests from broker to broker waits ``ms`` at the gate; those behind them wait too."""
    rule = partial(_delay, api, tuple(versions))
    how = f"{api} requests held"
    return FrameToxic(name=name, on="links", how=how, apis=(api,), draw_values=_draw_delay, rule=rule, by_id=by_id)


def _draw_lost(draw: Random) -> Mapping[str, Json]:
    often, sometimes = draw.sample(OFTEN_LOST, draw.randint(1, 2)), draw.sample(SOMETIMES_LOST, draw.randint(0, 2))
    return {"apis": [*often, *sometimes], "percent": draw.randint(10, 60), "hang_up": draw.random() < 0.7}


def _draw_delay(draw: Random) -> Mapping[str, Json]:
    return {"ms": draw.randint(50, 1_500), "percent": draw.randint(30, 100)}


def _delay(api: str, versions: tuple[int, ...], chosen: Mapping[str, Json], aim: Aim) -> tuple[When, Then]:
    when = When(
        apis=(api,),
        versions=versions,
        transactional_ids=aim.transactional_ids,
        probability=number(chosen, "percent") / 100,
        seed=aim.seed,
    )
    return when, Then(action="hold", at_most_ms=number(chosen, "ms"))
