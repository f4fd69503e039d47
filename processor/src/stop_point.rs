//! Named points at which a test stops or kills the process: the feature `stop-points`, and nothing at all without it.
//!
//! `MILLSTREAM_STOP_AT=step-3` stops at the first time that step 3 of a commit is done, `step-3@5` at the fifth.
//! `MILLSTREAM_STOP_HOW` is `stop` (SIGSTOP, the default) or `kill` (SIGKILL). The line `stopped at step-3` goes to standard output
//! before.

/// A point in a commit, a recovery or a rebalance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopPoint {
    /// Step 1 of a lane's commit is done: frozen, outputs flushed.
    Frozen,
    /// Step 2 is done: changelog records are acknowledged in the open transaction.
    Logged,
    /// Step 3 is done: journals have the prepared batch.
    Prepared,
    /// Step 4 is done: the offsets are in the transaction.
    OffsetsSent,
    /// Step 5 is done: the transaction is committed, nothing is applied.
    Committed,
    /// Step 6 is done.
    Applied,
    /// Recovery has fetched the committed offsets.
    Fetched,
    /// Recovery has written some of a changelog into a store.
    Reading,
    /// Recovery has read the changelogs, and not looked again.
    Restored,
    /// A revocation has come and is not acknowledged.
    Revoking,
}

#[cfg(feature = "stop-points")]
impl StopPoint {
    const fn name(self) -> &'static str {
        match self {
            Self::Frozen => "step-1",
            Self::Logged => "step-2",
            Self::Prepared => "step-3",
            Self::OffsetsSent => "step-4",
            Self::Committed => "step-5",
            Self::Applied => "step-6",
            Self::Fetched => "recovery-fetched",
            Self::Reading => "recovery-reading",
            Self::Restored => "recovery-restored",
            Self::Revoking => "revocation",
        }
    }
}

/// Stops here if the environment says so.
#[cfg(not(feature = "stop-points"))]
#[inline]
pub(crate) const fn reached(_point: StopPoint) {}

#[cfg(feature = "stop-points")]
pub(crate) use armed::reached;

#[cfg(feature = "stop-points")]
mod armed {
    use super::StopPoint;
    use std::io::Write;
    use std::process::Command;
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::{Duration, Instant};

    struct Armed {
        point: String,
        times: AtomicU32,
        signal: &'static str,
    }

    static ARMED: LazyLock<Option<Armed>> = LazyLock::new(|| {
        let wanted = std::env::var("MILLSTREAM_STOP_AT").ok()?;
        let (point, times) = wanted.split_once('@').unwrap_or((&wanted, "1"));
        let kills = std::env::var("MILLSTREAM_STOP_HOW").is_ok_and(|how| how == "kill");
        let signal = if kills { "-KILL" } else { "-STOP" };
        Some(Armed { point: point.to_owned(), times: AtomicU32::new(times.parse().unwrap_or(1)), signal })
    });

    /// Stops here if the environment says so.
    pub(crate) fn reached(point: StopPoint) {
        let Some(armed) = ARMED.as_ref().filter(|armed| armed.point == point.name()) else { return };
        if armed.times.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)) == Ok(1) {
            stop(armed);
        }
    }

    fn stop(armed: &Armed) {
        let mut out = std::io::stdout().lock();
        // A reader that is gone must not keep the process from stopping.
        let _ = writeln!(out, "stopped at {}", armed.point).and_then(|()| out.flush());
        let _ = Command::new("kill").args([armed.signal, &std::process::id().to_string()]).status();
        wait_for_the_stop();
    }

    /// The signal is on its way when `kill` ends; on a busy machine this thread would go on for a while. It waits until it has stood
    /// still, which is a sleep that took far too long.
    fn wait_for_the_stop() {
        const SLEEP: Duration = Duration::from_millis(10);
        let began = Instant::now();
        let mut before = began;
        while before.elapsed() < 50 * SLEEP && began.elapsed() < 500 * SLEEP {
            before = Instant::now();
            std::thread::sleep(SLEEP);
        }
    }
}
