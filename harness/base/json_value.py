"""The type of any JSON value."""

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
else:  # msgspec reads annotations at run time, and knows no recursive alias
    Json: TypeAlias = Any
