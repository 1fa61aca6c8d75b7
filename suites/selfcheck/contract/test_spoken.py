"""What a client spoke, from its requests: versions, protocols, levels; and libraries that a promise is made to."""

from dataclasses import replace

import pytest

from harness.contract import Library, NotSeen
from harness.contract.clients.client_doctored import batch, call, frame, of_client
from harness.contract.clients.spoken import protocols, seen_level, spoken, spoken_transaction, within_offered
from harness.contract.clients.spoken_stories import OFFERED, begin, end, shown_level, started, told, write
from harness.contract.expect import Finding

PLAIN = replace(batch("x"), transactional=False)


def test_versions_are_listed_by_api_in_order() -> None:
    frames = (frame("Produce", 12), frame("EndTxn", 4), frame("Produce", 3), frame("Produce", 12))
    assert spoken(frames) == {"EndTxn": [4], "Produce": [3, 12]}


def test_a_version_or_an_addition_tells_the_protocol_and_a_plain_record_tells_none() -> None:
    assert protocols([frame("Produce", 12, batch("x"))]) == ["v2"]
    assert protocols([frame("AddOffsetsToTxn", 4), frame("EndTxn", 5)]) == ["v1", "v2"]
    assert protocols([frame("Produce", 13, PLAIN), frame("InitProducerId", 5)]) == []


def test_a_transaction_has_what_its_application_sent_from_beginning_to_end() -> None:
    seen = of_client(started(), *told("first", new=False), *told("second", new=True, epoch=1))
    first, second = spoken_transaction(seen, "first"), spoken_transaction(seen, "second")
    assert (first.protocols, first.identities, first.is_new) == (["v1"], [(7, 0)], False)
    assert (second.protocols, second.identities, second.is_new) == (["v2"], [(7, 1)], True)


def test_a_transaction_that_sent_nothing_was_not_seen() -> None:
    with pytest.raises(NotSeen, match="sent no request"):
        spoken_transaction(of_client(begin("idle"), call("commit", name="idle end")), "idle")


def test_the_level_is_that_of_the_highest_epoch_and_unknown_without_an_answer_that_tells_it() -> None:
    seen = of_client(call("init", frames=(shown_level(2, epoch=11), shown_level(1, epoch=9))))
    assert seen_level(seen, "app", 99.0) == 2
    assert seen_level(seen, "app", 1.0) is None
    assert seen_level(of_client(call("init", frames=(frame("ApiVersions", 2),))), "app", 99.0) is None


def test_a_version_that_the_broker_does_not_advertise_is_found_and_a_first_question_is_not() -> None:
    known = of_client(started(), write("a", new=True, epoch=0), end("a", new=True, epoch=0), offered=OFFERED)
    assert not any(isinstance(each, Finding) for each in within_offered(known))
    strange = of_client(call("init", frames=(frame("ApiVersions", 9), frame("EndTxn", 6))), offered=OFFERED)
    assert [each.anomaly for each in within_offered(strange) if isinstance(each, Finding)] == ["unoffered-version"]


def test_a_promise_may_be_of_several_libraries_each_from_a_version_on() -> None:
    new = Library(("java",), since="4.0", also=(Library(("franz-go",), since="1.19"),))
    assert new.holds("java", "4.3.1")
    assert new.holds("franz-go", "1.22.2")
    assert not new.holds("java", "3.9.2")
    assert not new.holds("franz-go", "1.18.0")
    assert str(new) == "java from 4.0 or franz-go from 1.19"
