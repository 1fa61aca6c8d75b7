//! What a secured cluster needs, from a file in Kafka's own format, by librdkafka's names (PROTOCOL.md,
//! `properties_file`): plaintext, SASL PLAIN and SCRAM, TLS with a trust store in PEM. All else about security is refused.

use std::fs;
use std::path::Path;

const MECHANISMS: [&str; 3] = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"];

/// Names and values for librdkafka, or a sentence about what it cannot be given.
pub fn read(file: &str) -> Result<Vec<(String, String)>, String> {
    let text =
        fs::read_to_string(file).map_err(|error| format!("{file} cannot be read: {error}"))?;
    let mut settings = Vec::new();
    for (name, value) in pairs(&text) {
        let mut set =
            |theirs: &str, value: &str| settings.push((theirs.to_string(), value.to_string()));
        match (name.as_str(), value.as_str()) {
            ("security.protocol", _) => set("security.protocol", &value),
            ("sasl.mechanism", known) if MECHANISMS.contains(&known) => {
                set("sasl.mechanism", known)
            }
            ("sasl.jaas.config", _) => {
                for login in ["username", "password"] {
                    set(
                        &format!("sasl.{login}"),
                        given(&value, login).unwrap_or_default(),
                    );
                }
            }
            ("ssl.truststore.location", _) => {
                let folder = Path::new(file).parent().unwrap_or(Path::new("."));
                set("ssl.ca.location", &folder.join(&value).to_string_lossy());
            }
            ("ssl.truststore.type", "PEM") => {}
            ("ssl.endpoint.identification.algorithm", "") => {
                set("ssl.endpoint.identification.algorithm", "none")
            }
            ("ssl.endpoint.identification.algorithm", "https") => {}
            _ if ["security.", "sasl.", "ssl."]
                .iter()
                .any(|part| name.starts_with(part)) =>
            {
                return Err(format!(
                    "this adapter has nothing for {name}={}",
                    if name.contains("password") {
                        "…"
                    } else {
                        &value
                    }
                ));
            }
            _ => {}
        }
    }
    Ok(settings)
}

/// Names and values as `java.util.Properties` reads them: a line that ends with a backslash goes on.
fn pairs(text: &str) -> Vec<(String, String)> {
    let mut lines: Vec<String> = vec![String::new()];
    for line in text.lines() {
        let last = lines.last_mut().expect("there is one");
        match line.trim().strip_suffix('\\') {
            Some(part) => last.push_str(part),
            None => {
                last.push_str(line.trim());
                lines.push(String::new());
            }
        }
    }
    let said = lines.iter().filter(|line| !line.starts_with(['#', '!']));
    said.filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.trim().into(), value.trim().into()))
        .collect()
}

/// What a JAAS configuration gives a name.
fn given<'a>(jaas: &'a str, name: &str) -> Option<&'a str> {
    let rest = jaas.split_once(&format!("{name}="))?.1;
    match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split([' ', ';']).next(),
    }
}
