"""All rules of a gate: which request is whose, and who waits for what was answered.

Most requests are nobody's, and that has to be found out fast: by proxy and API key alone.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.faults.gate.active_rule import ActiveRule
from harness.faults.gate.request_info import TEACHERS, LatestEpochs, RequestInfo, request_info
from harness.faults.gate.rule import Rule, Until
from harness.wire.api_names import key_of
from harness.wire.frame_codec import UnreadableRequest, opened_request, request_header

TOLD = 50
"""Troubles that are kept."""


@dataclass(frozen=True, slots=True)
class RuleDecision:
    """A request that was decoded; ``engaged`` is the rule that takes it, None where its answer is only listened to."""

    facts: RequestInfo
    body: object
    engaged: ActiveRule | None


@dataclass(slots=True)
class Rulebook:
    """The rules, those that were taken off included, and what was heard."""

    rules: dict[str, ActiveRule] = field(default_factory=dict)
    newest: LatestEpochs = field(default_factory=LatestEpochs)
    troubles: list[str] = field(default_factory=list)
    _taking: Mapping[tuple[str, int], tuple[ActiveRule, ...]] = field(default_factory=dict)
    _heard: frozenset[int] = frozenset()

    def add(self, rule: Rule) -> None:
        """From now on; :raises KeyError: for an API that nobody knows; ValueError: for a name that is taken."""
        if rule.name in self.rules:
            raise ValueError(f"there was a rule {rule.name} already")
        for api in (*rule.when.apis, *(rule.then.until.apis if rule.then.until else ())):
            key_of(api)
        self.rules[rule.name] = ActiveRule(rule=rule)
        self._index()

    def off(self, name: str) -> None:
        """Take a rule off; what it holds goes on. Twice is no error."""
        self.rules[name].on = False
        self._index()
        self.rules[name].release()

    def judge(self, proxy: str, raw: bytes) -> RuleDecision | None:
        """Whose the request is (``raw`` with its length); None for one that is to pass unread."""
        key = int.from_bytes(raw[4:6], "big")
        taking = self._taking.get((proxy, key), ())
        if not taking and key not in self._heard:
            return None
        facts, body = _read(raw[4:])
        return RuleDecision(facts, body, next((one for one in taking if one.takes(facts, self.newest)), None))

    def answered(self, facts: RequestInfo, answer: object, error: int | None) -> None:
        """An answer passed: learn from it, and let go what waited for it."""
        if answer is not None and facts.head.api in TEACHERS:
            self.newest.learn(facts, answer)
        for engaged in self.rules.values():
            until = engaged.rule.then.until
            if until is not None and engaged.inside and _happened(until, facts, error):
                self._let_go(engaged, until, facts)

    def user_error(self, what: str) -> None:
        """Note what went wrong in the gate itself."""
        if len(self.troubles) < TOLD:
            self.troubles.append(what)

    def _let_go(self, engaged: ActiveRule, until: Until, facts: RequestInfo) -> None:
        for struck in list(engaged.inside.values()):
            same = set(struck.facts.transactional_ids) & set(facts.transactional_ids)
            if struck.release is not None and (same or not until.same_id):
                asyncio.get_running_loop().call_later(until.after_ms / 1000, struck.release)

    def _index(self) -> None:
        on = [engaged for engaged in self.rules.values() if engaged.on]
        taking: dict[tuple[str, int], tuple[ActiveRule, ...]] = {}
        for engaged in on:
            for place in [(proxy, key_of(api)) for proxy in engaged.rule.proxies for api in engaged.rule.when.apis]:
                taking[place] = (*taking.get(place, ()), engaged)
        self._taking = taking
        self._heard = frozenset(key_of(api) for engaged in on for api in _listens_to(engaged.rule))


def _listens_to(rule: Rule) -> tuple[str, ...]:
    learns = rule.when.epochs != "any" or rule.then.action == "lie"
    return (*(rule.then.until.apis if rule.then.until else ()), *(TEACHERS if learns else ()))


def _happened(until: Until, facts: RequestInfo, error: int | None) -> bool:
    return facts.head.api in until.apis and (error == 0 or not until.succeeded)


def _read(raw: bytes) -> tuple[RequestInfo, object]:
    head = request_header(raw)
    try:
        body = opened_request(raw, head)
    except UnreadableRequest:
        return RequestInfo(head=head, readable=False), None
    return request_info(head, body), body
