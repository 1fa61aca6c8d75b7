"""All rules of a gate: which rule takes a request, and which held requests a response releases.

Most requests match no rule, and that has to be found out fast: by proxy and API key alone.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.faults.frame_rule import Rule, Until
from harness.faults.gate.active_rule import ActiveRule
from harness.faults.gate.latest_steps import WRITES, LatestSteps
from harness.faults.gate.request_info import IDENTITY_APIS, LatestEpochs, RequestInfo, request_info
from harness.faults.gate.watch.logged_frame import LoggedFrame
from harness.wire.api_names import key_of
from harness.wire.frame_codec import UnreadableRequest, read_request, request_header

ERRORS_KEPT = 50


@dataclass(frozen=True, slots=True)
class DecodedRequest:
    """A request that was decoded; ``rule`` is the one that takes it, None where only its response is of interest.

    :param logged: There where its client is watched.
    """

    info: RequestInfo
    body: object
    rule: ActiveRule | None
    logged: LoggedFrame | None = None


@dataclass(slots=True)
class Rulebook:
    """The rules, those that were taken off included, the latest identities, and errors of the gate itself."""

    rules: dict[str, ActiveRule] = field(default_factory=dict)
    latest: LatestEpochs = field(default_factory=LatestEpochs)
    steps: LatestSteps = field(default_factory=LatestSteps)
    errors: list[str] = field(default_factory=list)
    _by_proxy_and_api: Mapping[tuple[str, int], tuple[ActiveRule, ...]] = field(default_factory=dict)
    _watched_apis: frozenset[int] = frozenset()
    _noted_apis: frozenset[int] = frozenset()

    def add(self, rule: Rule) -> None:
        """From now on; :raises KeyError: for an unknown API; ValueError: for a name that is in use."""
        if rule.name in self.rules:
            raise ValueError(f"there was a rule {rule.name} already")
        for api in (*rule.when.apis, *(rule.then.until.apis if rule.then.until else ())):
            key_of(api)
        self.rules[rule.name] = ActiveRule(rule=rule)
        self._index()

    def off(self, name: str) -> None:
        """Take a rule off; what it holds is forwarded. Twice is no error."""
        self.rules[name].on = False
        self._index()
        self.rules[name].release()

    def match(self, proxy: str, raw: bytes, logged: LoggedFrame | None = None) -> DecodedRequest | None:
        """The request (``raw`` with its length) and the rule that takes it; None for one that passes undecoded."""
        key = int.from_bytes(raw[4:6], "big")
        candidates = self._by_proxy_and_api.get((proxy, key), ())
        watched = key in self._watched_apis
        if not candidates and not watched and key not in self._noted_apis:
            return None
        info, body = _read(raw[4:])
        rule = next((rule for rule in candidates if rule.matches(info, self.latest, self.steps)), None)
        self.steps.asked(info)
        return DecodedRequest(info, body, rule, logged) if candidates or watched else None

    def note_response(self, info: RequestInfo, body: object, error: int | None) -> None:
        """A response passed: remember an identity that it hands out, and release the requests that wait for it."""
        if body is not None and info.header.api in IDENTITY_APIS:
            self.latest.update(info, body)
            self.steps.answered(info, error)
        for active in self.rules.values():
            until = active.rule.then.until
            if until is not None and active.pending and _happened(until, info, error):
                self._release(active, until, info)

    def note_error(self, sentence: str) -> None:
        """Keep what went wrong in the gate itself."""
        if len(self.errors) < ERRORS_KEPT:
            self.errors.append(sentence)

    def _release(self, active: ActiveRule, until: Until, info: RequestInfo) -> None:
        for struck in list(active.pending.values()):
            if struck.release is not None and set(struck.info.transactional_ids) & set(info.transactional_ids):
                asyncio.get_running_loop().call_later(until.after_ms / 1000, struck.release)

    def _index(self) -> None:
        on = [active for active in self.rules.values() if active.on]
        index: dict[tuple[str, int], tuple[ActiveRule, ...]] = {}
        for active in on:
            for key in [(proxy, key_of(api)) for proxy in active.rule.proxies for api in active.rule.when.apis]:
                index[key] = (*index.get(key, ()), active)
        self._by_proxy_and_api = index
        self._watched_apis = frozenset(key_of(api) for active in on for api in _watched(active.rule))
        self._noted_apis = frozenset(key_of(api) for active in on for api in _noted(active.rule))


def _watched(rule: Rule) -> tuple[str, ...]:
    """APIs whose requests and answers the rule must know."""
    compares = rule.when.epochs != "any" or rule.when.after or rule.then.action == "lie"
    return (*(rule.then.until.apis if rule.then.until else ()), *(IDENTITY_APIS if compares else ()))


def _noted(rule: Rule) -> tuple[str, ...]:
    """APIs whose requests alone it must know: a write of another kind than its own is of no account to a write."""
    return WRITES if rule.when.after and not set(rule.when.apis) & set(WRITES) else ()


def _happened(until: Until, info: RequestInfo, error: int | None) -> bool:
    return error == 0 and info.header.api in until.apis


def _read(raw: bytes) -> tuple[RequestInfo, object]:
    header = request_header(raw)
    try:
        body = read_request(raw, header)
    except UnreadableRequest:
        return RequestInfo(header=header, readable=False), None
    return request_info(header, body), body
