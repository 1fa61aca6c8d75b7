//! An adapter of rust-rdkafka (PROTOCOL.md). Its `ThreadedProducer` polls in a thread of its own, so that results of
//! records come while a call waits.

mod adapter_fields;
mod kafka_properties;

use std::io::{self, BufRead, Write};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::producer::{BaseRecord, DeliveryResult, Producer, ProducerContext, ThreadedProducer};
use rdkafka::{ClientContext, Message, Offset, TopicPartitionList};
use serde_json::{json, Value};

use adapter_fields::{located, number, position, said, text, with};

const LOCK: &str = include_str!("Cargo.lock");
const MOST_RECORDS: usize = 500;

/// Why a call is not done.
enum Trouble {
    Library(KafkaError),
    Unsupported(String),
    /// The outcome of a record, and its error, where the call waited for it.
    Record(Value),
}

impl From<KafkaError> for Trouble {
    fn from(error: KafkaError) -> Self {
        Trouble::Library(error)
    }
}

type Answer = Result<Value, Trouble>;

/// Keeps results of records until the next answer; each is also sent to the call that produced the record.
#[derive(Clone, Default)]
struct Reports(Arc<Mutex<Vec<Value>>>);

impl ClientContext for Reports {}

impl ProducerContext for Reports {
    type DeliveryOpaque = Box<Sender<Value>>;

    fn delivery(&self, result: &DeliveryResult<'_>, call: Self::DeliveryOpaque) {
        let report = match result {
            Ok(message) => with(
                located(message),
                &[
                    ("outcome", json!("done")),
                    ("offset", json!(message.offset())),
                ],
            ),
            Err((error, message)) => {
                let told = said(error);
                let fields = [
                    ("outcome", told["outcome"].clone()),
                    ("error", told["error"].clone()),
                    ("offset", Value::Null),
                ];
                with(located(message), &fields)
            }
        };
        self.0.lock().unwrap().push(report.clone());
        let _ = call.send(report); // nobody listens where the call did not wait
    }
}

/// One producer and one consumer at most, each opened when it is first needed.
#[derive(Default)]
struct Adapter {
    settings: Value,
    security: Vec<(String, String)>,
    reports: Reports,
    producer: Option<ThreadedProducer<Reports>>,
    consumer: Option<BaseConsumer>,
}

impl Adapter {
    fn call(&mut self, name: &str, arguments: &Value) -> Answer {
        let block = Duration::from_millis(self.settings["block_ms"].as_u64().unwrap_or(0));
        match name {
            "open" => return self.open(arguments),
            "init" => self.producer()?.init_transactions(block)?,
            "begin" => self.producer()?.begin_transaction()?,
            "produce" => return self.produce(arguments),
            "flush" => self.producer()?.flush(block)?,
            "send_offsets" => return self.send_offsets(arguments, block),
            "commit" => self.producer()?.commit_transaction(block)?,
            "abort" => self.producer()?.abort_transaction(block)?,
            "subscribe" => return self.subscribe(arguments),
            "poll" => {
                return self.poll(Duration::from_millis(
                    arguments["within_ms"].as_u64().unwrap_or(0),
                ))
            }
            // Dropping the producer purges what is not sent, and dropping the consumer leaves the group.
            "close" => (self.producer, self.consumer) = (None, None),
            _ => {
                return Err(Trouble::Unsupported(format!(
                    "this adapter does not know the call {name:?}"
                )))
            }
        }
        Ok(json!({}))
    }

    fn open(&mut self, settings: &Value) -> Answer {
        self.settings = settings.clone();
        if let Some(file) = settings["properties_file"].as_str() {
            self.security = kafka_properties::read(file).map_err(Trouble::Unsupported)?;
        }
        Ok(json!({"library": "rust-rdkafka", "version": crate_version()}))
    }

    fn produce(&mut self, arguments: &Value) -> Answer {
        let producer = self.producer()?;
        let (reports, results) = mpsc::channel();
        for value in arguments["values"].as_array().into_iter().flatten() {
            let record = BaseRecord::<(), str, _>::with_opaque_to(
                text(&arguments["topic"]),
                Box::new(reports.clone()),
            );
            let record = record
                .partition(number(&arguments["partition"]))
                .payload(text(value));
            producer.send(record).map_err(|(error, _)| error)?;
        }
        drop(reports); // so that the results end with the last record's
        if arguments["wait"] == json!(true) {
            let failed: Vec<Value> = results
                .iter()
                .filter(|each| each["outcome"] != "done")
                .collect();
            if let Some(first) = failed.into_iter().next() {
                return Err(Trouble::Record(first));
            }
        }
        Ok(json!({}))
    }

    fn send_offsets(&mut self, arguments: &Value, block: Duration) -> Answer {
        let metadata = self
            .consumer
            .as_ref()
            .and_then(|consumer| consumer.group_metadata());
        let Some(metadata) = metadata else {
            let why =
                "librdkafka takes the group's metadata from a consumer: subscribe comes first";
            return Err(Trouble::Unsupported(why.into()));
        };
        let mut places = TopicPartitionList::new();
        for each in arguments["offsets"].as_array().into_iter().flatten() {
            let offset = Offset::Offset(each["offset"].as_i64().unwrap_or(0));
            places.add_partition_offset(
                text(&each["topic"]),
                number(&each["partition"]),
                offset,
            )?;
        }
        self.producer()?
            .send_offsets_to_transaction(&places, &metadata, block)?;
        Ok(json!({}))
    }

