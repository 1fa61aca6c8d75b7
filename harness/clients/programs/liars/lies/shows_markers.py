"""Behind every record one is told that is none."""

from inner_adapter import Fields
from lie import Lie


class ShowsMarkers(Lie):
    def poll(self, call: Fields) -> Fields:
        answer = self.inner.ask(call)
        records = answer.get("records") or []
        markers = [{**each, "offset": each["offset"] + 1, "value": "marker"} for each in records]
        return {**answer, "records": [one for both in zip(records, markers, strict=True) for one in both]}
