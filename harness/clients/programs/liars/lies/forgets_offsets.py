"""Offsets are never put into the transaction, and said to be."""

from inner_adapter import Fields
from lie import DONE, Lie


class ForgetsOffsets(Lie):
    def send_offsets(self, _call: Fields) -> Fields:
        return DONE
