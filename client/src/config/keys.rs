//! Every key that a Kafka client, or Kafka Streams, may find in its properties.
//!
//! A role ignores what is another's, or the JVM's alone; what is nobody's is a slip of the pen.

/// Whether any role knows the key. Prefixed ones (`producer.linger.ms`) are known if what follows is.
pub(crate) fn is_known(key: &str) -> bool {
    const PREFIXES: [&str; 7] =
        ["producer.", "consumer.", "main.consumer.", "restore.consumer.", "global.consumer.", "admin.", "topic."];
    let bare = PREFIXES.iter().find_map(|prefix| key.strip_prefix(prefix));
    KEYS.binary_search(&bare.unwrap_or(key)).is_ok() || key.starts_with("topic.")
}

/// The known key with the least difference in spelling, if it is a slip of the pen: at most a third of the letters differ.
pub(crate) fn nearest(key: &str) -> Option<&'static str> {
    let nearest = KEYS.iter().min_by_key(|known| distance(known, key)).copied()?;
    (distance(nearest, key) * 3 <= key.len()).then_some(nearest)
}

/// How many letters must be inserted, removed or replaced (Levenshtein).
fn distance(left: &str, right: &str) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, from) in left.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (column, to) in right.bytes().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}

// In alphabetical order.
#[rustfmt::skip]
const KEYS: &[&str] = &[
    "acceptable.recovery.lag", "acks", "allow.auto.create.topics", "application.id", "application.server",
    "auto.commit.interval.ms", "auto.include.jmx.reporter", "auto.offset.reset", "batch.size",
    "bootstrap.servers", "buffer.memory", "buffered.records.per.partition", "cache.max.bytes.buffering",
    "check.crcs", "client.dns.lookup", "client.id", "client.rack", "commit.interval.ms",
    "compression.gzip.level", "compression.lz4.level", "compression.type", "compression.zstd.level",
    "connections.max.idle.ms", "default.api.timeout.ms", "default.deserialization.exception.handler",
    "default.key.serde", "default.production.exception.handler", "default.timestamp.extractor",
    "default.value.serde", "delivery.timeout.ms", "deserialization.exception.handler",
    "dsl.store.suppliers.class", "enable.auto.commit", "enable.idempotence", "enable.metrics.push",
    "ensure.explicit.internal.resource.naming", "exclude.internal.topics", "fetch.max.bytes",
    "fetch.max.wait.ms", "fetch.min.bytes", "group.id", "group.instance.id", "group.protocol",
    "group.remote.assignor", "heartbeat.interval.ms", "interceptor.classes", "isolation.level",
    "key.deserializer", "key.serializer", "linger.ms", "log.summary.interval.ms", "max.block.ms",
    "max.in.flight.requests.per.connection", "max.partition.fetch.bytes", "max.poll.interval.ms",
    "max.poll.records", "max.request.size", "max.task.idle.ms", "max.warmup.replicas", "metadata.max.age.ms",
    "metadata.max.idle.ms", "metadata.recovery.rebootstrap.trigger.ms", "metadata.recovery.strategy",
    "metric.reporters", "metrics.num.samples", "metrics.recording.level", "metrics.sample.window.ms",
    "num.standby.replicas", "num.stream.threads", "partition.assignment.strategy",
    "partitioner.adaptive.partitioning.enable", "partitioner.availability.timeout.ms", "partitioner.class",
    "partitioner.ignore.keys", "poll.ms", "probing.rebalance.interval.ms", "processing.exception.handler",
    "processing.guarantee", "processor.wrapper.class", "production.exception.handler",
    "rack.aware.assignment.strategy", "receive.buffer.bytes", "reconnect.backoff.max.ms",
    "reconnect.backoff.ms", "repartition.purge.interval.ms", "replication.factor", "request.timeout.ms",
    "retries", "retry.backoff.max.ms", "retry.backoff.ms", "rocksdb.config.setter",
    "sasl.client.callback.handler.class", "sasl.jaas.config", "sasl.kerberos.service.name",
    "sasl.login.callback.handler.class", "sasl.login.class", "sasl.mechanism",
    "sasl.oauthbearer.token.endpoint.url", "security.protocol", "security.providers", "send.buffer.bytes",
    "session.timeout.ms", "socket.connection.setup.timeout.max.ms", "socket.connection.setup.timeout.ms",
    "ssl.cipher.suites", "ssl.enabled.protocols", "ssl.endpoint.identification.algorithm", "ssl.key.password",
    "ssl.keystore.certificate.chain", "ssl.keystore.key", "ssl.keystore.location", "ssl.keystore.password",
    "ssl.keystore.type", "ssl.protocol", "ssl.provider", "ssl.truststore.certificates",
    "ssl.truststore.location", "ssl.truststore.password", "ssl.truststore.type", "state.cleanup.delay.ms",
    "state.dir", "statestore.cache.max.bytes", "task.timeout.ms",
    "topic.metadata.propagation.max.ms", "topology.optimization", "transaction.timeout.ms", "transactional.id", "upgrade.from", "value.deserializer", "value.serializer",
    "windowstore.changelog.additional.retention.ms",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_so_that_they_are_found() {
        assert!(KEYS.is_sorted());
        assert!(KEYS.iter().all(|key| is_known(key)));
    }

    #[test]
    fn every_option_is_a_known_key() {
        let producer = crate::producer::ProducerOptions::KEYS;
        for key in crate::client::ClientOptions::KEYS.iter().chain(producer) {
            assert!(is_known(key), "{key}");
        }
    }
}
