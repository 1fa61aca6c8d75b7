"""KIP890-TOC-04: an offset commit whose transaction coordinator cannot say is refused as one to try again.

The group's coordinator asks another broker whether the offsets belong to the transaction. At the gate on the link
between them the question is lost with its connection, or the answer becomes that of a coordinator that is loading, has
moved, or is not available. The KIP converts "all the retriable errors" to COORDINATOR_NOT_AVAILABLE for old clients
(versions up to 3). Kafka passes some on since 3.8, but only such that those clients try again after
(``TransactionManager.TxnOffsetCommitHandler``), so there the code is a finding of level SHOULD. Of versions 4 and 5 the
KIP says nothing; their clients try again after any retriable error.
"""

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
from harness.contract.byteman.verification_rules import coordinator_error_is_a_yes, coordinator_error_is_invalid_state
from harness.contract.doctored import ended, evidence, gate, step, strike
from harness.contract.refuters import Failpoint, Liar
from harness.lab import GateAction, Group, Lab, Partition, Producer

EARLY, LATER = 7, 9
NOT_AVAILABLE, LOADING, MOVED = (
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.NOT_COORDINATOR,
)
TROUBLES: dict[str, tuple[GateAction, KafkaError]] = {
    "lost": ("drop-request", KafkaError.NETWORK_EXCEPTION),
    "not available": ("rewrite", NOT_AVAILABLE),
    "loading": ("rewrite", LOADING),
    "moved": ("rewrite", MOVED),
}
TRIED_AGAIN = (NOT_AVAILABLE, LOADING, MOVED, KafkaError.REQUEST_TIMED_OUT)
"""After these alone old clients try again; the KIP chose the first."""
LAST_OF_OLD_CLIENTS = 3


def stimulus(lab: Lab) -> None:
    """Each trouble in turn, at each version; then the offset is taken and committed."""
    group = lab.group()
    elsewhere = lab.another_broker(group.offsets.leader)
    partition = lab.partition("P1", leader=elsewhere)
    for version in lab.offered("TxnOffsetCommit", (3, 4, 5)):
        txn = lab.producer(protocol=2 if version >= 5 else 1, coordinator=elsewhere)
        if version < 5:
            txn.add_offsets(group)
        for trouble in TROUBLES:
            _commit_in_trouble(lab, txn, group, partition, version, trouble)
        txn.commit_offset(group, partition, LATER, version=version, as_=f"later v{version}")
        txn.end(commit=True, as_=f"end v{version}")
        lab.reached(txn, "CompleteCommit", "Empty", as_=f"over v{version}")  # until then the offset is pending
        lab.observer.committed_offset(group, partition, require_stable=True, as_=f"offset v{version}")


def _commit_in_trouble(lab: Lab, txn: Producer, group: Group, partition: Partition, version: int, trouble: str) -> None:
    (action, error), case = TROUBLES[trouble], f"{trouble} v{version}"
    link, lost = lab.link(group.offsets.leader, txn.coordinator), action == "drop-request"
    with lab.gate(link, api="AddPartitionsToTxn", action=action, name=case, error=error, hang_up=lost):
        txn.commit_offset(group, partition, EARLY, version=version, retry=(), as_=case)


def check(seen: Evidence) -> Observations:
    """Refused so that the client tries again; then taken, and that offset alone is committed."""
    for version in (later.version for later in seen.steps if later.name.startswith("later ")):
        for trouble in TROUBLES:
            early = seen[f"{trouble} v{version}"]
            expect.gated(seen, early.name)
            promised = (NOT_AVAILABLE,) if version <= LAST_OF_OLD_CLIENTS else TRIED_AGAIN
            yield expect.refused(early, *promised, also=TRIED_AGAIN, otherwise="unverified-offset-accepted")
        for mended in (seen[f"later v{version}"], seen[f"end v{version}"]):
            yield expect.accepted(mended, otherwise="refused-after-mending")
        yield expect.shows(seen[f"offset v{version}"], offset=LATER, otherwise="wrong-offset-committed")


def refused(version: int, code: KafkaError) -> Evidence:
    """Each trouble refused with this code, and the offset committed after it."""
    cases = tuple(f"{trouble} v{version}" for trouble in TROUBLES)
    return evidence(
        *(step(case, "TxnOffsetCommit", version, error=code) for case in cases),
        step(f"later v{version}", "TxnOffsetCommit", version),
        ended(f"end v{version}", version=5 if version >= 5 else 4),
        step(f"offset v{version}", "OffsetFetch", 9, offset=LATER),
        faults=tuple(gate(case, "rewrite", strike("AddPartitionsToTxn", 5)) for case in cases),
    )


GOOD = refused(3, NOT_AVAILABLE)

REQUIREMENT = Requirement(
    id="KIP890-TOC-04",
    source=Source(890, "Old Clients / TxnOffsetCommit Requests"),
    statement="An offset commit whose transaction coordinator cannot be asked is refused so that it is tried again.",
    needs=(Offers("TxnOffsetCommit", 3), Offers("AddPartitionsToTxn", 4), Offers("OffsetFetch", 7)),
    order=Order.HOLDS_LINKS,
    access=(Access.BROKERS, Access.LINKS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, refused(4, LOADING), refused(5, MOVED)),
    refuses=(
        Refusal("unverified-offset-accepted", GOOD.with_step("loading v3", error=0)),
        Refusal("wrong-error", GOOD.with_step("loading v3", error=LOADING)),
        Refusal("wrong-error", GOOD.with_step("moved v3", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unanswered", GOOD.with_step("lost v3", error=None)),
        Refusal("refused-after-mending", GOOD.with_step("later v3", error=NOT_AVAILABLE)),
        Refusal("refused-after-mending", GOOD.with_step("end v3", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("wrong-offset-committed", GOOD.with_step("offset v3", offset=EARLY)),
    ),
    refuted_by=(
        Failpoint(rules=coordinator_error_is_a_yes(MOVED.name), anomaly="unverified-offset-accepted"),
        Failpoint(rules=coordinator_error_is_invalid_state(MOVED.name), anomaly="wrong-error"),
        Liar(api="OffsetFetch", fields={"committed_offset": EARLY}, anomaly="wrong-offset-committed"),
    ),
)
