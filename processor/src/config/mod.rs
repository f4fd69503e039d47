//! Options of the runtime.

mod options;

pub(crate) use options::Options;

use crate::{StreamsError, StreamsErrorKind};
use millstream_client::runtime::Runtime;
use millstream_client::{ClientSource, ConsumerBuilder, ProducerBuilder, Properties};
use millstream_processor_core::failure::{
    DeserializationFailure, Handler, Handlers, OnDeserializationFailure, OnProcessingFailure, OnProductionFailure,
    OnTaskFailure, ProcessingFailure, ProductionFailure, TaskFailure,
};
use millstream_state::fs::{DiskFs, Fs};
use std::fmt;
use std::sync::Arc;

/// What the runtime promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProcessingGuarantee {
    /// Each record at least once: outputs may repeat after a crash. Stores are exactly once all the same.
    AtLeastOnce,
    /// Effects on topics and stores exactly once.
    ExactlyOnceV2,
}

/// Who assigns tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamsGroupProtocol {
    /// The broker (KIP-1071).
    Streams,
    /// A member, as JVM applications before 4.2 do.
    Classic,
}

/// Options of the runtime.
///
/// ```
/// use millstream::StreamsConfig;
/// use std::time::Duration;
///
/// let config = StreamsConfig::new("word-count", "localhost:9092")
///     .commit_interval(Duration::from_millis(500))
///     .set("num.stream.threads", "2");
/// # let _ = config;
/// ```
#[must_use]
pub struct StreamsConfig {
    pub(crate) application_id: String,
    pub(crate) client: ClientSource,
    pub(crate) options: Options,
    pub(crate) handlers: Handlers,
    pub(crate) on_task_failure: TaskFailureHandler,
    pub(crate) changes: Changes,
    /// Where journals are written: tests let it fail.
    pub(crate) fs: Arc<dyn Fs>,
    /// What it runs on, if not on the caller's tokio runtime.
    pub(crate) runtime: Option<Arc<dyn Runtime>>,
    /// What was wrong with options that were set by key.
    problems: Vec<String>,
}

/// What becomes of the process when a task has stopped.
pub(crate) type TaskFailureHandler = Arc<dyn Handler<TaskFailure, OnTaskFailure>>;

type Change<B> = Arc<dyn Fn(B) -> B + Send + Sync>;

/// Changes to the clients that the runtime makes.
#[derive(Clone, Default)]
pub(crate) struct Changes {
    pub(crate) consumer: Option<Change<ConsumerBuilder>>,
    pub(crate) producer: Option<Change<ProducerBuilder>>,
    /// `main.consumer.*`, `producer.*`: key and value, in order.
    pub(crate) consumer_options: Vec<(String, String)>,
    pub(crate) producer_options: Vec<(String, String)>,
    /// `topic.*`: over the defaults of internal topics.
    pub(crate) topic_options: Vec<(String, String)>,
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Changes");
        text.field("consumer", &self.consumer_options).field("producer", &self.producer_options);
        text.field("topic", &self.topic_options).finish_non_exhaustive()
    }
}

impl StreamsConfig {
    /// The two things that have no default: the application's name, and where its cluster is.
    pub fn new(application_id: impl Into<String>, client: impl Into<ClientSource>) -> Self {
        Self {
            application_id: application_id.into(),
            client: client.into(),
            options: Options::default(),
            handlers: Handlers::default(),
            on_task_failure: Arc::new(OnTaskFailure::ShutdownClient),
            changes: Changes::default(),
            fs: Arc::new(DiskFs),
            runtime: None,
            problems: Vec::new(),
        }
    }

    /// From a properties file's keys: `application.id`, `bootstrap.servers` and any option of the runtime or of its clients.
    pub fn from_properties(properties: &Properties) -> Self {
        let mut config = Self::new("", ClientSource::unset());
        for (key, value) in properties.iter() {
            config = config.set(key, value);
        }
        config
    }

    /// Changes options of its consumers (`main.consumer.*`).
    pub fn consumer(mut self, options: impl Fn(ConsumerBuilder) -> ConsumerBuilder + Send + Sync + 'static) -> Self {
        self.changes.consumer = Some(Arc::new(options));
        self
    }

    /// Changes options of its producers (`producer.*`).
    pub fn producer(mut self, options: impl Fn(ProducerBuilder) -> ProducerBuilder + Send + Sync + 'static) -> Self {
        self.changes.producer = Some(Arc::new(options));
        self
    }

    /// Bytes that are no key or value. Kafka's key: `deserialization.exception.handler`. Default: fail.
    pub fn on_deserialization_failure(
        mut self,
        handler: impl Handler<DeserializationFailure, OnDeserializationFailure>,
    ) -> Self {
        self.handlers = self.handlers.on_deserialization_failure(handler);
        self
    }

    /// A processor or closure that failed. Kafka's key: `processing.exception.handler`. Default: fail.
    pub fn on_processing_failure(mut self, handler: impl Handler<ProcessingFailure, OnProcessingFailure>) -> Self {
        self.handlers = self.handlers.on_processing_failure(handler);
        self
    }

