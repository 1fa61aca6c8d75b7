"""KIP890-BUMP-12: sequence numbers begin at 0 again in the epoch that EndTxn returned.

Five records in each of two partitions, then the end, a commit and an abort in turn; the next transaction goes on with
sequence 5 in the one and begins at 0 in the other. Going on means that records were lost or belong to the transaction
before, so it is refused as out of order; then it begins at 0 there, too.
"""

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract import TransactionResult as Result
from harness.contract.byteman.leader_rules import NO_SEQUENCE_CHECK
from harness.contract.byteman.transaction_metadata_rules import END_WITHOUT_BUMP
from harness.contract.doctored import adopted, data, log, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab

RECORDS = 5
OUT_OF_ORDER = KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER


def stimulus(lab: Lab) -> None:
    """For each kind of end, in both partitions, a transaction of five records and a next one of one record."""
    first = lab.partition("P1")
    second = lab.partition("P2", leader=first.leader)
    for result in Result:
        txn = lab.producer(protocol=2)
        for partition in (first, second):
            values = [f"{result.noun} {partition.alias} #{number}" for number in range(RECORDS)]
            txn.produce(partition, values=values, as_=f"five before {result.noun}")
        txn.end(commit=result.commits, as_="end")
        lab.reached(txn, result.completed, as_="ended")
        txn.produce(first, sequence=0, as_="restarted")
        txn.produce(second, sequence=RECORDS, as_="continued", retry=())
        txn.produce(second, sequence=0, as_="restarted")
        txn.end(commit=True, as_="end")


def check(seen: Evidence) -> Observations:
    """0 is accepted, 5 is refused and leaves no trace."""
    for end in seen.all("end"):
        yield expect.accepted(end, otherwise="end-refused")
    for ended in seen.all("ended"):
        yield expect.over(ended)
    for restarted in seen.all("restarted"):
        yield expect.accepted(restarted, otherwise="restarted-sequence-refused")
    for continued in seen.all("continued"):
        yield expect.refused(continued, OUT_OF_ORDER, code=Level.SHOULD, otherwise="continued-sequence-accepted")
    for alias in ("P1", "P2"):
        names = [f"five before {result.noun}" for result in Result] + ["restarted"]
        by_value = {value: write.name for write in expect.writes(seen, alias, *names) for value in write.written()}
        values = [value for value in seen.log(alias).values() if value in by_value]
        committed = [value for value in values if by_value[value] != "five before abort"]
        yield expect.agree(f"number of values in {alias}", len(values), 2 * RECORDS + 2, otherwise="record-lost")
        yield from expect.sound(seen, alias, values, committed=committed)


GOOD = adopted(__file__, "KIP890-BUMP-12")

REQUIREMENT = Requirement(
    id="KIP890-BUMP-12",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="Sequence numbers restart at 0 with the bumped epoch.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("transaction-not-over", GOOD.with_step("ended", state="Ongoing")),
        Refusal("restarted-sequence-refused", GOOD.with_step("restarted", error=OUT_OF_ORDER)),
        Refusal("continued-sequence-accepted", GOOD.with_step("continued", error=0)),
        Refusal("wrong-error", GOOD.with_step("continued", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unanswered", GOOD.with_step("continued", error=None)),
        Refusal(
            "record-lost",
            GOOD.with_log("P1", log(data(7, 0, "commit P1 #0")), committed=("commit P1 #0",), last_stable_offset=1),
        ),
        *unsound(GOOD, "P2"),
    ),
    refuted_by=(
        Failpoint(rules=NO_SEQUENCE_CHECK, anomaly="continued-sequence-accepted"),
        Failpoint(rules=END_WITHOUT_BUMP, anomaly="restarted-sequence-refused"),
        Failpoint(rules=END_WITHOUT_BUMP, anomaly="record-lost"),
    ),
)
