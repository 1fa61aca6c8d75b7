"""KIP691-J-22: the loop of KIP-691's template writes one output for each input, whatever errors it meets.

The errors are a fixed sequence of the matrix in an order that the seed draws: retriable, abortable and fatal ones, and
lost answers; random faults are the scenarios' of ``suites/chaos``. What a library does with each is for other promises;
here counts the output.
"""

from collections import Counter
from contextlib import AbstractContextManager

from harness.contract import (
    Evidence,
    KafkaError,
    LyingClient,
    NotSeen,
    Observations,
    Refusal,
    Requirement,
    Source,
    finding,
    witness,
)
from harness.contract.clients.client_doctored import call, frame, of_client
from harness.contract.clients.client_expect import sent
from harness.contract.doctored import commit, data, log
from harness.lab.clients import ClientLab
from harness.lab.powers.request_gate import Gated
from suites.clients.forms.error_requirement import TRANSACTIONS
from suites.clients.forms.template_loop import TemplateLoop, transformed

ERRORS = (
    ("Produce", KafkaError.NOT_ENOUGH_REPLICAS),
    ("Produce", KafkaError.INVALID_TXN_STATE),
    ("Produce", KafkaError.PRODUCER_FENCED),
    ("TxnOffsetCommit", KafkaError.COORDINATOR_LOAD_IN_PROGRESS),
    ("TxnOffsetCommit", KafkaError.ILLEGAL_GENERATION),
    ("EndTxn", KafkaError.NOT_COORDINATOR),
)
LOST = ("Produce", "EndTxn", "TxnOffsetCommit")
EACH = 2
"""Inputs of a round."""
ENOUGH = 5
"""Requests that must have been struck."""


def stimulus(lab: ClientLab) -> None:
    source, target = lab.partition("P1"), lab.partition("P2")
    feeder = lab.application("feeder", transactional=False)
    loop = TemplateLoop(lab=lab, source=source, target=target, group=lab.group())
    faults: list[tuple[str, KafkaError | None]] = [*ERRORS, *((api, None) for api in LOST)]
    lab.lab.draw.shuffle(faults)
    waiting = 0
    for number, (api, error) in enumerate(faults):
        feeder.produce(source, *(f"{number}-{each}" for each in range(EACH)), as_="feed")
        waiting += EACH
        with struck(loop, api, error):
            waiting = 0 if loop.round(waiting, f"{number} {api}") else waiting
    for rest in range(EACH):
        if waiting:
            waiting = 0 if loop.round(waiting, f"rest {rest}") else waiting
    lab.lab.note("waiting", waiting)


def struck(loop: TemplateLoop, api: str, error: KafkaError | None) -> AbstractContextManager[Gated]:
    """One answer of the loop's instance is this error in the broker's place, or is lost with its connection."""
    if error is not None:
        return loop.app.refused(api, error)
    return loop.app.gate(api, "drop-response", hang_up=True, name=f"{api} lost")


def check(seen: Evidence) -> Observations:
    hit = [frame for frame in sent(seen, *LOST) if frame.answered_by != "broker"]
    if len(hit) < ENOUGH:
        raise NotSeen(f"{len(hit)} requests were struck, {ENOUGH} expected")
    inputs, outputs = seen.log("P1").committed, Counter(seen.log("P2").committed)
    twice = sorted(value for value, times in outputs.items() if times > 1)
    lost = sorted(value for value in inputs if transformed(value) not in outputs)
    what = f"{len(inputs)} inputs, {len(hit)} requests struck"
    yield finding("output-twice", f"{what}: {twice} are shown more than once") if twice else witness(f"{what}: once")
    if seen.fact("waiting") and lost:
        yield finding("stuck", f"{what}: {lost} were never processed")
    else:
        yield (
            finding("input-lost", f"{what}: {lost} have no output") if lost else witness(f"{what}: each has its output")
        )


def story(*outputs: str, waiting: int = 0) -> Evidence:
    """By hand: two inputs and these outputs."""
    struck_ones = tuple(frame("Produce", 12, error=19, by_gate=True) for _ in range(ENOUGH))
    fed = [data(3, 0, value, transactional=False) for value in ("x", "y")]
    return of_client(
        call("produce", name="feed", by="feeder"),
        call("commit", by="loop1", frames=struck_ones),
        logs={"P1": log(*fed), "P2": log(*(data(7, 0, transformed(each)) for each in outputs), commit(7, 0))},
        waiting=waiting,
    )


REQUIREMENT = Requirement(
    id="KIP691-J-22",
    source=Source(691, "Proposed Changes: usage template"),
    statement="The template's loop writes the output of each input once, whatever errors come and answers are lost.",
    needs=(TRANSACTIONS,),
    stimulus=stimulus,
    check=check,
    accepts=(story("x", "y"),),
    refuses=(
        Refusal("output-twice", story("x", "y", "y")),
        Refusal("input-lost", story("x")),
        Refusal("stuck", story("x", waiting=1)),
    ),
    refuted_by=(
        LyingClient(lie="forgets-offsets", anomaly="output-twice"),
        LyingClient(lie="skips-a-record", anomaly="input-lost"),
    ),
)
