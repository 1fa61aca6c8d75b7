"""librdkafka's settings for a client whose calls end within ``request_ms`` and hide as little as they can.

``socket.timeout.ms`` is above every call's bound, so that no request is repeated while its first try may still be on
its way: Transactions V1 cannot distinguish a late EndTxn from the end of the next transaction (KIP-890, motivation).
"""

import logging
from collections.abc import Callable, Mapping
from typing import TypeAlias

from harness.clients.client import ClientOptions
from harness.clients.librdkafka.librdkafka_security import SecuritySetting, security_settings

Setting: TypeAlias = "SecuritySetting | int | Callable[[str], None] | Callable[[object], None] | logging.Logger"

STATISTICS_MS = 100


def silent() -> logging.Logger:
    """A logger that writes nothing. A fenced producer is an emergency to librdkafka; to us it is in the history."""
    logger = logging.getLogger("fencepost.librdkafka")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger


def common(options: ClientOptions) -> dict[str, Setting]:
    """Of producers and consumers alike."""
    return {
        "bootstrap.servers": ",".join(options.bootstrap[node] for node in sorted(options.bootstrap)),
        "client.id": options.actor,
        "log_level": 0,
        "logger": silent(),
        "error_cb": _ignored,
        "reconnect.backoff.ms": 20,
        "reconnect.backoff.max.ms": 200,
        **security_settings(options.security),
    }


def of_producer(options: ClientOptions) -> dict[str, Setting]:
    """A transactional producer that sends each record at once and by itself."""
    return {
        **common(options),
        "transactional.id": str(options.transactional_id),
        "transaction.timeout.ms": options.timeout_ms,
        "message.timeout.ms": min(options.request_ms, options.timeout_ms),
        "socket.timeout.ms": min(options.request_ms + 1_000, options.timeout_ms + 100),
        "linger.ms": 0,
        "retry.backoff.ms": 20,
        "retry.backoff.max.ms": 200,
        "statistics.interval.ms": STATISTICS_MS,
    }


def of_consumer(options: ClientOptions) -> Mapping[str, Setting]:
    """A read_committed member that commits nothing by itself and assigns by ranges, as the wire client does."""
    return {
        **common(options),
        "group.id": str(options.group),
        "isolation.level": "read_committed",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "partition.assignment.strategy": "range",
        "session.timeout.ms": options.session_timeout_ms,
        "max.poll.interval.ms": options.session_timeout_ms,
        "heartbeat.interval.ms": 300,
        "fetch.wait.max.ms": 50,
        "fetch.error.backoff.ms": 50,
    }


def _ignored(_error: object) -> None:
    """Connections come and go; what matters is raised by the calls."""
