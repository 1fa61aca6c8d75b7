//! Fields of answers, made of what the library gives, and of calls, read as it takes them.

use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::BorrowedMessage;
use rdkafka::topic_partition_list::TopicPartitionListElem;
use rdkafka::{Message, Offset};
use serde_json::{json, Value};

/// An error's fields: its class is of librdkafka's flags, which only errors of transactions have; of the others two say
/// by their names that they are fatal.
pub fn said(error: &KafkaError) -> Value {
    let code = error.rdkafka_error_code();
    let class = match error {
        KafkaError::Transaction(flagged) if flagged.is_fatal() => Some("fatal"),
        KafkaError::Transaction(flagged) if flagged.txn_requires_abort() => Some("abortable"),
        KafkaError::Transaction(flagged) if flagged.is_retriable() => Some("retriable"),
        KafkaError::MessageConsumptionFatal(_) => Some("fatal"),
        _ if code == Some(RDKafkaErrorCode::Fatal) => Some("fatal"),
        _ => None,
    };
    let timed_out = matches!(
        code,
        Some(RDKafkaErrorCode::OperationTimedOut | RDKafkaErrorCode::MessageTimedOut)
    );
    let name = code.map_or("KafkaError".to_string(), |known| format!("{known:?}"));
    let number = code.map(|known| known as i32).filter(|number| *number > 0);
    let explained =
        json!({"type": name, "message": error.to_string(), "code": number, "class": class});
    json!({"outcome": if timed_out { "unsure" } else { "refused" }, "error": explained})
}

pub fn located(message: &BorrowedMessage<'_>) -> Value {
    let value = String::from_utf8_lossy(message.payload().unwrap_or_default());
    json!({"topic": message.topic(), "partition": message.partition(), "value": value})
}

pub fn position(known: &TopicPartitionListElem<'_>) -> Option<Value> {
    match known.offset() {
        Offset::Offset(offset) => {
            Some(json!({"topic": known.topic(), "partition": known.partition(), "offset": offset}))
        }
        _ => None,
    }
}

pub fn with(mut object: Value, fields: &[(&str, Value)]) -> Value {
    for (name, value) in fields {
        object[*name] = value.clone();
    }
    object
}

pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub fn number(value: &Value) -> i32 {
    value
        .as_i64()
        .and_then(|number| i32::try_from(number).ok())
        .unwrap_or(-1)
}
