"""``--part K/N``: the parts of the negative controls are neighbours, and together they are all of them."""

from argparse import ArgumentTypeError
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.app import contract_plugin
from harness.app.contract_plugin import take_part
from harness.app.option_table import part_of

CONFIG = cast(Any, SimpleNamespace(hook=SimpleNamespace(pytest_deselected=lambda **_items: None)))


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_every_control_is_in_one_part(parts: int) -> None:
    every, taken = list(range(20)), []
    for part in range(1, parts + 1):
        own = cast(Any, list(every))
        take_part(CONFIG, own, part, parts)
        assert own == list(range(own[0], own[-1] + 1))
        taken += own
    assert taken == every


def test_parts_take_about_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract_plugin, "_cost", lambda item: 4 if item >= 12 else 1)
    shares = []
    for part in (1, 2):
        own = cast(Any, list(range(15)))
        take_part(CONFIG, own, part, 2)
        shares.append(own)
    assert shares == [list(range(12)), [12, 13, 14]]


@pytest.mark.parametrize("text", ["4/3", "0/3", "1", "1/0", "a/b", ""])
def test_what_is_no_part_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="write K/N"):
        part_of(text)
