"""KIP664-LT-04: ListTransactions shows the ids on which the user has Describe; the others are left out in silence.

Both are the KIP's ("it will only include transactions for which the principal has Describe permission"): a list of
what one may see is no refusal.
"""

from harness.base.json_value import Json
from harness.contract import Access, Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.authorizer_rules import EVERYTHING_ALLOWED, NO_DESCRIBE
from harness.contract.doctored import commit, data, evidence, log, step, unsound
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab
from harness.lab.powers.users import AclOperation, on_id, on_ids
from harness.wire.requests.transactions.list_transactions import ListTransactions
from suites.contract.wishes import ALICE, USERS

API = "ListTransactions"
IDS = ("first", "second", "other")
SHOWN: dict[str, tuple[str, ...]] = {
    "nothing granted": (),
    "prefix granted": IDS[:2],
    "one id granted": IDS[2:],
    "superuser": IDS,
}


def stimulus(lab: Lab) -> None:
    """Three open transactions of one coordinator, two of ids that begin alike; listed with more and more granted."""
    partition, describe = lab.partition("P1"), AclOperation.DESCRIBE
    first = lab.producer("victim")
    second = lab.producer("victim", coordinator=first.coordinator)
    other = lab.producer("rival", coordinator=first.coordinator)
    for name, txn in zip(IDS, (first, second, other), strict=True):
        lab.notes.aliases[txn.transactional_id] = name
        txn.write(partition)
    alike = first.transactional_id.rpartition("-")[0]
    prefix, one = (on_ids(alike, describe),), (on_id(other, describe),)
    grants = {"nothing granted": (), "prefix granted": prefix, "one id granted": one}
    for version in lab.offered(API, range(3)):
        for name, granted in grants.items():
            with lab.grant(ALICE, *granted):
                lab.user(ALICE).ask(first.coordinator, ListTransactions(), version, as_=name)
        lab.observer.transactions(first.coordinator, as_="superuser", version=version)
    for txn in (first, second, other):
        txn.end(commit=True)


def check(seen: Evidence) -> Observations:
    """Never an error; of the three ids those that are granted, with their state."""
    for name, promised in SHOWN.items():
        for listed in seen.all(name):
            yield expect.accepted(listed, otherwise="list-refused")
            found = _ids(listed)
            hidden, missing = sorted(set(found) - set(promised)), sorted(set(promised) - set(found))
            yield expect.agree(f"{name}: ids too many", hidden, [], listed, otherwise="forbidden-id-listed")
            yield expect.agree(f"{name}: ids left out", missing, [], listed, otherwise="permitted-id-left-out")
    yield from expect.sound(seen, "P1")


def _ids(listed: Step) -> list[str]:
    """Those of the three that it shows: other requirements have ids on the cluster as well."""
    rows = listed.fields.get("transactions")
    shown = [row.get("transactional_id") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return [str(one) for one in shown if one in IDS]


def listed(name: str, *ids: str, error: int = 0) -> Step:
    """A list of these ids."""
    rows: list[Json] = [{"transactional_id": one, "producer_id": 7, "state": "Ongoing"} for one in ids]
    return step(name, API, 0, error=error, transactions=rows)


GOOD = evidence(
    *(listed(name, *ids) for name, ids in SHOWN.items()),
    logs={"P1": log(data(7, 0, "a"), data(8, 0, "b"), commit(8, 0), commit(7, 0))},
)

REQUIREMENT = Requirement(
    id="KIP664-LT-04",
    source=Source(664, API),
    statement="ListTransactions shows the ids on which the user has Describe and leaves out the others without error.",
    needs=(Offers(API, 0),),
    cluster=USERS,
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("list-refused", GOOD.with_step("nothing granted", error=KafkaError.CLUSTER_AUTHORIZATION_FAILED)),
        Refusal("forbidden-id-listed", GOOD.with_step("nothing granted", **listed("", "other").fields)),
        Refusal("forbidden-id-listed", GOOD.with_step("prefix granted", **listed("", *IDS).fields)),
        Refusal("permitted-id-left-out", GOOD.with_step("prefix granted", **listed("", "first").fields)),
        Refusal("permitted-id-left-out", GOOD.with_step("superuser", **listed("", "first").fields)),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=EVERYTHING_ALLOWED, anomaly="forbidden-id-listed"),
        Failpoint(rules=NO_DESCRIBE, anomaly="permitted-id-left-out"),
    ),
)
