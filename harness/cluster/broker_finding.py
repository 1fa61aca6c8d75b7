"""The brokers of a cluster that is not ours: which there are, and at which address each is reached from here.

A broker is at the address that the caller gave for it, by its id or because it advertises just that; else where it
advertises to be, if it answers there as a member of this cluster; else it is behind one of the other given addresses
(a mapped port), and is found by asking: DescribeConfigs of a broker is answered by that broker alone (Kafka's
``ConfigHelper``, "Unexpected broker id").
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from harness.base.addresses import Address
from harness.base.clock import RunClock
from harness.base.user_error import ExitCode, UserError
from harness.cluster.target import External
from harness.evidence.recorder import NullRecorder
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.requests.cluster.describe_configs import BROKER, DescribeConfigs
from harness.wire.requests.cluster.metadata import Metadata, MetadataResult
from harness.wire.security.security import PLAINTEXT, Security
from harness.wire.wire_client import WireClient
from harness.wire.wire_errors import SecurityRefused, WireError

ANSWER_SECONDS = 5.0
AT_ONCE = 16
"""Brokers asked at the same time; an address behind which nothing is takes seconds."""
LAST_READ_BY_ALL = 8
"""Of Metadata: librdkafka's mock cluster answers version 9 and above with a byte too many."""
NODE = 0  # the client's name for the only broker that it knows
ResultT = TypeVar("ResultT", bound=ApiResult)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundBrokers:
    """Every broker by its id, in order.

    :param addresses: Where each is reached from here.
    :param advertised: Where each says that it is; another address means that clients which follow Metadata go astray.
    """

    addresses: Mapping[int, Address]
    advertised: Mapping[int, Address]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """A cluster as one of its brokers shows it."""

    cluster_id: str | None
    advertised: Mapping[int, Address]


def find_brokers(target: External, security: Security = PLAINTEXT) -> FoundBrokers:
    """Find them all.

    :raises UserError: TARGET_UNREACHABLE, when none of the addresses answers, or a broker is not found; where TLS or
        SASL failed, in a sentence that names the property.
    """
    shown = next(filter(None, (_shown(address, security) for address in target.addresses)), None)
    if shown is None or not shown.advertised:
        raise _silent(", ".join(map(str, target.addresses)), security)
    places = dict(_placed(target, shown.advertised))
    places |= _reached(shown, {n: at for n, at in shown.advertised.items() if n not in places}, security)
    missing = [node for node in shown.advertised if node not in places]
    unclaimed = [address for address in target.addresses if address not in places.values()]
    places |= _asked(unclaimed, missing, list(shown.advertised), security) if missing else {}
    if missing := [node for node in missing if node not in places]:
        raise _not_found(missing, shown.advertised)
    _check(shown, places, security)
    return FoundBrokers(addresses=dict(sorted(places.items())), advertised=shown.advertised)


def _placed(target: External, advertised: Mapping[int, Address]) -> Iterator[tuple[int, Address]]:
    """Those whose address the caller has told: with the id, or just as it is advertised, or for want of another."""
    known = {address.resolved(): node for node, address in advertised.items()}
    for node, address in zip(target.nodes, target.addresses, strict=True):
        found = known.get(address.resolved()) if node is None else node
        if len(advertised) == len(target.addresses) == 1 and node is None:
            found = next(iter(advertised))  # a mapped port, or another listener
        if found is not None and found not in advertised:
            there = ", ".join(map(str, advertised))
            raise UserError(f"{target} has no broker {found}; there are {there}", exit=ExitCode.TARGET_UNREACHABLE)
        if found is not None:
            yield found, address


def _reached(shown: _Shown, places: Mapping[int, Address], security: Security) -> Mapping[int, Address]:
    """Those of ``places`` at which this very cluster answers."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        seen = threads.map(lambda address: _shown(address, security), places.values())
        return {node: places[node] for node, other in zip(places, seen, strict=True) if _same(shown, other)}


def _same(shown: _Shown, other: _Shown | None) -> bool:
    """By the cluster's id; by its nodes where the server has none."""
    if other is None or other.cluster_id != shown.cluster_id:
        return False
    return other.cluster_id is not None or other.advertised.keys() == shown.advertised.keys()


def _asked(
    addresses: Sequence[Address], missing: Sequence[int], nodes: Sequence[int], security: Security
) -> Mapping[int, Address]:
    """The missing brokers behind these addresses, where exactly one id is answered to."""
    found: dict[int, Address] = {}
    for address in addresses:
        answering = [node for node in nodes if _answers_as(address, node, security)]
        if len(answering) == 1 and answering[0] in missing:
            found.setdefault(answering[0], address)
    return found


def _answers_as(address: Address, node: int, security: Security) -> bool:
    request = DescribeConfigs(resource_type=BROKER, resource_name=str(node), keys=("node.id",))
    result = _answer(address, request, security)
    return result is not None and not result.error


def _check(shown: _Shown, places: Mapping[int, Address], security: Security) -> None:
    """Every broker answers where it was found, as a member of this cluster."""
    for node in places.keys() - _reached(shown, places, security).keys():
        raise _silent(f"broker {node} at {places[node]}", security)


def _shown(address: Address, security: Security) -> _Shown | None:
    answer = _answer(address, Metadata(topics=()), security, LAST_READ_BY_ALL)
    return None if answer is None else _Shown(cluster_id=answer.cluster_id, advertised=_advertised(answer))


def _advertised(answer: MetadataResult) -> Mapping[int, Address]:
    return {node: Address.parse(at) for node, at in sorted(answer.brokers.items())}


def _answer(
    address: Address, request: ApiRequest[ResultT], security: Security, cap: int | None = None
) -> ResultT | None:
    """The answer of whoever listens there, None without one; :raises UserError: where TLS or SASL failed."""
    client = WireClient(
        actor="fencepost-probe",
        lane="observer",
        addresses={NODE: address},
        clock=RunClock(),
        recorder=NullRecorder(),
        security=security,
    )
    try:
        client.offered(NODE, ANSWER_SECONDS)
        version = client.highest(NODE, request.api, cap)
        return client.call(NODE, request, version, timeout_seconds=ANSWER_SECONDS).result
    except SecurityRefused as refused:
        raise UserError(str(refused), exit=ExitCode.TARGET_UNREACHABLE) from refused
    except WireError:
        return None
    finally:
        client.close()


def _silent(who: str, security: Security) -> UserError:
    return UserError(
        f"{who} did not answer a Metadata request; check that a Kafka listens there, that it can be reached from this"
        f" machine, and that its listener speaks {security.protocol}: see {security.key('security.protocol')}",
        exit=ExitCode.TARGET_UNREACHABLE,
    )


def _not_found(missing: Sequence[int], advertised: Mapping[int, Address]) -> UserError:
    told = ", ".join(f"broker {node} advertises {advertised[node]}" for node in missing)
    return UserError(
        f"{told}: not reached from here, and no given address could be told to be its own; say where each broker is:"
        " external:1=host:port,2=host:port",
        exit=ExitCode.TARGET_UNREACHABLE,
    )
