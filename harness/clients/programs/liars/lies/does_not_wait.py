"""A commit that takes longer than half a second is told as done; its answer is waited for at the next call."""

from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong

from inner_adapter import Fields, InnerAdapter
from lie import DONE, Lie, deliveries

WAITS_SECONDS = 0.5


class DoesNotWait(Lie):
    def __init__(self, inner: InnerAdapter) -> None:
        super().__init__(inner)
        self.pool = ThreadPoolExecutor(1)
        self.going: Future[Fields] | None = None

    def answer(self, call: Fields) -> Fields:
        late = deliveries(self.going.result()) if self.going else []
        self.going = None
        answer = super().answer(call)
        return {**answer, "deliveries": [*late, *deliveries(answer)]}

    def commit(self, call: Fields) -> Fields:
        going = self.pool.submit(self.inner.ask, call)
        try:
            return going.result(WAITS_SECONDS)
        except TookTooLong:
            self.going = going
            return DONE
