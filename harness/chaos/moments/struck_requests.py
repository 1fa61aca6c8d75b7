"""Which requests a toxic may strike, in the words of situations: one on single requests meets no other."""

from collections.abc import Sequence

from harness.evidence.situations import situation as words
from harness.faults.frame_toxic import FrameToxic
from harness.faults.toxic import Toxic

ON_LINKS = {words.MARKERS: (words.MARKERS,), words.ADD: (words.VERIFICATION,)}
ON_LANES = {
    words.PRODUCE: (words.PRODUCE, words.ADD),
    words.COMMIT_OFFSETS: (words.COMMIT_OFFSETS, words.ADD_OFFSETS),
}
"""A first Produce to a partition, and a group's first offsets, are also what adds them (KIP-890)."""


def struck_requests(toxic: Toxic) -> tuple[str, ...]:
    """Empty for one that strikes whatever is there."""
    if not isinstance(toxic, FrameToxic):
        return ()
    meant = ON_LANES if toxic.on == "lanes" else ON_LINKS
    return tuple(dict.fromkeys(request for api in toxic.apis for request in meant.get(api, (api,))))


def requests_by_fault(toxics: Sequence[Toxic]) -> dict[str, tuple[str, ...]]:
    """By the name of each."""
    return {toxic.name: struck_requests(toxic) for toxic in toxics}