    fn subscribe(&mut self, arguments: &Value) -> Answer {
        let consumer: BaseConsumer = self.consuming().create()?;
        if let Some(topics) = arguments["topics"].as_array() {
            consumer.subscribe(&topics.iter().map(text).collect::<Vec<_>>())?;
        } else {
            let mut places = TopicPartitionList::new();
            for each in arguments["partitions"].as_array().into_iter().flatten() {
                places.add_partition_offset(
                    text(&each["topic"]),
                    number(&each["partition"]),
                    Offset::Beginning,
                )?;
            }
            consumer.assign(&places)?;
        }
        self.consumer = Some(consumer);
        Ok(json!({}))
    }

    fn poll(&mut self, within: Duration) -> Answer {
        let Some(consumer) = &self.consumer else {
            return Err(Trouble::Unsupported("subscribe comes first".into()));
        };
        let deadline = Instant::now() + within;
        let mut records = Vec::new();
        let mut failed = json!({});
        while records.len() < MOST_RECORDS {
            let left = deadline.saturating_duration_since(Instant::now());
            match consumer.poll(if records.is_empty() {
                left
            } else {
                Duration::ZERO
            }) {
                Some(Ok(message)) => records.push(with(
                    located(&message),
                    &[("offset", json!(message.offset()))],
                )),
                Some(Err(error)) => {
                    failed = said(&error);
                    break;
                }
                None if records.is_empty() && Instant::now() < deadline => continue,
                None => break,
            }
        }
        let known = consumer.position()?;
        let positions: Vec<Value> = known.elements().iter().filter_map(position).collect();
        Ok(with(
            failed,
            &[("records", json!(records)), ("positions", json!(positions))],
        ))
    }

    fn producer(&mut self) -> Result<&ThreadedProducer<Reports>, KafkaError> {
        if self.producer.is_none() {
            self.producer = Some(self.producing().create_with_context(self.reports.clone())?);
        }
        Ok(self.producer.as_ref().expect("it was just made"))
    }

    fn producing(&self) -> ClientConfig {
        let mut config = self.common();
        if self.settings["transactional_id"].is_string() {
            self.set(
                &mut config,
                &[
                    ("transactional.id", "transactional_id"),
                    ("transaction.timeout.ms", "transaction_timeout_ms"),
                ],
            );
        } else {
            self.set(&mut config, &[("enable.idempotence", "idempotent")]);
        }
        let names = [
            ("socket.timeout.ms", "request_timeout_ms"),
            ("request.timeout.ms", "request_timeout_ms"),
            ("message.timeout.ms", "delivery_timeout_ms"),
            ("linger.ms", "linger_ms"),
            ("batch.size", "batch_bytes"),
            ("max.in.flight", "in_flight"),
            ("compression.type", "compression"),
        ];
        self.set(&mut config, &names);
        config
    }

    fn consuming(&self) -> ClientConfig {
        let mut config = self.common();
        config.set(
            "group.id",
            self.settings["group"].as_str().unwrap_or("none"),
        ); // it must have one
        config
            .set("auto.offset.reset", "earliest")
            .set("enable.auto.commit", "false");
        let names = [
            ("isolation.level", "isolation"),
            ("session.timeout.ms", "session_timeout_ms"),
            ("max.partition.fetch.bytes", "fetch_bytes"),
        ];
        self.set(&mut config, &names);
        config
    }

    fn common(&self) -> ClientConfig {
        let mut config = ClientConfig::new();
        self.set(
            &mut config,
            &[
                ("bootstrap.servers", "bootstrap"),
                ("client.id", "client_id"),
            ],
        );
        for (name, value) in &self.security {
            config.set(name, value);
        }
        config
    }

    fn set(&self, config: &mut ClientConfig, names: &[(&str, &str)]) {
        for (theirs, ours) in names {
            let value = &self.settings[*ours];
            config.set(
                *theirs,
                value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_string),
            );
        }
    }
}

/// The version that was built in: the crate has no constant of its own with it.
fn crate_version() -> &'static str {
    let after = LOCK
        .split("name = \"rdkafka\"\nversion = \"")
        .nth(1)
        .unwrap_or_default();
    after.split('"').next().unwrap_or_default()
}

fn main() -> io::Result<()> {
    let mut adapter = Adapter::default();
    for line in io::stdin().lock().lines() {
        let call: Value = serde_json::from_str(&line?)?;
        let refused =
            |why| json!({"outcome": "refused", "error": {"type": "unsupported", "message": why}});
        let fields = match adapter.call(text(&call["call"]), &call) {
            Ok(fields) => fields,
            Err(Trouble::Library(error)) => said(&error),
            Err(Trouble::Unsupported(why)) => refused(why),
            Err(Trouble::Record(report)) => {
                json!({"outcome": report["outcome"], "error": report["error"]})
            }
        };
        let outcome = fields.get("outcome").cloned().unwrap_or(json!("done"));
        let arrived = std::mem::take(&mut *adapter.reports.0.lock().unwrap());
        let own = [
            ("id", call["id"].clone()),
            ("outcome", outcome),
            ("deliveries", json!(arrived)),
        ];
        writeln!(io::stdout(), "{}", with(fields, &own))?;
        if call["call"] == "close" {
            break;
        }
    }
    Ok(())
}
