// Benchmark client on millstream. Workloads and output: see ../../README.md.
#[path = "../../rust-common/common.rs"]
mod common;
use common::*;
use millstream_client::{
    Assignor, Client, Compression, Consumer, GroupProtocol, IsolationLevel, OffsetReset, OffsetSpec, Producer, ProducerBuilder,
    ProducerRecord, Records,
};
use millstream_protocol::TopicPartition;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

const NAME: &str = concat!("millstream ", env!("CARGO_PKG_VERSION"));

struct Load {
    topic: String,
    n: usize,
    size: usize,
    keyed: bool,
    pool: &'static [u8],
    values: usize,
}
impl Load {
    fn new() -> Self {
        let size = argi("size", 100) as usize;
        let (pool, values) = mkpool(size);
        Self { topic: arg("topic", "b"), n: argi("n", 100000) as usize, size, keyed: argi("keyed", 0) == 1, pool, values }
    }
    fn value(&self, i: usize) -> &'static [u8] {
        let at = (i % self.values) * self.size;
        &self.pool[at..at + self.size]
    }
    fn record<'a>(&'a self, i: usize, key: &'a [u8; 10]) -> ProducerRecord<'a> {
        let record = ProducerRecord::to(&self.topic).value(self.value(i));
        if self.keyed { record.key(key) } else { record }
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let start = Instant::now();
    let mode = mode();
    let client = Client::builder(arg("brokers", "127.0.0.1:9092")).client_id("bench").build().await.unwrap();
    match mode.as_str() {
        "consume" => consume(&client).await,
        "group" => group(&client, start).await,
        "txn" => transactions(&client).await,
        "produce" => produce(&client).await,
        "latency" => latency(&client).await,
        "load" => load(&client).await,
        other => panic!("mode {other}"),
    }
}

fn producer(client: &Client) -> ProducerBuilder {
    let codec = match arg("codec", "none").as_str() {
        "lz4" => Compression::Lz4,
        "zstd" => Compression::Zstd,
        "gzip" => Compression::Gzip,
        "snappy" => Compression::Snappy,
        _ => Compression::None,
    };
    client
        .producer()
        .compression_type(codec)
        .linger(Duration::from_millis(argi("linger", 5) as u64))
        .batch_size(argi("batch", 1000000) as usize)
        .buffer_memory(64 << 20)
        .enable_idempotence(argi("idem", 1) == 1)
}

async fn warm(producer: &Producer, load: &Load) {
    for i in 0..argi("warm", 100) as usize {
        drop(producer.enqueue(load.record(i, &key(i))).await.unwrap());
    }
    producer.flush().await.unwrap();
}

// The acknowledgements are not looked at one by one; flush waits for all of them.
async fn produce(client: &Client) {
    let load = Load::new();
    let producer = producer(client).build().await.unwrap();
    warm(&producer, &load).await;
    let s0 = snap();
    for i in 0..load.n {
        drop(producer.enqueue(load.record(i, &key(i))).await.unwrap());
    }
    producer.flush().await.unwrap();
    report(NAME, "produce", load.n, load.n * load.size, &s0, "");
}

async fn latency(client: &Client) {
    let load = Load::new();
    let producer = producer(client).build().await.unwrap();
    warm(&producer, &load).await;
    let s0 = snap();
    let mut times = Vec::with_capacity(load.n);
    for i in 0..load.n {
        let t = Instant::now();
        producer.send(load.record(i, &key(i))).await.unwrap();
        times.push(t.elapsed().as_nanos() as u64);
    }
    report(NAME, "latency", load.n, load.n * load.size, &s0, &pct(times));
}

