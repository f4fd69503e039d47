//! What is said when something goes wrong, word by word: what was being done, to what, why, and what to do. And that nothing is lost
//! by it that was accepted before.

mod bootstrap;
mod brokers;
mod line;
mod slow;
mod topics;

use millstream_client::Error;
use std::error::Error as _;
use std::time::Duration;

/// An error as a program prints it: its text, then its causes, a line each.
fn whole(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(why) = cause {
        text += &format!("\nbecause: {why}");
        cause = why.source();
    }
    text
}

/// Waits long enough for a busy machine.
async fn within<F: Future>(what: &str, future: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(180), future).await.unwrap_or_else(|_| panic!("in vain: {what}"))
}
