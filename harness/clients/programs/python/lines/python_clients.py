"""What kafka-python and aiokafka have in common: both began as one code, and name settings and records alike."""

from typing import Any

from adapter_lines import Fields
from kafka_properties import read_security


def known_offset(offset: int) -> int | None:
    """None where the broker did not tell it."""
    return offset if offset >= 0 else None


def record_fields(record: Any) -> Fields:
    """A delivered record, as ``poll`` answers it."""
    value = (record.value or b"").decode()
    return {"topic": record.topic, "partition": record.partition, "offset": record.offset, "value": value}


def connection_settings(given: Fields) -> Fields:
    """How every client connects."""
    security = read_security(given.get("properties_file"))
    return {
        "bootstrap_servers": given["bootstrap"].split(","),
        "security_protocol": security.protocol,
        "ssl_context": security.context(),
        "sasl_mechanism": security.mechanism,
        "sasl_plain_username": security.username,
        "sasl_plain_password": security.password,
    }


def producer_settings(given: Fields) -> Fields:
    """Of a transactional producer, or of one without transactions."""
    transactional = {
        "transactional_id": given["transactional_id"],
        "transaction_timeout_ms": given["transaction_timeout_ms"],
    }
    return {
        **given,
        **(transactional if given["transactional_id"] else {"enable_idempotence": given["idempotent"]}),
        "compression_type": None if given["compression"] == "none" else given["compression"],
    }


def consumer_settings(given: Fields) -> Fields:
    """Of a reader that commits nothing by itself."""
    return {
        **given,
        "group_id": given["group"],
        "isolation_level": given["isolation"],
        "heartbeat_interval_ms": given["session_timeout_ms"] // 3,
        "max_partition_fetch_bytes": given["fetch_bytes"],
        "auto_offset_reset": "earliest",
        "enable_auto_commit": False,
    }
