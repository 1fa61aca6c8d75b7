"""An adapter's answer, read from its line: what an error's type extends, and what it wraps."""

import json

import pytest

from harness.base.json_value import Json
from harness.clients.stdio.adapter_answer import NotTheProtocol, read_answer
from harness.evidence.client_evidence import LibraryError


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
