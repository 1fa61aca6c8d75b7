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
                        &given(&value, login).unwrap_or_default(),
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
            ("sasl.mechanism" | "ssl.truststore.type", _) => {
                return Err(format!("this adapter has nothing for {name}={value}"));
            }
            // The value is not told: it may be a secret.
            _ if ["security.", "sasl.", "ssl."]
                .iter()
                .any(|part| name.starts_with(part)) =>
            {
                return Err(format!("this adapter has nothing for {name}"));
            }
            _ => {}
        }
    }
    Ok(settings)
}

/// Names and values, where `=` separates them, as `java.util.Properties` reads them: a line that ends with an odd number
/// of backslashes goes on.
fn pairs(text: &str) -> Vec<(String, String)> {
    let mut lines: Vec<String> = vec![String::new()];
    for line in text.lines() {
        let line = line.trim();
        let backslashes = line.len() - line.trim_end_matches('\\').len();
        let last = lines.last_mut().expect("there is one");
        last.push_str(&line[..line.len() - backslashes % 2]);
        if backslashes % 2 == 0 {
            lines.push(String::new());
        }
    }
    let said = lines.iter().filter(|line| !line.starts_with(['#', '!']));
    said.filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.trim_end().to_string(), unescaped(value.trim_start()).0))
        .collect()
}

/// What a JAAS configuration gives a name.
fn given(jaas: &str, name: &str) -> Option<String> {
    let rest = jaas.split_once(&format!("{name}="))?.1;
    match rest.strip_prefix('"') {
        Some(quoted) => Some(unescaped(quoted).1),
        None => rest.split([' ', ';']).next().map(str::to_string),
    }
}

/// The text without the backslashes of escapes: all of it, and as far as a quote that has none.
fn unescaped(text: &str) -> (String, String) {
    let (mut all, mut quoted, mut closed) = (String::new(), String::new(), false);
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        closed |= character == '"';
        let meant = if character == '\\' {
            characters.next().unwrap_or('\\')
        } else {
            character
        };
        all.push(meant);
        if !closed {
            quoted.push(meant);
        }
    }
    (all, quoted)
}
