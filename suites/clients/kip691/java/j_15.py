"""KIP691-J-15: what commitTransaction throws when the transaction can only be aborted.

KIP-691 wanted ``CommitFailedException``. That was not implemented: every release throws ``KafkaException`` with what
happened as its cause, and ``CommitFailedException`` is kept for groups that have moved on (22, 25 of TxnOffsetCommit;
``TransactionManager.maybeFailWithError``). Since 4.1 the first cause is ``TransactionAbortableException``, in
whose place older releases name the error itself.
"""

from harness.contract import (
    Evidence,
    Library,
    LyingClient,
    NotSeen,
    Observations,
    Refusal,
    Requirement,
    Source,
    agree,
    habit,
)
from harness.contract.clients.client_doctored import call, of_client, with_call
from harness.contract.clients.client_expect import as_it_said, said
from harness.contract.doctored import log
from harness.contract.requirement import numbers_of
from harness.evidence.client_evidence import LibraryError
from harness.lab.clients import ClientLab
from suites.clients.forms.error_requirement import TRANSACTIONS
from suites.clients.forms.next_transaction import SHORT

SINCE = "4.1"
TIMED_OUT, ABORTABLE = "TimeoutException", "TransactionAbortableException"


def stimulus(lab: ClientLab) -> None:
    app, partition = lab.application(**SHORT), lab.partition("P1")
    app.init()
    with app.gate("Produce", "drop-request", at_most=None, name="lost"):
        app.begin()
        app.produce(partition, "a", as_="produce")
        app.commit(as_="commit")
    app.abort(as_="abort")


def check(seen: Evidence) -> Observations:
    produced, committed = said(seen, "produce").error, said(seen, "commit").error
    if produced is None or produced.type != TIMED_OUT:
        raise NotSeen("the record's time was not over")
    thrown = "" if committed is None else committed.type
    yield habit(agree("what commitTransaction throws", thrown, "KafkaException", otherwise="another-exception"))
    causes = [] if committed is None else [cause.type for cause in committed.causes]
    expected = [ABORTABLE, TIMED_OUT] if numbers_of(str(seen.fact("version"))) >= numbers_of(SINCE) else [TIMED_OUT]
    yield habit(agree("its causes", causes, expected, otherwise="another-cause"))
    yield from as_it_said(seen)


def story(*causes: str, type_: str = "KafkaException", version: str = "4.3.1") -> Evidence:
    """By hand: commit throws this."""
    thrown = LibraryError(type=type_, causes=[LibraryError(type=cause) for cause in causes])
    told = of_client(
        call("init"),
        call("begin"),
        call("produce", "a", outcome="unsure", type_=TIMED_OUT),
        call("commit", outcome="refused"),
        call("abort"),
        logs={"P1": log()},
        version=version,
    )
    return with_call(told, "commit", error=thrown)


GOOD = story(ABORTABLE, TIMED_OUT)

REQUIREMENT = Requirement(
    id="KIP691-J-15",
    source=Source(691, "Proposed Changes: commitTransaction will throw CommitFailedException"),
    statement="Java's commitTransaction throws KafkaException with the cause where a transaction can only be aborted.",
    needs=(TRANSACTIONS, Library(("java",))),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, story(TIMED_OUT, version="4.0.1")),
    refuses=(
        Refusal("another-exception", story(ABORTABLE, TIMED_OUT, type_="CommitFailedException")),
        Refusal("another-cause", story(TIMED_OUT)),
        Refusal("aborted-is-shown", GOOD.with_log("P1", committed=("a",))),
    ),
    refuted_by=(
        LyingClient(lie="commits-after-refused-record", anomaly="another-exception"),
        LyingClient(lie="drops-causes", anomaly="another-cause"),
    ),
)
