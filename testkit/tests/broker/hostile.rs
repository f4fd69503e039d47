//! Bytes that are no requests, and requests that are unlike others.

use crate::client::{Connection, batch, versions_request, write};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::describe_producers_request::TopicRequest;
use millstream_protocol::messages::metadata_request::MetadataRequestTopic;
use millstream_protocol::messages::{DescribeProducersRequest, MetadataRequest, StrBytes, TopicName};
use millstream_protocol::record::Stamp;
use millstream_testkit::TestCluster;

#[tokio::test]
async fn what_is_no_request_ends_its_connection_and_nothing_else() {
    let cluster = TestCluster::start().await;
    let cases: [(&str, &[u8]); 6] = [
        ("an API that there is not", &[0, 0, 0, 10, 0x7f, 0xff, 0, 0, 0, 0, 0, 1, 0xff, 0xff]),
        ("a version that there is not", &[0, 0, 0, 10, 0, 3, 0, 99, 0, 0, 0, 1, 0xff, 0xff]),
        ("a negative size", &[0xff, 0xff, 0xff, 0xff]),
        ("another protocol", b"GET / HTTP/1.1\r\n\r\n"),
        ("a header that is cut", &[0, 0, 0, 3, 0, 3, 0]),
        (
            "Metadata 1 of two billion topics",
            &[0, 0, 0, 14, 0, 3, 0, 1, 0, 0, 0, 1, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff],
        ),
    ];
    for (what, bytes) in cases {
        let mut connection = Connection::to(&cluster, 0);
        connection.send_raw(bytes);
        assert_eq!(connection.payload(), None, "{what}");
    }
    let response = Connection::to(&cluster, 0).call(4, &versions_request());
    assert_eq!(response.error_code, 0);
}

#[tokio::test]
async fn every_prefix_of_a_request_is_survived() {
    let cluster = TestCluster::start().await;
    let frame = millstream_protocol::frame::encode_request(12, 1, Some("test"), &MetadataRequest::default())
        .unwrap()
        .to_bytes();
    for length in 4..frame.len() {
        let mut cut = frame[..length].to_vec();
        let size = u32::try_from(length - 4).unwrap();
        cut[..4].copy_from_slice(&size.to_be_bytes());
        let mut connection = Connection::to(&cluster, 0);
        connection.send_raw(&cut);
        // Trailing fields may be missing without the rest being wrong; what matters is that the broker answers or hangs up.
        let _ = connection.payload();
    }
    assert_eq!(Connection::to(&cluster, 0).call(12, &MetadataRequest::default()).brokers.len(), 1);
}

/// A limit that is there for answers, as many times the frame as a message takes in memory, ended the connection without a word.
#[tokio::test]
async fn thousands_of_short_names_are_served_as_by_kafka() {
    let cluster = TestCluster::start().await;
    let topic = |number: usize| {
        MetadataRequestTopic::default().with_name(Some(StrBytes::from_string(format!("{number:x}")).into()))
    };
    let topics: Vec<_> = (0..3528).map(topic).collect();
    let request = MetadataRequest::default().with_topics(Some(topics)).with_allow_auto_topic_creation(false);
    let response = Connection::to(&cluster, 0).call(4, &request);
    assert_eq!(response.topics.len(), 3528);
}

// A frame of a hundred megabytes named so many partitions that their answer took gigabytes, each of which the process had to have at once.
#[tokio::test]
async fn a_request_of_very_many_small_parts_is_refused_before_it_is_read() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let asked = TopicRequest::default().with_name(TopicName(StrBytes::from_static_str("t")));
    let asked = asked.with_partition_indexes(vec![1; (4 << 20) + 100]);
    let request = DescribeProducersRequest::default().with_topics(vec![asked]);
    let mut connection = Connection::to(&cluster, 0);
    connection.send(0, &request);
    assert_eq!(connection.payload(), None);
    let all = cluster.requests().all();
    let why = all[0].closed_because().expect("it was closed");
    assert!(
        why.starts_with("a request of DescribeProducers has 16777216 bytes at most, and this one has 16777"),
        "{why}"
    );
    // Records may be as many bytes as a frame.
    let value = "x".repeat(17 << 20);
    let (code, _) = write(&mut Connection::to(&cluster, 0), "t", batch(&[&value], &Stamp::plain()));
    assert_eq!(code, ErrorCode::MESSAGE_TOO_LARGE.get());
}

#[tokio::test]
async fn the_log_says_why_a_connection_was_closed() {
    let cluster = TestCluster::start().await;
    let mut connection = Connection::to(&cluster, 0);
    // Metadata 1 of two billion topics.
    connection.send_raw(&[0, 0, 0, 14, 0, 3, 0, 1, 0, 0, 0, 1, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
    assert_eq!(connection.payload(), None);
    let all = cluster.requests().all();
    let why = all[0].closed_because().expect("it was closed");
    assert!(why.contains("2147483647 elements"), "{why}");
    assert!(all[0].to_string().ends_with(why), "{}", all[0]);
}
