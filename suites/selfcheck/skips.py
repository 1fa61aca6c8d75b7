"""Typed skips of the selfcheck: a test may be skipped only for a tool that is missing, named with its remedy."""

from enum import StrEnum
from typing import NoReturn

import pytest


class Missing(StrEnum):
    """Tools that a selfcheck may do without."""

    CHROMIUM = "chromium"
    CHROMEDRIVER = "chromedriver"
    ENGINE = "dockerd"
    COMPOSE = "docker-compose"


def skip_missing(tool: Missing, *, remedy: str) -> NoReturn:
    """Skip the running test because ``tool`` is not on this machine; ``remedy`` is the command that brings it."""
    pytest.skip(f"missing-tool: {tool.value} is not on the PATH; {remedy}")
