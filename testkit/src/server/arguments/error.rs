//! Why a cluster could not be served.

use crate::StartError;
use std::io;
use std::path::PathBuf;

/// Why a cluster could not be served: what was being done. Its source says why it failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// It did not start.
    #[error("start a cluster of {brokers} broker(s)")]
    Start {
        /// How many there were to be.
        brokers: u16,
        /// Why.
        source: NotStarted,
    },
    /// Nobody lets this process wait for signals.
    #[error("wait for the signal to end")]
    Stop(#[source] io::Error),
}

/// Why a cluster did not start: a sentence that says all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotStarted {
    /// It is to end with whoever started it, and could not see that.
    #[error(
        "standard input is /dev/null, which has ended already, so that --with-parent would end it at once; give it a pipe that stays open, or leave \
         --with-parent out"
    )]
    NoParent,
    /// The cluster itself.
    #[error(transparent)]
    Cluster(#[from] StartError),
    /// The control port could not be opened.
    #[error("the control port 127.0.0.1:{port} cannot be opened: {}", crate::cluster::why_not_listening(.source))]
    Control {
        /// Which it was to be.
        port: u16,
        /// Why.
        source: io::Error,
    },
    /// The certificates could not be written.
    #[error("the certificates cannot be written into {folder}: {source}; --tls names a folder that may be written to", folder = .folder.display())]
    Certificates {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The ready line could not be written.
    #[error("the line that says it is ready cannot be written to standard output: {0}")]
    Ready(io::Error),
}
