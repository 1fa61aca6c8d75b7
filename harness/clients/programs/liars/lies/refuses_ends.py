"""Commits and aborts are asked for, and each is told to be refused, whatever came of it."""

from inner_adapter import Fields
from lie import REFUSED, Lie


class RefusesEnds(Lie):
    def commit(self, call: Fields) -> Fields:
        return {**self.inner.ask(call), **REFUSED}

    abort = commit
