"""What every lie is made of: it answers calls, and asks the inner adapter or not."""

from collections.abc import Iterator

from inner_adapter import Fields, InnerAdapter

DONE: Fields = {"outcome": "done"}
REFUSED: Fields = {
    "outcome": "refused",
    "error": {"type": "Refused", "message": "a lie", "code": None, "class": None, "causes": []},
}
Record = tuple[str, int, str]


class Lie:
    """The truth. A lie overrides :meth:`answer`, or has a method named after each call that it lies about."""

    def __init__(self, inner: InnerAdapter) -> None:
        self.inner = inner

    def answer(self, call: Fields) -> Fields:
        """The answer to a call; its ``id`` is set afterwards."""
        lied_about = getattr(self, call["call"], None)
        return self.inner.ask(call) if lied_about is None else lied_about(call)


def records(produce: Fields) -> list[Record]:
    """Topic, partition and value of each record of a call of ``produce``."""
    return [(produce["topic"], produce["partition"], value) for value in produce["values"]]


def record(delivery: Fields) -> Record:
    """Which record was delivered."""
    return delivery["topic"], delivery["partition"], delivery["value"]


def deliveries(answer: Fields) -> list[Fields]:
    """Those of an answer; none where it has no such field."""
    return answer.get("deliveries") or []


def as_if_delivered(produce: Fields) -> Fields:
    """The answer that each record was written."""
    told = [{"topic": topic, "partition": number, "value": value} for topic, number, value in records(produce)]
    return {**DONE, "deliveries": [{**each, **DONE, "offset": None} for each in told]}


def errors(answer: Fields) -> Iterator[Fields]:
    """All errors of an answer: its own, and those of its deliveries."""
    for one in (answer, *deliveries(answer)):
        if one.get("error"):
            yield one["error"]


def cannot_go_on(answer: Fields) -> bool:
    """Whether the library reports an error after which this producer is of no use."""
    return any(error.get("class") in ("fenced", "fatal") for error in errors(answer))


def delivered(answer: Fields) -> list[Fields]:
    """Its deliveries, each as a success."""
    return [{"offset": None, **each, **DONE, "error": None} for each in deliveries(answer)]


def as_success(call: Fields, answer: Fields) -> Fields:
    """The same without an error; a library may refuse to take a record, and then delivers nothing."""
    told = delivered(answer)
    known = [record(each) for each in told]
    asked = as_if_delivered(call)["deliveries"] if call["call"] == "produce" else []
    return {
        **answer,
        **DONE,
        "error": None,
        "deliveries": [*told, *(each for each in asked if record(each) not in known)],
    }
