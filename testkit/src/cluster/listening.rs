//! What to do when a place cannot be listened on.

use std::io::{Error, ErrorKind};

/// The end of a sentence that said which place, and that it cannot be listened on: why, and what to do.
pub(crate) fn why(error: &Error) -> String {
    let to_do = match error.kind() {
        ErrorKind::AddrInUse => {
            "; another program listens there (`ss -ltnp` says which): end it, or name another port, or 0 for any that is free"
        }
        ErrorKind::AddrNotAvailable => {
            "; this machine has no such address (`ip address` says which it has): name one of those"
        }
        ErrorKind::PermissionDenied => {
            "; ports below 1024 are for privileged programs: name a higher one, or 0 for any that is free"
        }
        _ => "",
    };
    format!("{error}{to_do}")
}
