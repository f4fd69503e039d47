//! What a client's roles and tasks share: connections, the picture of the cluster, coordinators.

use super::ClientOptions;
use super::view::View;
use crate::net::{Address, Place, Pool, World};
use crate::runtime::{Runtime, timeout_at};
use crate::{Error, ErrorKind};
use millstream_client_core::backoff::{Backoff, Random};
use millstream_client_core::cluster::{
    Broker, Cluster, Coordinators, Creation, Image, LeaderHint, RefreshOptions, Topic,
};
use millstream_protocol::frame::Limits;
use millstream_protocol::{ErrorCode, TopicName};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::{Notify, watch};

/// The shared part of a client. No lock in it is held across an await.
#[derive(Debug)]
pub(crate) struct Hub {
    pub(super) options: ClientOptions,
    pub(super) runtime: Arc<dyn Runtime>,
    pub(super) pool: Pool,
    pub(super) world: Arc<World>,
    pub(super) coordinators: Mutex<Coordinators>,
    pub(super) wake_refresh: Notify,
    cluster: Mutex<Cluster>,
    random: Mutex<Random>,
    view: watch::Sender<View>,
}

impl Hub {
    pub(super) fn new(
        options: ClientOptions,
        bootstrap: Vec<Address>,
        runtime: Arc<dyn Runtime>,
        limits: Limits,
    ) -> Self {
        let world = Arc::new(World {
            runtime: Arc::clone(&runtime),
            client_id: options.client_id.clone(),
            setup_timeout: options.socket_connection_setup_timeout,
            request_timeout: options.request_timeout,
            reconnect_backoff: options.reconnect_backoff,
            reconnect_backoff_max: options.reconnect_backoff_max,
            limits,
            bootstrap,
            image: Mutex::default(),
            features: Mutex::default(),
        });
        let mut refresh = RefreshOptions::default();
        refresh.max_age = options.metadata_max_age;
        refresh.max_idle = options.metadata_max_idle;
        refresh.propagation = options.topic_propagation;
        refresh.backoff = options.retry_backoff;
        refresh.backoff_max = options.retry_backoff_max;
        let cluster = Cluster::new(runtime.now(), refresh, Random::new(runtime.seed()));
        Self {
            pool: Pool::new(Arc::clone(&world)),
            coordinators: Mutex::default(),
            wake_refresh: Notify::new(),
            cluster: Mutex::new(cluster),
            random: Mutex::new(Random::new(runtime.seed())),
            view: watch::Sender::new(View::default()),
            world,
            options,
            runtime,
        }
    }
    /// Another one for the same cluster, that starts with the same picture.
    pub(super) fn beside(other: &Self, runtime: Arc<dyn Runtime>) -> Self {
        let hub = Self::new(other.options.clone(), other.world.bootstrap.clone(), runtime, other.world.limits);
        let brokers = other.image().brokers().map(|broker| Broker::clone(broker)).collect();
        hub.handle_hints(&[], brokers);
        hub
    }

