//! The test cluster: how long a cluster of three brokers takes to start and to end, and one request on loopback.
#![expect(missing_docs, reason = "criterion's macros make public functions")]

use criterion::{Criterion, criterion_group, criterion_main};
use millstream_testkit::TestCluster;
use std::io::{Read, Write};
use std::net::TcpStream;

/// ApiVersions 0.
const ASK: [u8; 14] = [0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 7, 0xff, 0xff];

fn start() -> TestCluster {
    TestCluster::builder().brokers(3).topic("orders", 12).try_start().expect("loopback has free ports")
}
fn clusters(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("cluster");
    group.bench_function("start-3", |bencher| bencher.iter_with_large_drop(start));
    group.bench_function("start-and-drop-3", |bencher| bencher.iter(|| drop(start())));
    group.bench_function("reset-3", |bencher| {
        let cluster = start();
        bencher.iter(|| cluster.reset().expect("the ports are its own"));
    });
    group.bench_function("request", |bencher| {
        let cluster = start();
        let servers = cluster.bootstrap_servers();
        let address = servers.split(',').next().expect("there is a first broker");
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.set_nodelay(true).expect("an option of every socket");
        let mut answer = vec![0; 64 << 10];
        bencher.iter(|| {
            stream.write_all(&ASK).expect("it takes the request");
            let count = stream.read(&mut answer).expect("it answers");
            assert!(count > 8, "an answer in one piece");
        });
    });
    group.finish();
}

criterion_group!(benches, clusters);
criterion_main!(benches);
