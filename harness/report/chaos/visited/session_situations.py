"""Situations of a session's rounds: which were visited, how often, and which were not. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.base.json_value import Json
from harness.evidence.situations.earlier_situations import EarlierSituations
from harness.evidence.situations.kept_situations import RoundSituations
from harness.evidence.situations.situation import NAMED, REQUESTS, Situation, pairs
from harness.report.shared.words import count

NOT_VISITED, NOT_ASKED = "–", ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SituationRow:
    """A state and a request, with a cell for each fault: how many rounds showed it."""

    state: str
    request: str
    meaning: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRow:
    """``faults`` is empty where it was not visited."""

    name: str
    meaning: str
    faults: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SituationTable:
    """``left`` tells what was not visited, a line for each state and request."""

    sentence: str
    faults: tuple[str, ...]
    rows: tuple[SituationRow, ...]
    named: tuple[NamedRow, ...]
    left: tuple[str, ...]
    lacking: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SessionSituations:
    """Of the rounds that recorded them, and of those of the sessions from which this one went on."""

    rounds: Sequence[RoundSituations]
    before: EarlierSituations | None = None

    @property
    def visited(self) -> Counter[Situation]:
        """How many rounds showed each."""
        return Counter(each.situation for round_ in self.rounds for each in round_.visits)

    @property
    def wanted(self) -> frozenset[Situation]:
        """What these rounds could show by their faults."""
        return frozenset(each for round_ in self.rounds for each in round_.wanted)

    @property
    def wanted_together(self) -> frozenset[Situation]:
        """What these rounds and those before could show."""
        return self.wanted | frozenset(self.before.wanted if self.before else ())

    @property
    def visited_together(self) -> frozenset[Situation]:
        """What either showed."""
        return frozenset(self.visited) | frozenset(self.before.visited if self.before else ())

    @property
    def met_together(self) -> frozenset[Situation]:
        """What they could show and showed."""
        return self.wanted_together & self.visited_together

    @property
    def left(self) -> tuple[Situation, ...]:
        """Visited by neither, in the order of the table."""
        there = self.wanted_together - self.visited_together
        return tuple(each for pair in _pairs() for each in sorted(there) if (each.state, each.request) == pair)

    def named(self) -> Mapping[str, Counter[str]]:
        """Of each name, in how many rounds by fault."""
        found: dict[str, Counter[str]] = {name: Counter() for name in NAMED}
        for each in (visit for round_ in self.rounds for visit in round_.named):
            found.setdefault(each.name, Counter())[each.fault] += 1
        return found


def situation_table(
    rounds: Sequence[RoundSituations], before: EarlierSituations | None = None
) -> SituationTable | None:
    """The page's table; None where no round recorded what it is made of."""
    if not rounds:
        return None
    session = SessionSituations(rounds, before)
    faults = tuple(sorted({each.fault for each in session.wanted | session.visited.keys()}))
    return SituationTable(
        sentence=_sentence(session),
        faults=faults,
        rows=tuple(_rows(session, faults)),
        named=tuple(_named_rows(session)),
        left=tuple(_left(session)),
        lacking=tuple(dict.fromkeys(each.lacking for each in rounds if each.lacking)),
    )


def situations_document(rounds: Sequence[RoundSituations], before: EarlierSituations | None = None) -> Json:
    """The same for machines; None where no round recorded it."""
    if not rounds:
        return None
    session = SessionSituations(rounds, before)
    return {
        "wanted": len(session.wanted),
        "visited": [{**_plain(each), "rounds": count} for each, count in sorted(session.visited.items())],
        "not_visited": [_plain(each) for each in session.left],
        "together": _together(session),
        "named": {name: dict(sorted(faults.items())) for name, faults in session.named().items()},
        "lacking": list(dict.fromkeys(each.lacking for each in rounds if each.lacking)),
    }


def _sentence(session: SessionSituations) -> str:
    inside = len(session.wanted & session.visited.keys())
    names = sum(bool(faults) for faults in session.named().values())
    return (
        f"{inside:,} of {len(session.wanted):,} situations that the faults of these rounds can meet were visited, and"
        f" {names} of the {len(NAMED)} that have a name.{_with_earlier(session)}"
    )


def _with_earlier(session: SessionSituations) -> str:
    if session.before is None:
        return ""
    inside = len(session.met_together)
    told = count(session.before.rounds, "round", "rounds")
    return f" Together with {told} of earlier sessions: {inside:,} of {len(session.wanted_together):,}."


def _together(session: SessionSituations) -> Json:
    """None where the session went on from none."""
    if session.before is None:
        return None
    return {
        "rounds_before": session.before.rounds,
        "wanted": len(session.wanted_together),
        "visited": len(session.met_together),
    }


def _pairs() -> list[tuple[str, str]]:
    return list(pairs(groups=True))


def _rows(session: SessionSituations, faults: Sequence[str]) -> Iterator[SituationRow]:
    visited, wanted = session.visited, session.wanted
    beyond = sorted({(each.state, each.request) for each in visited} - set(_pairs()))
    for state, request in [*_pairs(), *beyond]:
        cells = [Situation(state=state, request=request, fault=fault) for fault in faults]
        shown = tuple(_cell(visited[each], asked=each in wanted) for each in cells)
        if any(shown):
            yield SituationRow(state=state, request=request, meaning=REQUESTS.get(request, ""), cells=shown)


def _cell(rounds: int, *, asked: bool) -> str:
    return str(rounds) if rounds else NOT_VISITED if asked else NOT_ASKED


def _named_rows(session: SessionSituations) -> Iterator[NamedRow]:
    for name, faults in session.named().items():
        told = ", ".join(f"{fault} {count}" for fault, count in sorted(faults.items()))
        yield NamedRow(name=name, meaning=NAMED.get(name, ""), faults=told)


def _left(session: SessionSituations) -> Iterator[str]:
    by_pair: dict[tuple[str, str], list[str]] = {}
    for each in session.left:
        by_pair.setdefault((each.state, each.request), []).append(each.fault)
    yield from (f"{state}, {request}: {', '.join(faults)}" for (state, request), faults in by_pair.items())


def _plain(each: Situation) -> dict[str, Json]:
    return {"state": each.state, "request": each.request, "fault": each.fault}
