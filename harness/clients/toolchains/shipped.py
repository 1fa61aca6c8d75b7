"""Every adapter that ships: the one table to add another to."""

from collections.abc import Mapping

from harness.clients.toolchains.cargo import CARGO_TOOLCHAIN
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

KAFKA_PYTHON = Program(
    library="kafka-python",
    toolchain=PIP_TOOLCHAIN,
    package="kafka-python[crc32c,lz4,snappy,zstd]",
    version="3.0.12",
    source="python/kafka_python",
    shared="python/lines",
)
AIOKAFKA = Program(
    library="aiokafka",
    toolchain=PIP_TOOLCHAIN,
    package="aiokafka[lz4,snappy,zstd]",
    version="0.14.0",
    source="python/aiokafka",
    shared="python/lines",
)
RUST_RDKAFKA = Program(
    library="rust-rdkafka",
    toolchain=CARGO_TOOLCHAIN,
    package="rdkafka",
    version="0.39.0",
    source="rust/rdkafka",
)

SHIPPED: Mapping[str, Program] = {
    program.library: program for program in (LIBRDKAFKA, KAFKA_PYTHON, AIOKAFKA, RUST_RDKAFKA)
}
