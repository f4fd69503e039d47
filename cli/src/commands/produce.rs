//! `millstream produce`: records from standard input.

use crate::connection::Connection;
use crate::failure::Failure;
use clap::Args;
use millstream::client::{Producer, ProducerRecord};
use millstream_testkit::server::signalled;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};

/// Sends each line of standard input as a record, key and value with a tab between; a line without a tab has no key.
///
/// Ends with standard input, or on SIGINT or SIGTERM; what was read by then is written first.
#[derive(Debug, Args)]
pub(crate) struct Produce {
    /// The topic
    topic: String,
    #[command(flatten)]
    connection: Connection,
}

impl Produce {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let producer = Producer::from_properties(&self.connection.properties()?).build().await?;
        let mut sent = 0;
        let outcome = tokio::select! {
            read = self.send_lines(&producer, &mut sent) => read,
            signal = signalled() => signal.map_err(|error| Failure::new("wait for a signal", error)),
        };
        // What was accepted is delivered even if reading failed half-way, or a signal ended it.
        producer.flush().await?;
        outcome?;
        producer.close(Duration::from_secs(30)).await?;
        eprintln!("{sent} record(s) written to {}", self.topic);
        Ok(())
    }

    async fn send_lines(&self, producer: &Producer, sent: &mut u64) -> Result<(), Failure> {
        let mut input = BufReader::with_capacity(1 << 16, tokio::io::stdin());
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = input.read_until(b'\n', &mut line).await;
            if read.map_err(|error| Failure::new(format!("read line {} of standard input", *sent + 1), error))? == 0 {
                return Ok(());
            }
            let (key, value) = key_and_value(&line);
            // The acknowledgement is waited for by `flush`, which tells the first failure.
            drop(producer.enqueue(ProducerRecord::to(&self.topic).key(key).value(value)).await?);
            *sent += 1;
        }
    }
}

fn key_and_value(line: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match line.iter().position(|byte| *byte == b'\t') {
        Some(tab) => (line.get(..tab), line.get(tab + 1..).unwrap_or_default()),
        None => (None, line),
    }
}

#[cfg(test)]
mod tests {
    use super::key_and_value;

    #[test]
    fn a_line_is_split_at_its_first_tab() {
        for (line, key, value) in [
            ("alice\t12 apples\n", Some("alice"), "12 apples"),
            ("no key\r\n", None, "no key"),
            ("\tempty key", Some(""), "empty key"),
            ("a\tb\tc\n", Some("a"), "b\tc"),
            ("\n", None, ""),
        ] {
            assert_eq!(key_and_value(line.as_bytes()), (key.map(str::as_bytes), value.as_bytes()), "{line:?}");
        }
    }
}
