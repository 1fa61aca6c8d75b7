"""Every adapter that ships: the one table to add another to."""

from collections.abc import Mapping

from harness.clients.toolchains.cargo import CARGO_TOOLCHAIN
from harness.clients.toolchains.go import GO_TOOLCHAIN
from harness.clients.toolchains.maven_toolchain import MAVEN_TOOLCHAIN
from harness.clients.toolchains.npm import NPM_TOOLCHAIN
from harness.clients.toolchains.pip import PIP_TOOLCHAIN
from harness.clients.toolchains.program import Program

PROGRAMS_THAT_SHIP = (
    Program(
        library="java",
        toolchain=MAVEN_TOOLCHAIN,
        package="org.apache.kafka:kafka-clients",
        version="4.3.1",
        source="java/kafka_clients",
        shared="java/lines",
    ),
    Program(
        library="librdkafka",
        toolchain=PIP_TOOLCHAIN,
        package="confluent-kafka",  # its versions are librdkafka's
        version="2.16.1",
        source="python/librdkafka",
        shared="python/lines",
    ),
    Program(
        library="franz-go",
        toolchain=GO_TOOLCHAIN,
        package="github.com/twmb/franz-go",
        version="1.22.2",
        source="go/franz_go",
        shared="go/lines",
    ),
    Program(
        library="sarama",
        toolchain=GO_TOOLCHAIN,
        package="github.com/IBM/sarama",
        version="1.61.1",
        source="go/sarama",
        shared="go/lines",
    ),
    Program(
        library="kafkajs",
        toolchain=NPM_TOOLCHAIN,
        package="kafkajs",
        version="2.2.4",
        source="node/kafkajs",
        shared="node/lines",
    ),
    Program(
        library="confluent-javascript",
        toolchain=NPM_TOOLCHAIN,
        package="@confluentinc/kafka-javascript",
        version="1.10.1",
        source="node/confluent_javascript",
        shared="node/lines",
        remedy="where its release on GitHub cannot be reached it is built, with make, a C++ compiler, Python and the "
        "headers of OpenSSL, zlib and zstd (Debian: apt install build-essential python3 libssl-dev zlib1g-dev "
        "libzstd-dev)",
    ),
    Program(
        library="kafka-python",
        toolchain=PIP_TOOLCHAIN,
        package="kafka-python[crc32c,lz4,snappy,zstd]",
        version="3.0.12",
        source="python/kafka_python",
        shared="python/lines",
    ),
    Program(
        library="aiokafka",
        toolchain=PIP_TOOLCHAIN,
        package="aiokafka[lz4,snappy,zstd]",
        version="0.14.0",
        source="python/aiokafka",
        shared="python/lines",
    ),
    Program(
        library="rust-rdkafka",
        toolchain=CARGO_TOOLCHAIN,
        package="rdkafka",
        version="0.39.0",
        source="rust/rdkafka",
    ),
)

SHIPPED: Mapping[str, Program] = {program.library: program for program in PROGRAMS_THAT_SHIP}
