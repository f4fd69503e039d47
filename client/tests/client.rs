//! Connecting, and the texts of what can go wrong with it.

use millstream_client::{Client, ErrorKind, Producer, ProducerRecord, Properties};
use millstream_protocol::{ApiKey, api};
use millstream_testkit::TestCluster;
use std::io::Read;
use std::net::TcpListener;
use std::time::Duration;
use tokio::net::TcpSocket;

/// A cluster that is down: nobody listens at its address, and nobody else can.
async fn nobody() -> TestCluster {
    let cluster = TestCluster::start().await;
    cluster.crash(1);
    cluster
}

#[tokio::test]
async fn one_address_that_answers_is_enough() {
    let cluster = TestCluster::start().await;
    let nobody = nobody().await;
    let addresses = format!("{},{}", nobody.bootstrap_servers(), cluster.bootstrap_servers());
    Client::builder(addresses).build().await.expect("one answers");
}

#[tokio::test]
async fn a_lazy_client_may_start_before_its_cluster() {
    // Bound and not listened on, so that nobody else takes it before the cluster does.
    let held = TcpSocket::new_v4().expect("a socket");
    held.set_reuseaddr(true).expect("an option");
    held.bind(([127, 0, 0, 1], 0).into()).expect("a free port");
    let port = held.local_addr().expect("bound").port();
    let client = Client::builder(format!("127.0.0.1:{port}")).build_lazy().expect("it asks nobody yet");
    let producer = client.producer().build().await.expect("nor does this");
    let sent = tokio::spawn(async move { producer.send(ProducerRecord::to("t").value("x")).await });
    tokio::time::sleep(Duration::from_millis(50)).await;
    let cluster = TestCluster::builder().port(port).topic("t", 1).start().await;
    sent.await.expect("no panic").expect("sent when the cluster was there");
    assert_eq!(cluster.values("t"), ["x"]);
}

#[tokio::test]
async fn properties_configure_what_methods_do() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let text = format!("bootstrap.servers={}\nacks=1\nlinger.ms=1\ngroup.id=not-ours", cluster.bootstrap_servers());
    let properties = Properties::parse(&text).expect("well formed");
    let producer = Producer::from_properties(&properties).build().await.expect("builds");
    producer.send(ProducerRecord::to("t").value("x")).await.expect("sends");
}

#[tokio::test]
async fn options_that_cannot_be_are_named_before_anything_is_sent() {
    for (key, value, expected) in [
        ("linger.ms", "soon", "option `linger.ms`: `soon` is not a number of milliseconds"),
        ("lingre.ms", "5", "option `lingre.ms`: is not known; did you mean `linger.ms`?"),
        ("acks", "2", "option `acks`: `2` is none of 0, 1 and all"),
        ("client.id", &"x".repeat(40_000), "option `client.id`: must be at most 32767 bytes long"),
        ("batch.size", "0", "option `batch.size`: must be more than zero"),
        ("security.protocol", "SSL", "option `security.protocol`: `SSL` is not supported yet; only PLAINTEXT is"),
        (
            "delivery.timeout.ms",
            "10",
            "option `delivery.timeout.ms`: must be at least linger.ms and request.timeout.ms together",
        ),
    ] {
        let cluster = TestCluster::start().await;
        let error = Producer::builder(&cluster).set(key, value).build().await.expect_err(key);
        assert_eq!(error.kind(), ErrorKind::Config, "{key}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[tokio::test]
async fn idempotence_needs_all_acknowledgements() {
    let cluster = TestCluster::start().await;
    let builder = Producer::builder(&cluster).set("acks", "1").enable_idempotence(true);
    let error = builder.build().await.expect_err("they contradict");
    assert!(error.to_string().contains("option `enable.idempotence`: needs acks of all"), "{error}");
}

#[test]
fn outside_a_runtime_the_error_says_what_is_missing() {
    let error = Client::builder("localhost:9092").build_lazy().expect_err("no runtime");
    assert_eq!(error.kind(), ErrorKind::Misuse);
    assert!(error.to_string().contains("#[tokio::main]"), "{error}");
}

#[tokio::test]
async fn metadata_is_asked_for_once_for_many_producers_of_a_topic() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let client = Client::builder(cluster.bootstrap_servers()).build().await.expect("connects");
    let before = cluster.requests().count(ApiKey::METADATA);
    for _ in 0..5 {
        let producer = client.producer().build().await.expect("builds");
        producer.send(ProducerRecord::to("t").value("x")).await.expect("sends");
    }
    let asked = cluster.requests().count(ApiKey::METADATA) - before;
    assert!(asked <= 2, "{asked} metadata requests for one topic");
}

#[tokio::test]
async fn dropping_a_client_ends_its_connections_without_blocking() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    for _ in 0..20 {
        let client = Client::builder(cluster.bootstrap_servers()).build().await.expect("connects");
        let producer = client.producer().build().await.expect("builds");
        producer.send(ProducerRecord::to("t").value("x")).await.expect("sends");
    }
    assert_eq!(cluster.values("t").len(), 20);
}

#[tokio::test]
async fn a_time_limit_of_for_ever_is_one() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let patient = Client::builder(cluster.bootstrap_servers())
        .request_timeout(Duration::MAX)
        .default_api_timeout(Duration::MAX)
        .metadata_max_age(Duration::MAX);
    let client = patient.build().await.expect("connects");
    assert_eq!(client.admin().topics().list().await.expect("lists"), ["t"]);
    let consumer = client.consumer().build().await.expect("builds");
    consumer.close(Duration::MAX).await.expect("closes");
}

// W-3: some brokers hang up on a version of ApiVersions that they do not know.
#[tokio::test]
async fn a_broker_that_hangs_up_on_the_newest_version_is_asked_in_the_oldest_and_then_again_in_the_newest() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound").to_string();
    let versions = tokio::task::spawn_blocking(move || {
        let version = |_| {
            let mut head = [0; 8];
            listener.accept().expect("a connection").0.read_exact(&mut head).expect("a request");
            i16::from_be_bytes([head[6], head[7]])
        };
        (0..4).map(version).collect::<Vec<_>>()
    });
    let _client = Client::builder(address).build_lazy().expect("needs no broker");
    let newest = api::supported(ApiKey::API_VERSIONS).expect("spoken").max();
    assert_eq!(versions.await.expect("four requests"), [newest, newest, 0, newest]);
}
