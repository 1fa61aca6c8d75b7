"""A mapping that can be part of a state: equal and hashed by what is in it, never changed."""

from collections.abc import Hashable, ItemsView, Iterator, Mapping, ValuesView
from typing import TypeVar, overload

KeyT = TypeVar("KeyT", bound=Hashable)
ValueT = TypeVar("ValueT", bound=Hashable)
OtherT = TypeVar("OtherT")


class FrozenMap(Mapping[KeyT, ValueT]):
    """Of keys to values that can be hashed; :meth:`put` makes another one."""

    __slots__ = ("_hash", "_items")

    def __init__(self, items: Mapping[KeyT, ValueT] | None = None) -> None:
        """A copy of ``items``."""
        self._items = dict(items or {})
        self._hash: int | None = None

    def put(self, key: KeyT, value: ValueT) -> "FrozenMap[KeyT, ValueT]":
        """The same with ``value`` at ``key``."""
        return _holding({**self._items, key: value})

    def without(self, key: KeyT) -> "FrozenMap[KeyT, ValueT]":
        """The same without ``key``, whether or not it was there."""
        if key not in self._items:
            return self
        return _holding({each: value for each, value in self._items.items() if each != key})

    def __getitem__(self, key: KeyT) -> ValueT:
        return self._items[key]

    def __iter__(self) -> Iterator[KeyT]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    # What a Mapping has of these goes through __iter__ and __getitem__; a search spends a tenth of its time in them.

    @overload
    def get(self, key: KeyT, /) -> ValueT | None: ...
    @overload
    def get(self, key: KeyT, default: ValueT | OtherT, /) -> ValueT | OtherT: ...
    def get(self, key: KeyT, default: object = None, /) -> object:
        return self._items.get(key, default)

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def items(self) -> ItemsView[KeyT, ValueT]:
        return self._items.items()

    def values(self) -> ValuesView[ValueT]:
        return self._items.values()

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._items.items()))
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FrozenMap) and self._items == other._items

    def __repr__(self) -> str:
        return f"FrozenMap({self._items})"


def _holding(items: dict[KeyT, ValueT]) -> FrozenMap[KeyT, ValueT]:
    """These, which nobody else holds."""
    made = FrozenMap.__new__(FrozenMap)
    made._items, made._hash = items, None
    return made
