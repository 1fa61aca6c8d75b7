"""Every client adapter by name: the one table to add another to."""

from collections.abc import Mapping

from harness.clients.librdkafka.adapter import ADAPTER as LIBRDKAFKA
from harness.clients.port import Adapter
from harness.clients.wire.adapter import ADAPTERS as WIRE

ADAPTERS: Mapping[str, Adapter] = {adapter.kind: adapter for adapter in (*WIRE, LIBRDKAFKA)}
