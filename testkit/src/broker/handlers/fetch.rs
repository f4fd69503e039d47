//! Fetch: sessions, long polls, read_committed, followers and racks, whole batches (Kafka may cut the last one), about 1 MiB of them at a
//! time (Kafka gives what the client takes).
//!
//! Versions 4 to 18. Left out: fetches of other brokers.

use super::{Handler, MOST_COSTLY_THINGS};
use crate::broker::Broker;
use crate::broker::bounds::Comer;
use crate::broker::call::{Answer, Call};
use crate::broker::fetching::plan::{IDS_SINCE, Plan, Want, refused};
use crate::broker::fetching::sessions::Memory;
use crate::broker::log::Isolation;
use millstream_protocol::messages::fetch_request::FetchTopic;
use millstream_protocol::messages::fetch_response::FetchableTopicResponse;
use millstream_protocol::messages::{FetchRequest, FetchResponse};
use millstream_protocol::{ApiKey, ErrorCode};
use std::time::Duration;

/// No answer has much more than this beyond the least that is asked for, however much its client would take: clients read what stays in their
/// caches and heaps in a fraction of the time, and ask again.
const ENOUGH: usize = 1 << 20;

pub(super) struct Fetch;

impl Handler for Fetch {
    type Request = FetchRequest;
    const MOST_THINGS: usize = MOST_COSTLY_THINGS;
    fn handle(broker: &mut Broker, call: &Call, request: FetchRequest) -> Answer<FetchResponse> {
        let memory = memory(broker, call, &request);
        let resolved = broker.fetch_sessions.resolve(&request, call.version >= IDS_SINCE, &broker.topics, memory);
        let (mut wants, session) = match resolved {
            Ok(resolved) => resolved,
            Err(code) => return Answer::Reply(FetchResponse { error_code: code.get(), ..FetchResponse::default() }),
        };
        if broker.has_partition_faults() {
            wants.iter_mut().for_each(|want| want.fault = broker.fault_of(call, want));
        }
        let size = |bytes: i32| usize::try_from(bytes).unwrap_or(0);
        let (min_bytes, max_bytes) = (size(request.min_bytes), size(request.max_bytes));
        let plan = Plan {
            call: call.clone(),
            wants,
            session,
            min_bytes,
            max_bytes: max_bytes.min(broker.settings.fetch_max_bytes).min(min_bytes.saturating_add(ENOUGH)),
            isolation: Isolation::from(request.isolation_level),
            rack: request.rack_id,
            until: broker.now + Duration::from_millis(u64::from(request.max_wait_ms.max(0).unsigned_abs())),
        };
        if plan.until <= broker.now || broker.is_ready(&plan) {
            return Answer::Reply(broker.fetch_now(&plan));
        }
        broker.wait_fetch(plan);
        Answer::Later
    }
    fn refuse(request: &FetchRequest, code: ErrorCode) -> FetchResponse {
        let topic = |topic: &FetchTopic| FetchableTopicResponse {
            topic: topic.topic.clone(),
            topic_id: topic.topic_id,
            partitions: topic.partitions.iter().map(|asked| refused(asked.partition, code)).collect(),
            ..FetchableTopicResponse::default()
        };
        // An incremental request names no partitions; a session's troubles are told above them.
        let is_of_session =
            matches!(code, ErrorCode::FETCH_SESSION_ID_NOT_FOUND | ErrorCode::INVALID_FETCH_SESSION_EPOCH);
        if request.topics.is_empty() || is_of_session {
            return FetchResponse { error_code: code.get(), ..FetchResponse::default() };
        }
        FetchResponse { responses: request.topics.iter().map(topic).collect(), ..FetchResponse::default() }
    }
}

/// Whether a session may remember what a request names.
fn memory(broker: &mut Broker, call: &Call, request: &FetchRequest) -> Memory {
    let names: usize = request.topics.iter().map(|topic| topic.partitions.len()).sum();
    let remembers = names > 0 && request.session_epoch >= 0;
    if remembers && !broker.has_state_room(ApiKey::FETCH, call, names * NAMED, Comer::New) {
        Memory::Full
    } else {
        Memory::Free
    }
}
/// About how many bytes it takes to name a partition.
const NAMED: usize = 64;

impl Broker {
    /// What a rule wants a partition to fail with.
    fn fault_of(&mut self, call: &Call, want: &Want) -> Option<ErrorCode> {
        let name = want.find(self).map(|(topic, _)| topic.name.clone()).ok()?;
        self.partition_fault(ApiKey::FETCH, call, &name, want.partition).err()
    }
}