async fn load(client: &Client) {
    let load = Load::new();
    let producer = producer(client).build().await.unwrap();
    warm(&producer, &load).await;
    let s0 = snap();
    let per = argi("rate", 10000) as usize / 1000;
    let times: Arc<Vec<AtomicU64>> = Arc::new((0..load.n).map(|_| AtomicU64::new(0)).collect());
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let sink = times.clone();
    // One task awaits the handles in order of sending.
    let awaiting = tokio::spawn(async move {
        while let Some((i, due, delivery)) = receiver.recv().await {
            let (i, due, delivery): (usize, Instant, millstream_client::Delivery) = (i, due, delivery);
            delivery.await.unwrap();
            sink[i].store(due.elapsed().as_nanos() as u64, Relaxed);
        }
    });
    let (mut i, mut tick) = (0usize, 0u32);
    while i < load.n {
        let due = s0.t + Duration::from_millis(1) * tick;
        tokio::time::sleep_until(due.into()).await;
        for _ in 0..per {
            if i < load.n {
                sender.send((i, due, producer.enqueue(load.record(i, &key(i))).await.unwrap())).ok();
                i += 1;
            }
        }
        tick += 1;
    }
    drop(sender);
    awaiting.await.unwrap();
    report(NAME, "load", load.n, load.n * load.size, &s0, &pct(times.iter().map(|a| a.load(Relaxed)).collect()));
}

async fn transactions(client: &Client) {
    let load = Load::new();
    let per = argi("per", 100) as usize;
    let mut producer = producer(client).build_transactional(format!("bench-millstream-{}", std::process::id())).await.unwrap();
    for _ in 0..10 {
        let txn = producer.begin();
        txn.enqueue(load.record(0, &key(0))).await.unwrap();
        txn.commit().await.unwrap();
    }
    let s0 = snap();
    for i in 0..load.n {
        let txn = producer.begin();
        for k in 0..per {
            txn.enqueue(load.record(i * per + k, &key(i))).await.unwrap();
        }
        txn.commit().await.unwrap();
    }
    report(NAME, "txn", load.n, load.n * load.size * per, &s0, &format!(",\"per\":{per}"));
}

#[derive(Default)]
struct Sum {
    got: usize,
    bytes: usize,
    touch: u64,
}
impl Sum {
    fn add(&mut self, records: &Records) {
        for record in records {
            self.got += 1;
            if let Some(value) = record.value() {
                self.bytes += value.len();
                if let (Some(first), Some(last)) = (value.first(), value.last()) {
                    self.touch += u64::from(*first) + u64::from(*last);
                }
            }
        }
    }
}

async fn consume(client: &Client) {
    let (topic, n, parts) = (arg("topic", "b"), argi("n", 100000) as usize, argi("parts", 4) as i32);
    let isolation =
        if arg("iso", "") == "read_committed" { IsolationLevel::ReadCommitted } else { IsolationLevel::ReadUncommitted };
    let mut consumer: Consumer = client
        .consumer()
        .isolation_level(isolation)
        .auto_offset_reset(OffsetReset::Earliest)
        .max_poll_records(argi("maxpoll", 1000) as usize)
        .build()
        .await
        .unwrap();
    let s0 = snap();
    let partitions: Vec<_> = (0..parts).map(|partition| TopicPartition::new(&*topic, partition)).collect();
    consumer.assign(partitions.clone());
    for partition in partitions {
        consumer.seek(partition, OffsetSpec::Earliest).unwrap();
    }
    let mut sum = Sum::default();
    while sum.got < n {
        sum.add(&consumer.poll().await.unwrap());
    }
    report(NAME, "consume", sum.got, sum.bytes, &s0, &format!(",\"touch\":{}", sum.touch));
}

async fn group(client: &Client, start: Instant) {
    let until = start + Duration::from_secs_f64(arg("secs", "20").parse().unwrap());
    let reset = if arg("reset", "latest") == "latest" { OffsetReset::Latest } else { OffsetReset::Earliest };
    let mut consumer = client
        .consumer()
        .group_id(arg("group", "g"))
        .group_protocol(GroupProtocol::Classic(vec![Assignor::CooperativeSticky]))
        .enable_auto_commit(false)
        .auto_offset_reset(reset)
        .topics([arg("topic", "b").as_str()])
        .build()
        .await
        .unwrap();
    let mut first = true;
    while let Ok(records) = tokio::time::timeout_at(until.into(), consumer.poll()).await {
        if records.unwrap().len() > 0 && std::mem::take(&mut first) {
            println!("{{\"client\":\"millstream\",\"mode\":\"group\",\"first_ms\":{:.1}}}", start.elapsed().as_secs_f64() * 1e3);
        }
    }
    consumer.close(Duration::from_secs(5)).await.unwrap();
}
