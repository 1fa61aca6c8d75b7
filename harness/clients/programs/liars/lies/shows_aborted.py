"""A consumer that was asked to read what is committed reads everything."""

from inner_adapter import Fields
from lie import Lie


class ShowsAborted(Lie):
    def open(self, call: Fields) -> Fields:
        return self.inner.ask({**call, "isolation": "read_uncommitted"})
