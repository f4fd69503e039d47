//! ListOffsets, asked of every leader that is concerned. Each partition is answered for by itself: a broker that fails, fails only
//! its share (M-10).

use super::per_item::{PerItem, judged};
use super::text;
use crate::client::{Call, Client, Target};
use crate::consumer::IsolationLevel;
use crate::runtime::sleep_until;
use crate::{Error, ErrorKind, OffsetSpec};
use millstream_client_core::backoff::Backoff;
use millstream_client_core::cluster::Creation;
use millstream_protocol::hash::HashMap;
use millstream_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use millstream_protocol::messages::list_offsets_response::ListOffsetsPartitionResponse;
use millstream_protocol::messages::{BrokerId, ListOffsetsRequest, ListOffsetsResponse};
use millstream_protocol::{ErrorCode, NodeId, Offset, TopicPartition};
use std::time::Instant;

type Specs = Vec<(TopicPartition, OffsetSpec)>;
type Answer = Result<Option<Offset>, Error>;

/// What each spec means now, asked again until `default.api.timeout.ms` where another try may help.
pub(crate) async fn resolve(
    client: &Client,
    specs: Specs,
    isolation: IsolationLevel,
) -> PerItem<TopicPartition, Option<Offset>> {
    let deadline = client.api_deadline();
    let mut backoff = client.hub().backoff();
    let mut answers = PerItem::new();
    let mut open = specs;
    loop {
        let mut again = Vec::new();
        for (leader, share) in by_leader(client, open, deadline, &mut answers).await {
            for ((partition, spec), answer) in ask(client, leader, share, isolation, deadline).await {
                match answer {
                    Err(error) if error.is_retriable() && client.now() < deadline => again.push((partition, spec)),
                    answer => answers.insert(partition, answer),
                }
            }
        }
        if again.is_empty() {
            return answers;
        }
        pause(client, &mut backoff).await;
        open = again;
    }
}

async fn pause(client: &Client, backoff: &mut Backoff) {
    client.hub().request_refresh();
    let wait = client.hub().next_wait(backoff);
    sleep_until(&**client.runtime(), client.now() + wait).await;
}

/// Who is to be asked for what. Offsets need no asking; partitions whose leader cannot be found are answered here.
async fn by_leader(
    client: &Client,
    specs: Specs,
    deadline: Instant,
    answers: &mut PerItem<TopicPartition, Option<Offset>>,
) -> HashMap<NodeId, Specs> {
    let mut shares: HashMap<NodeId, Specs> = HashMap::default();
    for (partition, spec) in specs {
        if let OffsetSpec::At(offset) = spec {
            answers.insert(partition, Ok(Some(offset)));
            continue;
        }
        match leader(client, &partition, deadline).await {
            Ok(leader) => shares.entry(leader).or_default().push((partition, spec)),
            Err(error) => answers.insert(partition, Err(error)),
        }
    }
    shares
}

async fn leader(client: &Client, partition: &TopicPartition, deadline: Instant) -> Result<NodeId, Error> {
    let mut backoff = client.hub().backoff();
    loop {
        let topic = client.hub().topic(&partition.topic, Creation::Forbidden, deadline).await?;
        let Some(known) = topic.partition(partition.partition) else {
            let reason = format!("the topic has {} partitions", topic.partitions.len());
            return Err(Error::broker(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, "list offsets")
                .about(partition.clone())
                .reason(reason));
        };
        if let Some(leader) = known.leader {
            return Ok(leader);
        }
        if client.now() >= deadline {
            return Err(Error::new(ErrorKind::TimedOut, "list offsets")
                .about(partition.clone())
                .reason("it has no leader"));
        }
        pause(client, &mut backoff).await;
    }
}

async fn ask(
    client: &Client,
    leader: NodeId,
    share: Specs,
    isolation: IsolationLevel,
    deadline: Instant,
) -> Vec<((TopicPartition, OffsetSpec), Answer)> {
    let call = Call::new("list offsets", Target::Node(leader)).deadline(deadline);
    let asked = share.clone();
    let request = move |_| request(&asked, isolation);
    match client.call::<ListOffsetsRequest>(call, request, |_| ErrorCode::NONE).await {
        Ok(reply) => share
            .into_iter()
            .map(|(partition, spec)| {
                let answer = answer(&reply.body, &partition, leader);
                ((partition, spec), answer)
            })
            .collect(),
        Err(error) => share
            .into_iter()
            .map(|each| {
                let error = error.clone().about(each.0.clone());
                (each, Err(error))
            })
            .collect(),
    }
}

fn request(specs: &Specs, isolation: IsolationLevel) -> ListOffsetsRequest {
    let mut topics: HashMap<&str, Vec<ListOffsetsPartition>> = HashMap::default();
    for (partition, spec) in specs {
        let Some(timestamp) = spec.timestamp() else { continue };
        let asked = ListOffsetsPartition::default()
            .with_partition_index(partition.partition.get())
            .with_current_leader_epoch(-1)
            .with_timestamp(timestamp);
        topics.entry(partition.topic.as_str()).or_default().push(asked);
    }
    let topics = topics
        .into_iter()
        .map(|(name, partitions)| ListOffsetsTopic::default().with_name(text(name).into()).with_partitions(partitions));
    ListOffsetsRequest::default()
        .with_replica_id(BrokerId(-1))
        .with_isolation_level(isolation.code())
        .with_topics(topics.collect())
}

fn answer(body: &ListOffsetsResponse, partition: &TopicPartition, leader: NodeId) -> Answer {
    let found: Option<&ListOffsetsPartitionResponse> = body
        .topics
        .iter()
        .filter(|topic| topic.name.as_str() == partition.topic.as_str())
        .flat_map(|topic| &topic.partitions)
        .find(|each| each.partition_index == partition.partition.get());
    let named = |error: Error| error.about(partition.clone()).at(leader);
    let Some(found) = found else {
        return Err(named(
            Error::new(ErrorKind::Malformed, "list offsets").reason("the answer leaves the partition out"),
        ));
    };
    judged(found.error_code, None, "list offsets").map_err(named)?;
    // -1 is "no such record": a time after the last one.
    Ok(Some(found.offset).filter(|offset| *offset >= 0).map(Offset::new))
}
