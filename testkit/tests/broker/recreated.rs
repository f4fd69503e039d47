//! What fetches are told of topics that were deleted, or made anew under the same name.

use crate::client::{Connection, PATIENCE, fetch, text};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::create_topics_request::CreatableTopic;
use millstream_protocol::messages::delete_topics_request::DeleteTopicState;
use millstream_protocol::messages::{
    CreateTopicsRequest, DeleteTopicsRequest, FetchRequest, MetadataRequest, TopicName, Uuid,
};
use millstream_testkit::TestCluster;
use std::time::{Duration, Instant};

/// A cluster's topic `made-anew`, by its id.
struct Topic {
    connection: Connection,
    id: Uuid,
}
impl Topic {
    fn make(bootstrap: &str) -> Self {
        let mut connection = Connection::at(bootstrap);
        let topic = CreatableTopic::default().with_name(TopicName(text("made-anew")));
        let topic = topic.with_num_partitions(1).with_replication_factor(1);
        let request = CreateTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(10_000);
        let created = connection.call(7, &request).topics.remove(0);
        assert_eq!(created.error_code, 0, "{created:?}");
        let mut topic = Self { connection, id: created.topic_id };
        topic.wait(|led| led == Some(true));
        topic
    }
    fn delete(mut self) {
        let state = DeleteTopicState::default().with_name(None).with_topic_id(self.id);
        let request = DeleteTopicsRequest::default().with_topics(vec![state]).with_timeout_ms(10_000);
        assert_eq!(self.connection.call(6, &request).responses[0].error_code, 0);
        self.wait(|led| led.is_none());
    }
    /// Waits until the broker knows it as is wanted: not at all, or whether it has a leader.
    fn wait(&mut self, is_it: impl Fn(Option<bool>) -> bool) {
        let begun = Instant::now();
        loop {
            let topics = self.connection.call(12, &MetadataRequest::default().with_topics(None)).topics;
            let led =
                topics.iter().find(|topic| topic.topic_id == self.id).map(|topic| topic.partitions[0].leader_id.0 >= 0);
            if is_it(led) {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "the topic stays as it is");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    fn fetch(&self) -> FetchRequest {
        let mut request = fetch("", 0, 0, 0);
        request.topics[0].topic_id = self.id;
        request
    }
}
fn codes(connection: &mut Connection, request: &FetchRequest) -> Vec<ErrorCode> {
    let response = connection.call(13, request);
    assert_eq!(response.error_code, 0);
    let partitions = response.responses.iter().flat_map(|topic| &topic.partitions);
    partitions.map(|partition| ErrorCode::new(partition.error_code)).collect()
}

/// What a session with one partition is told, step by step; and, at each, a fetch without a session.
fn told(bootstrap: &str) -> Vec<(Vec<ErrorCode>, Vec<ErrorCode>)> {
    let topic = Topic::make(bootstrap);
    let alone = topic.fetch();
    let mut reader = Connection::at(bootstrap);
    let begun = Instant::now();
    let opened = loop {
        let opened = reader.call(13, &FetchRequest { session_epoch: 0, ..topic.fetch() });
        // The leader may be named before it knows.
        if opened.responses[0].partitions[0].error_code == 0 {
            break opened;
        }
        assert!(begun.elapsed() < PATIENCE, "{opened:?}");
    };
    let next = |epoch| FetchRequest {
        session_id: opened.session_id,
        session_epoch: epoch,
        max_bytes: 1 << 20,
        ..FetchRequest::default()
    };
    let mut told = vec![(codes(&mut reader, &next(1)), codes(&mut reader, &alone))];
    topic.delete();
    told.push((codes(&mut reader, &next(2)), codes(&mut reader, &alone)));
    let anew = Topic::make(bootstrap);
    told.push((codes(&mut reader, &next(3)), codes(&mut reader, &alone)));
    // Forgotten under one id, asked for under the other.
    let mut moves = FetchRequest { topics: anew.fetch().topics, ..next(4) };
    moves.forgotten_topics_data.push(millstream_protocol::messages::fetch_request::ForgottenTopic {
        topic_id: alone.topics[0].topic_id,
        partitions: vec![0],
        ..Default::default()
    });
    told.push((codes(&mut reader, &moves), codes(&mut reader, &anew.fetch())));
    anew.delete();
    told
}
fn expected() -> Vec<(Vec<ErrorCode>, Vec<ErrorCode>)> {
    let unknown = || vec![ErrorCode::UNKNOWN_TOPIC_ID];
    vec![
        (vec![], vec![ErrorCode::NONE]),
        (vec![ErrorCode::UNKNOWN_TOPIC_OR_PARTITION], unknown()),
        (vec![ErrorCode::INCONSISTENT_TOPIC_ID], unknown()),
        (vec![ErrorCode::NONE], vec![ErrorCode::NONE]),
    ]
}

#[tokio::test]
async fn a_session_takes_an_id_for_the_name_that_it_had() {
    let cluster = TestCluster::start().await;
    assert_eq!(told(&cluster.bootstrap_servers()), expected());
}

#[test]
#[ignore = "needs a real Kafka at MILLSTREAM_KAFKA"]
fn kafkas_sessions_tell_the_same_of_a_topic_made_anew() {
    let bootstrap = std::env::var("MILLSTREAM_KAFKA").expect("MILLSTREAM_KAFKA is HOST:PORT of a real Kafka");
    assert_eq!(told(&bootstrap), expected());
}
