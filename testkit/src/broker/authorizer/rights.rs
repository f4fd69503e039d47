//! What the sender of one request may do.

use super::rules::Subject;
use super::{CLUSTER, Need, Operation, ResourceType};
use crate::broker::Broker;
use crate::broker::call::Call;
use millstream_protocol::messages::Uuid;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Rights<'b> {
    broker: &'b Broker,
    pub(crate) call: &'b Call,
    needs: &'static [Need],
}
impl<'b> Rights<'b> {
    /// Of the sender of a request that may need these; what its table does not name is nobody's.
    pub(crate) const fn new(broker: &'b Broker, call: &'b Call, needs: &'static [Need]) -> Self {
        Self { broker, call, needs }
    }
    /// The request's version.
    pub(crate) const fn version(&self) -> i16 {
        self.call.version
    }
    fn subject(&self) -> Subject<'b> {
        Subject { principal: &self.call.principal, host: self.call.host.trim_start_matches('/') }
    }
    pub(crate) fn may(&self, operation: Operation, resource_type: ResourceType, name: &str) -> bool {
        self.needs.contains(&(resource_type, operation)) && self.is_allowed(operation, resource_type, name)
    }
    fn is_allowed(&self, operation: Operation, resource_type: ResourceType, name: &str) -> bool {
        let settings = &self.broker.settings.security;
        !settings.has_authorizer
            || self.broker.authorizer.may(settings, self.subject(), operation, (resource_type, name))
    }
    pub(crate) fn may_cluster(&self, operation: Operation) -> bool {
        self.may(operation, ResourceType::Cluster, CLUSTER)
    }
    pub(crate) fn may_topic(&self, operation: Operation, name: &str) -> bool {
        self.may(operation, ResourceType::Topic, name)
    }
    pub(crate) fn may_group(&self, operation: Operation, name: &str) -> bool {
        self.may(operation, ResourceType::Group, name)
    }
    pub(crate) fn may_transactional_id(&self, operation: Operation, name: &str) -> bool {
        self.may(operation, ResourceType::TransactionalId, name)
    }
    /// Whether some topic could be written.
    pub(crate) fn may_write_somewhere(&self) -> bool {
        let settings = &self.broker.settings.security;
        self.broker.authorizer.may_somewhere(settings, self.subject(), Operation::Write, ResourceType::Topic)
    }
    /// What may be done to a thing, as a bit field (KIP-430).
    pub(crate) fn operations(&self, resource_type: ResourceType, name: &str) -> i32 {
        let may = |operation: &&Operation| self.is_allowed(**operation, resource_type, name);
        resource_type.operations().iter().filter(may).map(|operation| 1 << operation.id()).sum()
    }
    /// The name of a topic that is meant by its id; one that there is not has none.
    pub(crate) fn topic_name(&self, id: Uuid) -> Option<&'b str> {
        self.broker.topics.name_of(id).map(|name| name.as_str())
    }
    /// As [`may_topic`](Self::may_topic), of one that is meant by its name, or by its id where it has one; an id that no topic has hides
    /// nothing.
    pub(crate) fn may_meant(&self, operation: Operation, name: &str, id: Uuid) -> bool {
        let name = if id.is_nil() { Some(name) } else { self.topic_name(id) };
        name.is_none_or(|name| self.may_topic(operation, name))
    }
    /// The names of all topics.
    pub(crate) fn topics(&self) -> impl Iterator<Item = &'b str> {
        self.broker.topics.all().map(|topic| topic.name.as_str())
    }
    pub(crate) fn has_topic(&self, name: &str) -> bool {
        self.broker.has_topic(name)
    }
    /// Whether asking for a topic makes it.
    pub(crate) const fn makes_topics(&self) -> bool {
        self.broker.settings.auto_create_topics
    }
}
