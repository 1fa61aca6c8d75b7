"""Every poll is told to be refused; what was delivered is told with it."""

from inner_adapter import Fields
from lie import REFUSED, Lie


class PollsFail(Lie):
    def poll(self, call: Fields) -> Fields:
        return {**self.inner.ask(call), **REFUSED}
