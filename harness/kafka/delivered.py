"""A record as a reader delivers it to an application."""

from typing import TypeAlias

Delivered: TypeAlias = tuple[str, int, int, str]
"""Topic, partition, offset, and value as text."""
