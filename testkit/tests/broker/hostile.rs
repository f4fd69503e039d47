//! Bytes that are no requests.

use crate::client::{Connection, versions_request};
use millstream_protocol::messages::MetadataRequest;
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
