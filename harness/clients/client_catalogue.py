"""Every client adapter by name: the one table to add another to."""

from collections.abc import Mapping

from harness.clients.client import Adapter
from harness.clients.librdkafka.librdkafka_adapter import ADAPTER as LIBRDKAFKA
from harness.clients.wire.wire_adapter import ADAPTERS as WIRE

ADAPTERS: Mapping[str, Adapter] = {adapter.kind: adapter for adapter in (*WIRE, LIBRDKAFKA)}
