"""Every adapter that ships: the one table to add another to."""

from collections.abc import Mapping

from harness.clients.toolchains.maven_toolchain import MAVEN_TOOLCHAIN
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

JAVA = Program(
    library="java",
    toolchain=MAVEN_TOOLCHAIN,
    package="org.apache.kafka:kafka-clients",
    version="4.3.1",
    source="java/kafka_clients",
    shared="java/lines",
)

SHIPPED: Mapping[str, Program] = {program.library: program for program in (LIBRDKAFKA, JAVA)}
