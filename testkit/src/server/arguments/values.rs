//! What is said to a flag, read. What cannot be read is told with what may be said, and an example.

use crate::broker::{MAX_PARTITIONS, Mechanism, Release};
use crate::{SecurityProtocol, TestTopic};
use std::net::{IpAddr, Ipv4Addr};

pub(super) fn host(text: &str) -> Result<IpAddr, String> {
    let wrong = || {
        format!(
            "`{text}` is no address to listen on; say 127.0.0.1, ::1, another address of this machine, or 0.0.0.0 for all of them with --advertise \
             HOST for what clients are told"
        )
    };
    if text == "localhost" { Ok(IpAddr::V4(Ipv4Addr::LOCALHOST)) } else { text.parse().map_err(|_| wrong()) }
}
pub(super) fn place(text: &str) -> Result<(String, Option<u16>), String> {
    let wrong = || format!("`{text}` is not HOST or HOST:PORT, as in localhost:9092");
    let (host, port) = match text.rsplit_once(':') {
        // The colons of an address without brackets are its own.
        Some((host, _)) if host.contains(':') && !host.ends_with(']') => (text, None),
        Some((host, port)) => (host, Some(port.parse().map_err(|_| wrong())?)),
        None => (text, None),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if host.is_empty() { Err(wrong()) } else { Ok((host.to_owned(), port)) }
}
pub(super) fn listener(text: &str) -> Result<(String, SecurityProtocol), String> {
    let (name, protocol) = text.split_once('=').unwrap_or((text, text));
    let protocol = protocol.parse::<SecurityProtocol>().map_err(|error| format!("{error}, as in CLIENTS=SASL_SSL"))?;
    match name {
        "" => Err(format!("`{text}` has no name before the `=`, as in CLIENTS=SASL_SSL")),
        _ if name == text => Ok((protocol.name().to_owned(), protocol)),
        _ => Ok((name.to_owned(), protocol)),
    }
}
pub(super) fn topic(text: &str) -> Result<TestTopic, String> {
    let (shape, options) = text.split_once(',').unwrap_or((text, ""));
    let topic = shaped(shape).ok_or_else(|| {
        format!(
            "`{shape}` is not NAME, NAME:PARTITIONS or NAME:PARTITIONS:REPLICAS with 1 to {MAX_PARTITIONS} partitions, as in orders, orders:12 or \
             orders:12:3"
        )
    })?;
    let options = of_topic(options).ok_or_else(|| {
        format!("`{options}` is not KEY=VALUE with a topic's option, as in orders:12,cleanup.policy=compact,retention.ms=60000")
    })?;
    Ok(options.into_iter().fold(topic, |topic, (key, value)| topic.config(&key, &value)))
}
fn shaped(text: &str) -> Option<TestTopic> {
    let mut parts = text.split(':');
    let name = parts.next().filter(|name| !name.is_empty())?;
    let partitions = parts.next().unwrap_or("1").parse().ok().filter(|count| (1..=MAX_PARTITIONS).contains(count))?;
    let topic = TestTopic::new(name, partitions);
    let topic = match parts.next() {
        None => topic,
        Some(replicas) => topic.replication_factor(replicas.parse().ok().filter(|count| *count > 0)?),
    };
    parts.next().is_none().then_some(topic)
}
/// Pairs of keys and values. A part without a key belongs to the value before it, as in `cleanup.policy=compact,delete`.
fn of_topic(text: &str) -> Option<Vec<(String, String)>> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        match (pair(part), pairs.last_mut()) {
            (Some(pair), _) => pairs.push(pair),
            (None, Some((_, value))) if !part.contains('=') => *value = format!("{value},{part}"),
            (None, _) => return None,
        }
    }
    Some(pairs)
}
pub(super) fn setting(text: &str) -> Result<(String, String), String> {
    pair(text).ok_or_else(|| format!("`{text}` is not KEY=VALUE with a broker's option, as in num.partitions=3"))
}
pub(super) fn user(text: &str) -> Result<(String, String), String> {
    pair(text).ok_or_else(|| format!("`{text}` is not NAME=PASSWORD, as in alice=secret"))
}
fn pair(text: &str) -> Option<(String, String)> {
    let (key, value) = text.split_once('=')?;
    (!key.is_empty()).then(|| (key.to_owned(), value.to_owned()))
}
/// A SASL mechanism's name as Kafka writes it, from one in capitals or not.
pub(super) fn mechanism(text: &str) -> Result<&'static str, String> {
    let all = Mechanism::ALL.map(Mechanism::name);
    let found = all.into_iter().find(|name| name.eq_ignore_ascii_case(text));
    found.ok_or_else(|| format!("`{text}` is no SASL mechanism; there are {}", all.join(", ")))
}
pub(super) fn release(text: &str) -> Result<Release, String> {
    text.parse::<Release>().map_err(|error| error.to_string())
}
pub(super) fn principal(text: &str) -> Result<String, String> {
    match text.split_once(':') {
        Some((kind, name)) if !kind.is_empty() && !name.is_empty() => Ok(text.to_owned()),
        Some(_) => Err(format!("`{text}` is not TYPE:NAME, as in User:admin")),
        None => Err(format!("`{text}` is not TYPE:NAME; a user of SASL is User:{text}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_told_with_an_example() {
        let wrong: [(Result<(), String>, &str); 14] = [
            (host("nowhere").map(drop), "127.0.0.1"),
            (place("a:b").map(drop), "localhost:9092"),
            (listener("A=B").map(drop), "CLIENTS=SASL_SSL"),
            (listener("=SSL").map(drop), "CLIENTS=SASL_SSL"),
            (topic("t:x").map(drop), "orders:12"),
            (topic("t:1:0").map(drop), "orders:12:3"),
            (topic("t:1:1:1").map(drop), "orders:12:3"),
            (topic(":1").map(drop), "orders:12"),
            (topic("t:1,compact").map(drop), "orders:12,cleanup.policy=compact"),
            (setting("x").map(drop), "num.partitions=3"),
            (user("alice:secret").map(drop), "alice=secret"),
            (mechanism("GSSAPI").map(drop), "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER"),
            (release("5").map(drop), "3.9, 4.0.0"),
            (principal("admin").map(drop), "User:admin"),
        ];
        for (result, example) in wrong {
            let reason = result.expect_err(example);
            assert!(reason.contains(example), "{reason}");
        }
    }
    #[test]
    fn a_topic_has_what_is_said_of_it() {
        let table = [
            ("t", TestTopic::new("t", 1)),
            ("t:12", TestTopic::new("t", 12)),
            ("t:12:3", TestTopic::new("t", 12).replication_factor(3)),
            ("t,retention.ms=5", TestTopic::new("t", 1).config("retention.ms", "5")),
            (
                "t:2:1,cleanup.policy=compact,delete,retention.ms=5",
                TestTopic::new("t", 2)
                    .replication_factor(1)
                    .config("cleanup.policy", "compact,delete")
                    .config("retention.ms", "5"),
            ),
        ];
        for (text, expected) in table {
            assert_eq!(topic(text), Ok(expected), "{text}");
        }
    }
    #[test]
    fn names_are_taken_in_capitals_or_not() {
        assert_eq!(mechanism("scram-sha-256"), Ok("SCRAM-SHA-256"));
        assert_eq!(listener("sasl_ssl"), Ok(("SASL_SSL".to_owned(), SecurityProtocol::SaslSsl)));
        assert_eq!(host("localhost"), Ok(Ipv4Addr::LOCALHOST.into()));
    }
}