    pub(crate) const fn pool(&self) -> &Pool {
        &self.pool
    }
    /// The picture of the cluster.
    pub(crate) fn image(&self) -> Arc<Image> {
        Arc::clone(&self.view.borrow().image)
    }
    /// Follows the picture.
    pub(crate) fn watch(&self) -> watch::Receiver<View> {
        self.view.subscribe()
    }
    /// The level of a feature that the cluster has switched on.
    pub(crate) fn feature(&self, name: &str) -> i16 {
        self.world.features.lock().unwrap_or_else(PoisonError::into_inner).level(name)
    }
    /// A wait of its own between two tries.
    pub(crate) fn backoff(&self) -> Backoff {
        Backoff::new(self.options.retry_backoff, self.options.retry_backoff_max)
    }
    /// The next wait, with jitter.
    pub(crate) fn next_wait(&self, backoff: &mut Backoff) -> std::time::Duration {
        backoff.next(&mut self.random.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Somebody met an error that says that the picture is old.
    pub(crate) fn request_refresh(&self) {
        self.cluster().request(self.runtime.now());
        self.wake_refresh.notify_one();
    }
    /// The picture, if it is so new that a refresh would not be asked for again yet.
    pub(crate) fn fresh_image(&self) -> Option<Arc<Image>> {
        let (now, cluster) = (self.runtime.now(), self.cluster());
        let age = now.saturating_duration_since(cluster.updated()?);
        (age < self.options.retry_backoff).then(|| Arc::clone(cluster.image()))
    }
    /// Somebody uses a topic.
    pub(crate) fn use_topic(&self, topic: &TopicName, creation: Creation) {
        self.cluster().handle_interest(self.runtime.now(), topic, creation);
        self.wake_refresh.notify_one();
    }
    /// Whether a topic's error is final.
    pub(crate) fn verdict(&self, topic: &str) -> Option<ErrorCode> {
        self.cluster().verdict(self.runtime.now(), topic)
    }
    /// Leaders and brokers named in an answer (KIP-951).
    pub(crate) fn handle_hints(&self, hints: &[LeaderHint], brokers: Vec<Broker>) {
        let news = self.cluster().handle_hints(hints, brokers);
        if let Some(image) = news {
            self.publish(image);
        }
    }

    /// A topic, once its partitions are known.
    pub(crate) async fn topic(
        &self,
        name: &TopicName,
        creation: Creation,
        deadline: Instant,
    ) -> Result<Arc<Topic>, Error> {
        let mut view = self.watch();
        loop {
            self.use_topic(name, creation);
            let known = view.borrow_and_update().clone();
            if let Some(topic) = known.image.topic(name.as_str()).filter(|topic| !topic.partitions.is_empty()) {
                return Ok(Arc::clone(topic));
            }
            if let Some(code) = self.verdict(name.as_str()) {
                return Err(Error::topic(code, format!("find topic `{name}`")));
            }
            if timeout_at(&*self.runtime, deadline, view.changed()).await.is_none() {
                return Err(self.topic_timeout(name));
            }
        }
    }
    /// Waits until a broker has answered, or every address has been tried in vain.
    pub(super) async fn first_contact(&self) -> Result<(), Error> {
        let deadline = self.runtime.now() + self.options.request_timeout;
        let mut view = self.watch();
        loop {
            let known = view.borrow_and_update().clone();
            if known.rounds > 0 {
                return Ok(());
            }
            if let Some(failure) = known.failure {
                return Err(failure);
            }
            if timeout_at(&*self.runtime, deadline, view.changed()).await.is_none() {
                return Err(self.no_contact());
            }
        }
    }

    pub(super) fn cluster(&self) -> MutexGuard<'_, Cluster> {
        self.cluster.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Shows a new picture to all who look.
    pub(super) fn publish(&self, image: Arc<Image>) {
        *self.world.image.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&image);
        self.view.send_modify(|view| view.image = image);
    }
    /// A round of the refresh is over.
    pub(super) fn finish_round(&self, failure: Option<Error>) {
        self.view.send_modify(|view| {
            view.rounds += u64::from(failure.is_none());
            view.failure = failure;
        });
    }
    /// Places to ask, in an order of chance: brokers that are known first, then the bootstrap addresses.
    pub(super) fn places(&self) -> Vec<Place> {
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        let mut nodes: Vec<Place> = self.image().brokers().map(|broker| Place::Node(broker.id)).collect();
        shuffle(&mut nodes, &mut random);
        let mut seeds: Vec<Place> = (0..self.world.bootstrap.len()).map(Place::Bootstrap).collect();
        shuffle(&mut seeds, &mut random);
        nodes.extend(seeds);
        nodes
    }

    fn topic_timeout(&self, name: &TopicName) -> Error {
        let view = self.view.borrow().clone();
        let error = Error::new(ErrorKind::TimedOut, format!("find topic `{name}`"));
        match (view.image.topic(name.as_str()).map(|topic| topic.error), view.failure) {
            (_, Some(failure)) => error.reason(&failure).because(failure),
            (Some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION), None) => error
                .reason("in the time given the cluster came to know no such topic; create it, or check its name")
                .because(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
            (Some(code), None) if code.is_error() => error.reason(format_args!("the cluster still says: {code}")),
            _ => error.reason("the cluster did not describe it in time"),
        }
    }
    fn no_contact(&self) -> Error {
        let addresses: Vec<String> = self.world.bootstrap.iter().map(ToString::to_string).collect();
        let reason = format!("no answer within {:?} from {}", self.options.request_timeout, addresses.join(", "));
        Error::new(ErrorKind::Unreachable, "connect to the cluster").reason(reason)
    }
}

fn shuffle(places: &mut [Place], random: &mut Random) {
    for last in (1..places.len()).rev() {
        places.swap(last, random.below(last + 1));
    }
}
