//! What to do when a place cannot be listened on.

use std::io::{Error, ErrorKind};

/// `EMFILE` and `ENFILE`, that there are no more files: the same numbers on all Unixes.
const NO_FILES: [i32; 2] = [24, 23];

/// Whether there are no more files.
pub(super) fn lacks_files(error: &Error) -> bool {
    error.raw_os_error().is_some_and(|code| NO_FILES.contains(&code))
}
/// The end of a sentence that said which place, and that it cannot be listened on: why, and what to do.
pub(crate) fn why(error: &Error) -> String {
    let to_do = match error.kind() {
        _ if lacks_files(error) => {
            "; every listener and every connection is a file: end some, or raise with `ulimit -n` how many a process may have open"
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_no_files_is_told_how_to_have_more() {
        let why = why(&Error::from_raw_os_error(24));
        assert!(why.contains("(os error 24); every listener") && why.contains("`ulimit -n`"), "{why}");
    }
}
