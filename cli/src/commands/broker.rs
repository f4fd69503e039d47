//! `millstream broker`: the embedded cluster, for tests in any language.

use crate::failure::Failure;
use clap::Args;
use millstream_testkit::server::{BrokerArguments, ServeError, signalled_or_parent_gone};

/// Serves an embedded Kafka cluster on loopback until SIGINT or SIGTERM.
///
/// Everything is kept in memory. When it is ready, one line is printed: bootstrap=HOST:PORT, control=URL after it if there is a control port, and
/// listener.NAME=HOST:PORT for each listener after the first. Options are Kafka's, with Kafka's defaults: topics appear by being used, unless told
/// not to with --set auto.create.topics.enable=false.
#[derive(Debug, Args)]
pub(crate) struct Broker {
    #[command(flatten)]
    arguments: BrokerArguments,
}

impl Broker {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let stop = signalled_or_parent_gone(self.arguments.ends_with_parent());
        self.arguments.run(stop).await.map_err(failure)
    }
}
fn failure(error: ServeError) -> Failure {
    match error {
        ServeError::Start { brokers, port, source } => {
            Failure::new(format!("serve {brokers} broker(s) from port {port}"), source)
        }
        other => Failure::because(other.to_string()),
    }
}
