//! Addresses of brokers: `host:9092`, `10.0.0.1:9092`, `[::1]:9092`.

use crate::ConfigError;
use std::fmt;

/// Where a broker listens.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Address {
    /// A name, or an IPv4 or IPv6 address without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// Reads `bootstrap.servers`: one or more addresses with commas between them. A scheme (`PLAINTEXT://`) is skipped.
pub(crate) fn parse_bootstrap(text: &str) -> Result<Vec<Address>, ConfigError> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let addresses: Vec<Address> = parts.map(parse).collect::<Result<_, _>>()?;
    if addresses.is_empty() {
        return Err(wrong("names no address; write `host:9092`, or several with commas between them"));
    }
    Ok(addresses)
}

fn parse(part: &str) -> Result<Address, ConfigError> {
    let bare = part.split_once("://").map_or(part, |(_, rest)| rest);
    let (host, port) = match bare.strip_prefix('[') {
        Some(rest) => rest.split_once("]:"),
        None => bare.rsplit_once(':').filter(|(host, _)| !host.contains(':')),
    }
    .ok_or_else(|| wrong(format!("`{part}` is not `host:port` (an IPv6 address goes in brackets: `[::1]:9092`)")))?;
    let port = port.parse().ok().filter(|port| *port != 0);
    let port = port.ok_or_else(|| wrong(format!("`{part}` does not end in a port between 1 and 65535")))?;
    if host.is_empty() {
        return Err(wrong(format!("`{part}` has no host")));
    }
    Ok(Address { host: host.to_owned(), port })
}

fn wrong(problem: impl Into<String>) -> ConfigError {
    ConfigError::new("bootstrap.servers", problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_of_both_kinds_are_read_and_written() {
        let addresses = parse_bootstrap(" a.example:9092, 10.0.0.1:9093,[::1]:9094 ,PLAINTEXT://b:1").unwrap();
        let shown: Vec<String> = addresses.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["a.example:9092", "10.0.0.1:9093", "[::1]:9094", "b:1"]);
        assert_eq!(addresses[2].host, "::1");
    }

    #[test]
    fn what_is_no_address_is_named() {
        for (text, expected) in [
            ("", "names no address; write `host:9092`, or several with commas between them"),
            ("kafka", "`kafka` is not `host:port` (an IPv6 address goes in brackets: `[::1]:9092`)"),
            ("::1:9092", "`::1:9092` is not `host:port` (an IPv6 address goes in brackets: `[::1]:9092`)"),
            ("kafka:0", "`kafka:0` does not end in a port between 1 and 65535"),
            ("kafka:http", "`kafka:http` does not end in a port between 1 and 65535"),
            (":9092", "`:9092` has no host"),
        ] {
            assert_eq!(parse_bootstrap(text).unwrap_err().problem(), expected);
        }
    }
}
