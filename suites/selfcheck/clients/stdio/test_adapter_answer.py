"""An adapter's answer, read from its line: what an error's type extends, and what it wraps."""

import json
from dataclasses import replace

import pytest

from harness.base.json_value import Json
from harness.clients.stdio.adapter_answer import NotTheProtocol, read_answer
from harness.clients.stdio.adapter_name import AdapterCommand
from harness.contract import Ability, Offers
from harness.evidence.client_evidence import LibraryError
from harness.lab.clients.client_under_test import ClientUnderTest


def line(**error: Json) -> str:
    """A refused answer with this error."""
    return json.dumps({"id": 1, "outcome": "refused", "error": {"type": "Fenced", **error}})


def test_an_error_has_the_types_that_it_extends_and_its_causes() -> None:
    told = read_answer(line(bases=["ApiException", "KafkaException"], causes=[{"type": "Older", "bases": ["Base"]}]))
    older = LibraryError(type="Older", bases=["Base"], causes=[])
    assert told.error == LibraryError(type="Fenced", bases=["ApiException", "KafkaException"], causes=[older])


def test_an_error_needs_neither() -> None:
    assert read_answer(line()).error == LibraryError(type="Fenced", bases=[], causes=[])


@pytest.mark.parametrize("bases", ["ApiException", [1]])
def test_the_types_that_it_extends_are_texts(bases: Json) -> None:
    with pytest.raises(NotTheProtocol, match="bases is no list of texts"):
        read_answer(line(bases=bases))


def opened(*lacks: Json) -> str:
    """An answer to open that names what the library lacks."""
    return json.dumps({"id": 1, "outcome": "done", "library": "l", "version": "1", "lacks": [*lacks]})


def test_a_library_says_what_it_lacks() -> None:
    assert read_answer(opened("giving-up")).lacks == {"giving-up"}
    assert read_answer(opened()).lacks == read_answer('{"id": 1, "outcome": "done"}').lacks == frozenset()


@pytest.mark.parametrize(
    ("lacks", "why"), [("magic", "lacks names 'magic', not one of giving-up,"), (1, "no list of texts")]
)
def test_what_it_lacks_is_named_as_the_protocol_names_it(lacks: Json, why: str) -> None:
    with pytest.raises(NotTheProtocol, match=why):
        read_answer(opened(lacks))


def test_a_promise_that_needs_what_a_library_lacks_is_not_its_own() -> None:
    command = AdapterCommand(name="l:1", command=("l",))
    lacking = ClientUnderTest(command=command, library="l", version="1", lacks=frozenset({"giving-up"}))
    needs = (Offers("EndTxn", 0), Ability("giving-up"))
    assert lacking.lacking(needs) == (
        "l says that it has no giving-up: it sends a record of a transaction again until it is answered, however long "
        "that takes"
    )
    assert lacking.lacking((Ability("foreign-offsets"),)) is replace(lacking, lacks=frozenset()).lacking(needs) is None
