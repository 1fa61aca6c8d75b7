"""Every second produce is a success that was never handed to the library."""

from inner_adapter import Fields, InnerAdapter
from lie import Lie, as_if_delivered


class LosesRecords(Lie):
    def __init__(self, inner: InnerAdapter) -> None:
        super().__init__(inner)
        self.produced = 0

    def produce(self, call: Fields) -> Fields:
        self.produced += 1
        return self.inner.ask(call) if self.produced % 2 else as_if_delivered(call)
