#!/bin/sh
# Kafka's own tools against a cluster: prints what they print, ids and addresses made the same. Usage: java_tools.sh BOOTSTRAP LAUNCHER
# Run on two clusters, the outputs are to be equal.
session() {
    cat <<'END'
topics --create --topic jt --partitions 3
topics --create --topic jt --partitions 3
topics --create --topic jc --partitions 1 --config cleanup.policy=compact --config retention.ms=5000
topics --describe
input a:1\nb:2\nc:3\n
console-producer --topic jt --property parse.key=true --property key.separator=:
console-consumer --topic jt --from-beginning --max-messages 3 --group jg --property print.key=true
groups --list
groups --describe --group jg
groups --describe --group jg --state
groups --describe --group nothere
topics --alter --topic jt --partitions 5
topics --describe
get-offsets --topic jt
groups --reset-offsets --group jg --topic jt --to-earliest --execute
groups --delete --group jg
configs --alter --topic jt --add-config retention.ms=777
configs --describe --topic jt
topics --delete --topic jc
topics --delete --topic nothere
topics --list
END
}
# Groups of the consumer protocol, features, and options of what is no topic. (Share and streams groups are not there yet.)
newer() {
    cat <<'END'
topics --create --topic jk --partitions 1
input a\nb\n
console-producer --topic jk
console-consumer --topic jk --from-beginning --max-messages 2 --group jk --consumer-property group.protocol=consumer
groups --describe --group jk --state
groups --describe --group jk --offsets
groups --describe --group jk --members
all-groups --list
groups --delete-offsets --group jk --topic jk
groups --delete --group jk
configs --alter --entity-type groups --entity-name jk --add-config consumer.session.timeout.ms=50000
configs --describe --entity-type groups --entity-name jk
configs --alter --entity-type brokers --entity-default --add-config log.cleaner.threads=2
configs --describe --entity-type brokers --entity-default
configs --alter --entity-type brokers --entity-name 1 --add-config broker.id=2
configs --alter --entity-type client-metrics --entity-name jm --add-config interval.ms=1000,metrics=org.
configs --describe --entity-type client-metrics --entity-name jm
configs --alter --entity-type users --entity-name ju --add-config producer_byte_rate=1000
configs --describe --entity-type users --entity-name ju
features upgrade --feature group.version=9
features downgrade --feature transaction.version=1
features describe
topics --delete --topic jk
END
}
{ session; newer; } | "$2" tools "$1" 2>&1 | grep -v '^	at ' | grep -vE 'Feature: (share|streams)' | sed -E \
    -e 's/Epoch: [0-9]+/Epoch: N/' \
    -e "s/--bootstrap-server [^ ']+/--bootstrap-server HOST/" \
    -e 's/127\.0\.0\.1:[0-9]+/HOST/g' \
    -e 's/TopicId: [A-Za-z0-9_-]{22}/TopicId: ID/g' \
    -e 's/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/ID/g' \
    -e 's/\[?20[0-9]{2}-[0-9-]+[ T][0-9:,.]+\]?/TIME/g' \
    -e 's/  +/  /g'
