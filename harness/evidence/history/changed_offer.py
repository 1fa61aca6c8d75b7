"""What brokers advertised otherwise after settling than before the run (``facts.changed_offers`` of ``run.json``)."""

from dataclasses import dataclass

CHANGED_OFFERS = "changed_offers"
"""The fact: a list of :class:`ChangedOffer`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedOffer:
    """An API or a feature in one broker's answers to ApiVersions, with what was told of it; "nothing" for nothing."""

    broker: int
    what: str
    before: str
    after: str
