"""A model that is wrong in one rule, and how wrong rules are made of right ones."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from enum import StrEnum
from types import ModuleType
from typing import Any
from unittest.mock import patch

from msgspec import structs


class ShownBy(StrEnum):
    """The least that tells a mutant from the model."""

    REQUESTS = "a cell of the grid: requests one after the other"
    EVENTS = "a slow cell: a timeout, a move, or a message that waits"
    ORDER = "an order of messages that no cell has"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One rule altered.

    :param says: What the wrong model says. :param change: Makes the wrong rule of the right one.
    :param shown_by: What tells it from the model.
    """

    says: str
    module: ModuleType
    rule: str
    change: Callable[[Callable[..., Any]], Callable[..., Any]]
    shown_by: ShownBy = ShownBy.REQUESTS

    def in_force(self) -> AbstractContextManager[object]:
        """While the block lasts, the rule is the wrong one."""
        return patch.object(self.module, self.rule, self.change(getattr(self.module, self.rule)))


def always(value: object) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return lambda _rule: lambda *_given, **_named: value


def then(change: Callable[[Any], Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """What the rule gives, changed."""
    return lambda rule: lambda *given, **named: change(rule(*given, **named))


def asked_as(**changes: Callable[[Any], object]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The rule, asked for something else: each field by what is known."""

    def change(rule: Callable[..., Any]) -> Callable[..., Any]:
        def changed(known: Any, asked: Any, *given: Any, **named: Any) -> Any:
            values = {} if known is None else {name: value(known) for name, value in changes.items()}
            return rule(known, structs.replace(asked, **values), *given, **named)

        return changed

    return change


def with_profile(**changes: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The rule of a release that differs so; the profile is the last thing that it is given."""
    return lambda rule: lambda *given: rule(*given[:-1], replace(given[-1], **changes))


def replaced(wrong: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return lambda _rule: wrong