    /// A record that could not be written. Kafka's key: `production.exception.handler`. Default: fail.
    pub fn on_production_failure(mut self, handler: impl Handler<ProductionFailure, OnProductionFailure>) -> Self {
        self.handlers = self.handlers.on_production_failure(handler);
        self
    }

    /// A task that stopped. Default: shut this process's part down.
    pub fn on_task_failure(mut self, handler: impl Handler<TaskFailure, OnTaskFailure>) -> Self {
        self.on_task_failure = Arc::new(handler);
        self
    }

    /// Writes journals through this: for tests whose disks fail.
    #[doc(hidden)]
    pub fn state_fs(mut self, fs: Arc<dyn Fs>) -> Self {
        self.fs = fs;
        self
    }

    /// What a topology's behaviour hangs on: the application's name, and who answers failures.
    #[doc(hidden)]
    pub fn into_parts(self) -> (String, Handlers) {
        (self.application_id, self.handlers)
    }

    /// Runs on another runtime than the one that `start` is called in.
    #[doc(hidden)]
    pub fn runtime(mut self, runtime: Arc<dyn Runtime>) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// Sets an option by Kafka's key: one of the runtime's, of the client's (`security.protocol`), of its consumers or producers
    /// (`consumer.…`, `main.consumer.…`, `producer.…`), or of internal topics (`topic.…`). What is wrong with it comes out of
    /// [`Streams::start`](crate::Streams::start).
    pub fn set(mut self, key: &str, value: &str) -> Self {
        if let Err(problem) = self.try_set(key, value) {
            self.problems.push(format!("option `{key}`: {problem}"));
        }
        self
    }

    fn try_set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let pair = |key: &str| (key.to_owned(), value.to_owned());
        if key == "application.id" {
            value.clone_into(&mut self.application_id);
        } else if key == "errors.dead.letter.queue.topic.name" {
            self.handlers = std::mem::take(&mut self.handlers).dead_letter_queue(value);
        } else if let Some(key) = key.strip_prefix("topic.") {
            self.changes.topic_options.push(pair(key));
        } else if let Some(key) = key.strip_prefix("main.consumer.").or_else(|| key.strip_prefix("consumer.")) {
            self.changes.consumer_options.push(pair(key));
        } else if let Some(key) = key.strip_prefix("producer.") {
            self.changes.producer_options.push(pair(key));
        } else if !self.options.set(key, value)? {
            self.client.set(key, value).map_err(|error| unknown(key).unwrap_or_else(|| error.problem().to_owned()))?;
        }
        Ok(())
    }

    /// Names the application, if nothing did.
    #[cfg(feature = "cli")]
    pub(crate) fn or_application_id(mut self, id: &str) -> Self {
        if self.application_id.is_empty() {
            id.clone_into(&mut self.application_id);
        }
        self
    }

    /// What must hold before anything is asked of the cluster.
    pub(crate) fn check(&self) -> Result<(), StreamsError> {
        let mut problems = self.problems.clone();
        let id = &self.application_id;
        let is_fit =
            |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
        if id.is_empty() || id.len() > LONGEST_NAME || !is_fit(id) || matches!(id.as_str(), "." | "..") {
            problems.push(format!(
                "option `application.id`: `{id}` cannot name topics, a group and a folder; use letters, digits, `.`, `_` and `-`, at most {LONGEST_NAME}"
            ));
        }
        if self.options.processing_guarantee == ProcessingGuarantee::ExactlyOnceV2 {
            problems.push(
                "option `processing.guarantee`: `exactly_once_v2` is not built yet; with `at_least_once` stores are exactly once already, and outputs may repeat after a crash".to_owned(),
            );
        }
        if self.options.group_protocol == StreamsGroupProtocol::Streams {
            problems.push("option `group.protocol`: `streams` is not built yet; use `classic`".to_owned());
        }
        if problems.is_empty() {
            return Ok(());
        }
        Err(StreamsError::new(format!("configure the application: {}", problems.join("; ")), StreamsErrorKind::Config))
    }
}

impl fmt::Debug for StreamsConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("StreamsConfig");
        text.field("application_id", &self.application_id).field("options", &self.options).finish_non_exhaustive()
    }
}

/// What to say of a key that is nobody's, where an option of the runtime is the nearest.
fn unknown(key: &str) -> Option<String> {
    let nearest =
        Options::KEYS.iter().min_by_key(|known| distance(known, key)).filter(|known| distance(known, key) <= 3)?;
    Some(format!("is not known; did you mean `{nearest}`?"))
}

/// How many letters differ, at least (Levenshtein).
fn distance(left: &str, right: &str) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (at, letter) in left.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], at + 1);
        for (column, other) in right.bytes().enumerate() {
            let changed = diagonal + usize::from(letter != other);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}

/// Kafka's topic names have at most 249 characters, and internal topics begin with the application's.
const LONGEST_NAME: usize = 150;
