"""Our JSON comes back as it was, and a line of another shape is refused with the field named."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

import pytest

from harness.base.json_value import Json
from harness.base.kafka_error import KafkaError
from harness.evidence.json_codec import Malformed, from_json, from_plain, to_json, to_json_lines, to_plain


class Colour(StrEnum):
    """An enum among the fields."""

    RED = "red"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A dataclass among the fields."""

    size: int = 0

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError(f"size {self.size} is negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """One field of each kind that evidence has."""

    number: int
    at_ms: float = 0.0
    colour: Colour = Colour.RED
    control: Literal["COMMIT", "ABORT"] | None = None
    leaves: tuple[Leaf, ...] = ()
    by_name: Mapping[str, Leaf] = field(default_factory=dict)
    answer: Mapping[str, Json] = field(default_factory=dict)


TREE = Tree(
    number=2**63 - 1,
    at_ms=1.5,
    control="ABORT",
    leaves=(Leaf(size=1), Leaf()),
    by_name={"ä": Leaf(size=2)},
    answer={"a": [1, {"b": [None, True]}], "c": "\u2028"},
)


def test_a_value_comes_back_as_it_was() -> None:
    assert from_json(Tree, to_json(TREE)) == TREE
    assert from_json(Tree, to_json(TREE).encode()) == TREE
    assert from_plain(Tree, to_plain(TREE)) == TREE


def test_absent_fields_get_their_defaults() -> None:
    assert from_json(Tree, '{"number":1,"leaves":[{}],"at_ms":3}') == Tree(number=1, leaves=(Leaf(),), at_ms=3.0)


def test_plain_values_are_dicts_lists_and_scalars() -> None:
    read_only: Mapping[str, Json] = MappingProxyType({"error": KafkaError.INVALID_PRODUCER_EPOCH})
    assert to_plain(Tree(number=1, leaves=(Leaf(size=1),), answer=read_only)) == {
        "number": 1,
        "at_ms": 0.0,
        "colour": "red",
        "control": None,
        "leaves": [{"size": 1}],
        "by_name": {},
        "answer": {"error": 47},
    }


def test_lines_are_one_for_each_value() -> None:
    assert to_json_lines([Leaf(), Leaf(size=1)]) == b'{"size":0}\n{"size":1}\n'
    assert to_json_lines([]) == b""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nonsense", "not JSON"),
        ('{"number":1', "not JSON"),
        ('{"number":NaN}', "not JSON"),
        (b'{"number":1,"control":"\xff"}', "not UTF-8"),
        ("[]", "Expected `object`"),
        ("{}", "missing required field `number`"),
        ('{"number":1,"leaves":{}}', r"at `\$.leaves`"),
        ('{"number":1.0}', r"at `\$.number`"),
        ('{"number":true}', r"at `\$.number`"),
        ('{"number":"1"}', r"at `\$.number`"),
        ('{"number":null}', r"at `\$.number`"),
        ('{"number":1,"at_ms":true}', r"at `\$.at_ms`"),
        ('{"number":1,"colour":"blue"}', r"'blue' - at `\$.colour`"),
        ('{"number":1,"control":"MAYBE"}', r"'MAYBE' - at `\$.control`"),
        ('{"number":1,"leaves":[{},{"size":"1"}]}', r"at `\$.leaves\[1\].size`"),
        ('{"number":1,"leaves":[{"size":-1}]}', r"size -1 is negative - at `\$.leaves\[0\]`"),
        ('{"number":1,"stranger":1}', r"unknown field - at `\$.stranger`"),
        ('{"number":1,"leaves":[{},{"stranger":null}]}', r"unknown field - at `\$.leaves\[1\].stranger`"),
        ('{"number":1,"by_name":{"a":{"stranger":[]}}}', r"unknown field - at `\$.by_name.a.stranger`"),
    ],
)
def test_another_shape_is_refused_and_the_field_is_named(text: str | bytes, reason: str) -> None:
    with pytest.raises(Malformed, match=reason):
        from_json(Tree, text)


def test_what_json_cannot_hold_is_refused() -> None:
    with pytest.raises(TypeError, match="object has no place in evidence"):
        to_json({"a": object()})
