"""The catalogue of promises: what is asked, what is not, and why; no id that nobody promised."""

import re

from harness.base.paths import CLIENTS, CONTRACT, ROOT
from harness.contract.catalogue.promises import Promises, read_promises
from harness.contract.catalogue.requirement_catalogue import find
from harness.report.contract.listing import coverage

PROMISES = read_promises(CONTRACT, CLIENTS)
OF_CLIENTS = [entry.requirement.id for entry in find(CLIENTS)]
OF_BROKERS = [entry.requirement.id for entry in find(CONTRACT)]
REQUIREMENTS = [*OF_BROKERS, *OF_CLIENTS]
SOURCE = ROOT.parent / "shared" / "requirements.md"
FEW = Promises(of_brokers=("KIP1-A-01", "KIP1-A-02", "KIP1-A-03"), of_clients=("KIP1-B-01",), not_asked={})


def test_every_requirement_is_of_the_catalogue() -> None:
    every = {*PROMISES.of_brokers, *PROMISES.of_clients}
    strangers = [id_ for id_ in OF_BROKERS if re.sub(r"(?<=\d)-[A-Z]+$", "", id_) not in every]
    assert not strangers


def test_what_clients_are_asked_is_what_clients_promise() -> None:
    """A promise of brokers may be asked of clients too, by an id with a word behind it; other groups are our own."""
    groups = {id_.rpartition("-")[0] for id_ in (*PROMISES.of_brokers, *PROMISES.of_clients)}
    plain = {id_ for id_ in OF_CLIENTS if re.fullmatch(r"KIP\d+-[A-Z]+-\d+", id_)}
    assert {id_ for id_ in plain if id_.rpartition("-")[0] in groups} - set(PROMISES.of_clients) == set()


def test_few_promises_are_not_asked_and_none_of_them_is_asked() -> None:
    assert len(PROMISES.not_asked) < 10
    every = {*PROMISES.of_brokers, *PROMISES.of_clients}
    assert set(PROMISES.not_asked) <= every - set(PROMISES.asked(REQUIREMENTS))


def test_the_counts_are_those_of_the_document_that_they_come_from() -> None:
    """Which is compared where it is at hand; the product does not need it."""
    every = (*PROMISES.of_brokers, *PROMISES.of_clients)
    assert len(set(every)) == len(every) == 273
    if SOURCE.is_file():
        stated = re.findall(r"^\*\*(KIP\d+-[A-Z]+-\d+)\*\*", SOURCE.read_text(encoding="utf-8"), re.MULTILINE)
        assert sorted(stated) == sorted(every)


def test_what_is_missing_is_named_and_what_has_a_reason_is_not() -> None:
    some = Promises(of_brokers=FEW.of_brokers, of_clients=FEW.of_clients, not_asked={"KIP1-A-02": "nobody can see it"})
    assert some.missing(["KIP1-A-01-SPARK"]) == ("KIP1-A-03", "KIP1-B-01")
    assert list(coverage(["KIP1-A-01"], some)) == [
        "promises of brokers: 1 of 3 asked",
        "promises of clients: 0 of 1 asked",
        "cannot be asked (suites/contract/NOT_ASKED.md): KIP1-A-02",
        "not asked yet: KIP1-A-03, KIP1-B-01",
    ]


def test_ids_beyond_the_catalogue_are_shown_and_count_as_none_of_its_promises() -> None:
    assert FEW.asked(["KIP1-A-01", "KIP9-Z-01"]) == ("KIP1-A-01",)
    assert list(coverage(["KIP1-A-01-SPARK", "KIP9-Z-01"], FEW)) == [
        "promises of brokers: 1 of 3 asked",
        "promises of clients: 0 of 1 asked",
        "beyond the catalogue, with ids of this suite's own: KIP9-Z-01",
        "not asked yet: KIP1-A-02, KIP1-A-03, KIP1-B-01",
    ]
