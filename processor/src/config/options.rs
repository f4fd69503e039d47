//! The options that have Kafka's keys: each declared once, with its method, default and reading.

use super::{ProcessingGuarantee, StreamsConfig, StreamsGroupProtocol};
use millstream_processor_core::OffsetReset;
use std::path::PathBuf;
use std::time::Duration;

/// Declares options: a field, a method of the same name, and how text is read.
macro_rules! options {
    ($($(#[$doc:meta])* $key:literal => $method:ident($ty:ty) from $argument:ty = $default:expr, $says:literal, $read:expr;)*) => {
        /// The values.
        #[derive(Debug, Clone)]
        pub(crate) struct Options {
            $(pub(crate) $method: $ty,)*
        }

        impl Default for Options {
            fn default() -> Self {
                Self { $($method: $default,)* }
            }
        }

        impl Options {
            /// Every key.
            pub(crate) const KEYS: &[&str] = &[$($key),*];

            /// Sets an option by its key; false for a key that is not here.
            pub(crate) fn set(&mut self, key: &str, text: &str) -> Result<bool, String> {
                match key {
                    $($key => self.$method = ($read)(text)?,)*
                    _ => return Ok(false),
                }
                Ok(true)
            }
        }

        impl StreamsConfig {
            $(
                $(#[$doc])*
                ///
                #[doc = concat!("Kafka's key: `", $key, "`. Default: ", $says, ".")]
                pub fn $method(mut self, value: $argument) -> Self {
                    self.options.$method = <$ty as FromArgument<_>>::from_argument(value);
                    self
                }
            )*
        }
    };
}

options! {
    /// What the runtime promises. Exactly-once outputs are not built yet: asking for them fails at the start.
    "processing.guarantee" => processing_guarantee(ProcessingGuarantee) from ProcessingGuarantee = ProcessingGuarantee::AtLeastOnce, "at least once", guarantee;
    /// How many workers run tasks. May change while running.
    "num.stream.threads" => num_workers(Workers) from usize = Workers(default_workers()), "the machine's cores", |text| count(text).map(Workers);
    /// How often what was done is committed. Reaching the budget for uncommitted state commits sooner.
    "commit.interval.ms" => commit_interval(Duration) from Duration = Duration::from_secs(30), "30 s", millis;
    /// Where stores are kept, in a folder of the application's name.
    "state.dir" => state_dir(StateRoot) from impl Into<PathBuf> = StateRoot(None), "`millstream` in the user's folder for state; never one for temporary files", state_root;
    /// How long a task with an empty input waits for it, to keep to the order of time.
    "max.task.idle.ms" => max_task_idle(Duration) from Duration = Duration::ZERO, "0", millis;
    /// Who assigns.
    "group.protocol" => group_protocol(StreamsGroupProtocol) from StreamsGroupProtocol = StreamsGroupProtocol::Classic, "classic", protocol;
    /// Makes the member static: a restart within the session keeps its tasks.
    "group.instance.id" => group_instance_id(Text) from impl Into<String> = Text(None), "none", any_text;
    /// Where inputs without a committed offset begin, unless their source says otherwise.
    "auto.offset.reset" => auto_offset_reset(Reset) from OffsetReset = Reset(OffsetReset::Earliest), "earliest", reset;
    /// How long a silent member keeps its tasks.
    "session.timeout.ms" => session_timeout(Duration) from Duration = Duration::from_secs(45), "45 s", millis;
    /// How often a member says that it lives.
    "heartbeat.interval.ms" => heartbeat_interval(Duration) from Duration = Duration::from_secs(3), "3 s", millis;
    /// How long a task may stand still before it is given up.
    "max.poll.interval.ms" => max_poll_interval(Duration) from Duration = Duration::from_secs(300), "5 min", millis;
    /// How long a lane's transaction may stay open before the broker aborts it. More than the rebalance timeout, which is 15 s.
    "transaction.timeout.ms" => transaction_timeout(Duration) from Duration = Duration::from_secs(20), "20 s", millis;
    /// How many replicas internal topics have; −1 leaves it to the broker.
    "replication.factor" => replication_factor(i16) from i16 = -1, "−1", number;
    /// How many undecoded bytes a partition may have waiting before it is paused.
    "buffered.bytes.per.partition" => buffered_bytes_per_partition(usize) from usize = 2 << 20, "2 MiB", count;
    /// How many bytes of state may be uncommitted in this process before a commit is asked for.
    "uncommitted.state.max.bytes" => uncommitted_state_max_bytes(usize) from usize = 32 << 20, "32 MiB", count;
}

/// A value that a method's argument becomes.
pub(crate) trait FromArgument<A> {
    fn from_argument(argument: A) -> Self;
}

macro_rules! plain {
    ($($ty:ty),*) => {$(
        impl FromArgument<$ty> for $ty {
            fn from_argument(argument: $ty) -> Self {
                argument
            }
        }
    )*};
}
plain!(Duration, usize, i16, ProcessingGuarantee, StreamsGroupProtocol);

/// How many workers; at least one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Workers(pub(crate) usize);

impl FromArgument<usize> for Workers {
    fn from_argument(count: usize) -> Self {
        Self(count.max(1))
    }
}

/// The folder for state, if it is not the default one.
#[derive(Debug, Clone)]
pub(crate) struct StateRoot(pub(crate) Option<PathBuf>);

impl<P: Into<PathBuf>> FromArgument<P> for StateRoot {
    fn from_argument(path: P) -> Self {
        Self(Some(path.into()))
    }
}

/// Where to begin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reset(pub(crate) OffsetReset);

impl FromArgument<OffsetReset> for Reset {
    fn from_argument(reset: OffsetReset) -> Self {
        Self(reset)
    }
}

/// A text, or none.
#[derive(Debug, Clone)]
pub(crate) struct Text(pub(crate) Option<String>);

impl<S: Into<String>> FromArgument<S> for Text {
    fn from_argument(text: S) -> Self {
        Self(Some(text.into()))
    }
}

fn default_workers() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn millis(text: &str) -> Result<Duration, String> {
    text.trim().parse().map(Duration::from_millis).map_err(|_| format!("`{text}` is no number of milliseconds"))
}

fn count(text: &str) -> Result<usize, String> {
    number(text)
}

fn number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is no such number"))
}

#[expect(clippy::unnecessary_wraps, reason = "one of the functions that read options")]
fn state_root(text: &str) -> Result<StateRoot, String> {
    Ok(StateRoot(Some(text.into())))
}

#[expect(clippy::unnecessary_wraps, reason = "one of the functions that read options")]
fn any_text(text: &str) -> Result<Text, String> {
    Ok(Text(Some(text.to_owned())))
}

fn reset(text: &str) -> Result<Reset, String> {
    match text.trim() {
        "earliest" => Ok(Reset(OffsetReset::Earliest)),
        "latest" => Ok(Reset(OffsetReset::Latest)),
        "none" => Ok(Reset(OffsetReset::None)),
        _ => Err(format!("`{text}` is neither `earliest` nor `latest` nor `none`")),
    }
}

fn guarantee(text: &str) -> Result<ProcessingGuarantee, String> {
    match text.trim() {
        "at_least_once" => Ok(ProcessingGuarantee::AtLeastOnce),
        "exactly_once_v2" => Ok(ProcessingGuarantee::ExactlyOnceV2),
        _ => Err(format!("`{text}` is neither `at_least_once` nor `exactly_once_v2`")),
    }
}

fn protocol(text: &str) -> Result<StreamsGroupProtocol, String> {
    match text.trim() {
        "classic" => Ok(StreamsGroupProtocol::Classic),
        "streams" => Ok(StreamsGroupProtocol::Streams),
        _ => Err(format!("`{text}` is neither `classic` nor `streams`")),
    }
}
