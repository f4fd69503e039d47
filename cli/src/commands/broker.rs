//! `millstream broker`: the embedded cluster, for tests in any language.

use crate::failure::Failure;
use clap::Args;
use millstream_testkit::server::{BrokerArguments, ServeError, signalled_or_parent_gone};

// Its flags bring their help along.
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
    let doing = error.to_string();
    match error {
        ServeError::Start { source, .. } => Failure::new(doing, source),
        ServeError::Stop(source) => Failure::new(doing, source),
        _ => Failure::because(doing),
    }
}
