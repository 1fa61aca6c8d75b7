"""Every adapter that ships: the one table to add another to."""

from collections.abc import Mapping

from harness.clients.toolchains.npm import NPM_TOOLCHAIN
from harness.clients.toolchains.pip import PIP_TOOLCHAIN
from harness.clients.toolchains.program import Program

LIBRDKAFKA = Program(
    library="librdkafka",
    toolchain=PIP_TOOLCHAIN,
    package="confluent-kafka",  # its versions are librdkafka's
    version="2.16.1",
    source="python/librdkafka",
    shared="python/lines",
)
KAFKAJS = Program(
    library="kafkajs",
    toolchain=NPM_TOOLCHAIN,
    package="kafkajs",
    version="2.2.4",
    source="node/kafkajs",
    shared="node/lines",
)
CONFLUENT_JAVASCRIPT = Program(
    library="confluent-javascript",
    toolchain=NPM_TOOLCHAIN,
    package="@confluentinc/kafka-javascript",
    version="1.10.1",
    source="node/confluent_javascript",
    shared="node/lines",
)

SHIPPED: Mapping[str, Program] = {program.library: program for program in (LIBRDKAFKA, KAFKAJS, CONFLUENT_JAVASCRIPT)}
