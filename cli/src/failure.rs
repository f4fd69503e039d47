//! Why a command failed: what was being done, and the chain of causes.

use std::error::Error;
use std::fmt::{self, Display};
use std::io::ErrorKind;
use std::process::ExitCode;

/// A command that failed.
#[derive(Debug)]
pub(crate) struct Failure {
    doing: String,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

impl Failure {
    /// What was being done, and why it failed.
    pub(crate) fn new(doing: impl Into<String>, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { doing: doing.into(), cause: Some(cause.into()) }
    }
    /// A sentence that says all.
    pub(crate) fn because(sentence: impl Into<String>) -> Self {
        Self { doing: sentence.into(), cause: None }
    }
    /// Prints it to standard error, a cause a line, and gives the exit code. A reader that closed our output early (`| head`) is no
    /// failure.
    pub(crate) fn report(&self) -> ExitCode {
        if self.is_broken_pipe() {
            return ExitCode::SUCCESS;
        }
        eprintln!("millstream: {}", self.text());
        ExitCode::FAILURE
    }

    /// What was being done, and each cause that says something new.
    fn text(&self) -> String {
        let mut text = self.doing.clone();
        let mut cause: Option<&dyn Error> = self.cause.as_ref().map(|cause| &**cause as &dyn Error);
        while let Some(error) = cause {
            let sentence = error.to_string();
            if !is_said(&text, &sentence) {
                text.push_str("\n  because: ");
                text.push_str(&sentence);
            }
            cause = error.source();
        }
        text
    }

    fn is_broken_pipe(&self) -> bool {
        self.cause
            .as_ref()
            .and_then(|cause| cause.downcast_ref::<std::io::Error>())
            .is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
    }
}

/// Whether a text says already what a cause would: its sentence or, where that is Kafka's for a code (`INVALID_CONFIG (40): …`), the
/// code with the broker's own words.
fn is_said(text: &str, sentence: &str) -> bool {
    let code = sentence
        .split_once("): ")
        .map(|(code, _)| code)
        .filter(|code| code.starts_with(|c: char| c.is_ascii_uppercase()));
    text.contains(code.filter(|code| !code.contains(": ")).unwrap_or(sentence))
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.doing)
    }
}
impl From<millstream::client::Error> for Failure {
    fn from(error: millstream::client::Error) -> Self {
        let doing = error.to_string();
        match error.source() {
            None => Self::because(doing),
            Some(_) => Self { doing, cause: Some(Box::new(Causes(error))) },
        }
    }
}
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::new("write to standard output", error)
    }
}

/// An error whose own text has been said already: shows as its source.
#[derive(Debug)]
struct Causes(millstream::client::Error);
impl Display for Causes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.source() {
            Some(source) => Display::fmt(source, f),
            None => Display::fmt(&self.0, f),
        }
    }
}
impl Error for Causes {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source().and_then(Error::source)
    }
}

#[cfg(test)]
mod tests {
    use super::Failure;
    use millstream::client::{Error, Properties};

    #[test]
    fn a_cause_is_not_said_twice() {
        let failure = Failure::from(Error::from(Properties::parse("linger.ms").unwrap_err()));
        assert_eq!(failure.text(), "configure: option `linger.ms`: has no value; write `key = value`");
        let said = "describe topic `nope`: UNKNOWN_TOPIC_OR_PARTITION (3): Topic nope is not there.";
        let code = "UNKNOWN_TOPIC_OR_PARTITION (3): This server does not host this topic-partition.";
        assert_eq!(Failure::new(said, code).text(), said);
    }

    #[test]
    fn a_cause_that_says_more_has_its_line() {
        let failure = Failure::new("start a cluster of 1 broker(s)", "127.0.0.1:9092 cannot be listened on");
        assert_eq!(failure.text(), "start a cluster of 1 broker(s)\n  because: 127.0.0.1:9092 cannot be listened on");
    }
}
