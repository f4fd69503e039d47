//! Brokers that are too old, or gone.

use super::{whole, within};
use millstream_client::{Client, Consumer, ErrorKind, Producer, ProducerRecord};
use millstream_testkit::TestCluster;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A broker of old times: it offers these APIs in these versions, knows of itself and of the topic `t`, and hangs up on all else.
struct OldBroker {
    address: String,
    server: tokio::task::JoinHandle<()>,
}

const API_VERSIONS: i16 = 18;
const METADATA: i16 = 3;

impl OldBroker {
    async fn start(offers: &'static [(i16, i16, i16)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, address.port(), offers));
            }
        });
        Self { address: address.to_string(), server }
    }
    fn anonymous(&self, text: &str) -> String {
        text.replace(&self.address, "ADDRESS")
    }
}
impl Drop for OldBroker {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(mut stream: TcpStream, port: u16, offers: &[(i16, i16, i16)]) {
    while let Ok(size) = stream.read_i32().await {
        let mut request = vec![0; usize::try_from(size).expect("a size")];
        if stream.read_exact(&mut request).await.is_err() {
            return;
        }
        let number = |at: usize| i16::from_be_bytes([request[at], request[at + 1]]);
        let mut answer = request[4..8].to_vec();
        match (number(0), number(2)) {
            (API_VERSIONS, version) => answer.extend(versions(version, offers)),
            (METADATA, 0 | 1) => answer.extend(metadata(number(2), port)),
            _ => return,
        }
        let size = i32::try_from(answer.len()).expect("short");
        if stream.write_i32(size).await.is_err() || stream.write_all(&answer).await.is_err() {
            return;
        }
    }
}
/// Version 0, with UNSUPPORTED_VERSION if another was asked for.
fn versions(version: i16, offers: &[(i16, i16, i16)]) -> Vec<u8> {
    let code: i16 = if version == 0 { 0 } else { 35 };
    let count = i32::try_from(offers.len()).expect("few");
    let ranges = offers.iter().flat_map(|(api, min, max)| [*api, *min, *max]);
    [&code.to_be_bytes()[..], &count.to_be_bytes()]
        .concat()
        .into_iter()
        .chain(ranges.flat_map(i16::to_be_bytes))
        .collect()
}
/// One broker, one topic of one partition.
fn metadata(version: i16, port: u16) -> Vec<u8> {
    let one = 1_i32.to_be_bytes();
    let text = |text: &str| [&[0, u8::try_from(text.len()).expect("short")], text.as_bytes()].concat();
    let mut body = [&one[..], &one, &text("127.0.0.1"), &i32::from(port).to_be_bytes()].concat();
    if version == 1 {
        body.extend([0xff, 0xff]); // no rack
        body.extend(one); // the controller
    }
    body.extend([&one[..], &[0, 0], &text("t")].concat());
    if version == 1 {
        body.push(0); // not internal
    }
    body.extend([&one[..], &[0, 0], &[0; 4], &one, &one, &one, &one, &one].concat());
    body
}

/// What Kafka 0.10.0 offers of what a client needs.
const KAFKA_0_10: &[(i16, i16, i16)] =
    &[(0, 0, 2), (1, 0, 2), (2, 0, 0), (3, 0, 1), (8, 0, 2), (9, 0, 1), (10, 0, 0), (11, 0, 0), (12, 0, 0), (18, 0, 0)];

#[tokio::test]
async fn a_broker_without_any_version_in_common_is_refused_with_its_versions() {
    let broker = OldBroker::start(&[(API_VERSIONS, 0, 0), (0, 0, 0)]).await;
    let error = within("an error", Client::builder(broker.address.as_str()).build()).await.expect_err("too old");
    assert_eq!(
        broker.anonymous(&whole(&error)),
        "connect to the cluster: no broker speaks a version of Kafka's protocol that this client speaks. \
         Tried: ADDRESS: the broker does not offer Metadata, of which this call needs version 0–13; it needs \
         a newer broker, or one on which the feature is enabled"
    );
}

#[tokio::test]
async fn a_broker_that_is_too_old_to_write_to_is_named_with_its_versions() {
    let broker = OldBroker::start(KAFKA_0_10).await;
    let builder = Producer::builder(broker.address.as_str()).enable_idempotence(false);
    let producer = builder.build().await.expect("it answers");
    let error = within("an error", producer.send(ProducerRecord::to("t").value("x"))).await.expect_err("too old");
    assert_eq!(
        broker.anonymous(&whole(&error)),
        "write a record, partition t-0: node 1: the broker offers Produce 0–2, and this call needs version \
         3–12; Kafka 4.0 dropped older ones (KIP-896), and this crate has what Kafka 4.4 has; upgrade the broker to \
         Kafka 2.1 or later"
    );
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[tokio::test]
async fn a_broker_that_is_too_old_for_idempotence_is_named_with_what_to_do() {
    let broker = OldBroker::start(KAFKA_0_10).await;
    let producer = Producer::connect(broker.address.as_str()).await.expect("it answers");
    let error = within("an error", producer.send(ProducerRecord::to("t").value("x"))).await.expect_err("too old");
    assert_eq!(
        broker.anonymous(&whole(&error)),
        "write a record, partition t-0: get a producer id, as enable.idempotence=true needs, node 1: the \
         broker does not offer InitProducerId, of which this call needs version 0–5; it needs a newer \
         broker, or one on which the feature is enabled"
    );
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[tokio::test]
async fn a_broker_that_is_too_old_to_read_from_is_named_with_its_versions() {
    let broker = OldBroker::start(KAFKA_0_10).await;
    let mut consumer = Consumer::builder(broker.address.as_str()).build().await.expect("it answers");
    consumer.assign([("t", 0)]);
    let error = within("an error", consumer.poll()).await.expect_err("too old");
    assert_eq!(
        broker.anonymous(&whole(&error)),
        "look up offsets, node 1: the broker offers ListOffsets 0, and this call needs version 1–11; \
         Kafka 4.0 dropped older ones (KIP-896), and this crate has what Kafka 4.4 has; upgrade the broker to Kafka \
         2.1 or later"
    );
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[tokio::test]
async fn a_broker_that_is_gone_for_too_long_is_named_and_what_was_acknowledged_is_there_once() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let client = Client::builder(cluster.bootstrap_servers()).request_timeout(Duration::from_secs(5));
    let client = client.default_api_timeout(Duration::from_secs(5)).build().await.expect("connects");
    let builder = Producer::builder(&client).linger(Duration::ZERO);
    let producer = builder.delivery_timeout(Duration::from_secs(10)).build().await.expect("builds");
    producer.send(ProducerRecord::to("t").value("before")).await.expect("acknowledged");
    cluster.crash(1);
    let address = cluster.bootstrap_servers();
    let error = within("an error", producer.send(ProducerRecord::to("t").value("lost"))).await.expect_err("gone");
    // How often it was tried, and whether the first try had left, is chance.
    let text = whole(&error).replace(&address, "ADDRESS").replace(" (it may have happened nevertheless)", "");
    let (text, tries) = text.rsplit_once(" (try ").expect("it counts");
    assert!(tries.trim_end_matches(')').parse::<u32>().is_ok(), "{tries}");
    assert_eq!(
        text,
        "write a record, partition t-0: not acknowledged within delivery.timeout.ms; the last try ended \
         with: node 1: ADDRESS: Connection refused (os error 111)"
    );
    // Whether the last try has ended when the time is over is chance.
    let error = within("an error", client.admin().groups().list()).await.expect_err("gone");
    let text = whole(&error).replace(&address, "ADDRESS");
    assert!(text.starts_with("list the cluster's brokers, node 1: "), "{text}");
    assert!(text.contains("ADDRESS: Connection refused (os error 111)"), "{text}");
    cluster.restart(1);
    producer.send(ProducerRecord::to("t").value("after")).await.expect("acknowledged");
    assert_eq!(cluster.values("t"), ["before", "after"]);
}

#[tokio::test]
async fn a_broker_that_is_gone_while_others_are_there_delays_and_loses_nothing() {
    let cluster = TestCluster::builder().brokers(3).topic("t", 3).start().await;
    let producer = Producer::builder(&cluster).linger(Duration::ZERO).batch_size(300).build().await.expect("connects");
    let mut acknowledged = Vec::new();
    for number in 0..300 {
        match number {
            100 => cluster.crash(2),
            200 => cluster.restart(2),
            _ => {}
        }
        let text = number.to_string();
        let record = ProducerRecord::to("t").value(&text).partition(number % 3);
        acknowledged.push(producer.enqueue(record).await.expect("accepted"));
    }
    let all = async {
        for delivery in acknowledged {
            delivery.await.expect("acknowledged");
        }
    };
    within("all is acknowledged", all).await;
    let mut values: Vec<i32> = cluster.values("t").iter().map(|value| value.parse().expect("a number")).collect();
    values.sort_unstable();
    assert_eq!(values, (0..300).collect::<Vec<_>>());
}
