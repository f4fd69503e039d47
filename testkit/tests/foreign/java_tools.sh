#!/bin/sh
# Kafka's own tools against a cluster: prints what they print, ids and addresses made the same. Usage: java_tools.sh BOOTSTRAP LAUNCHER
# Run on two clusters, the outputs are to be equal.
bootstrap=$1
launcher=$2
tool() {
    echo "--- $*"
    "$launcher" tool "$@" --bootstrap-server "$bootstrap" 2>&1
}
# Takes its address before the command.
features() {
    echo "--- features $*"
    "$launcher" tool features --bootstrap-server "$bootstrap" "$@" 2>&1
}
# Groups of the consumer protocol, features, and options of what is no topic. (Share and streams groups are not there yet.)
newer() {
    tool topics --create --topic jk --partitions 1
    printf 'a\nb\n' | tool console-producer --topic jk
    tool console-consumer --topic jk --from-beginning --max-messages 2 --group jk --consumer-property group.protocol=consumer
    tool groups --describe --group jk --state
    tool groups --describe --group jk --offsets
    tool groups --describe --group jk --members
    tool all-groups --list
    tool groups --delete-offsets --group jk --topic jk
    tool groups --delete --group jk
    tool configs --alter --entity-type groups --entity-name jk --add-config consumer.session.timeout.ms=50000
    tool configs --describe --entity-type groups --entity-name jk
    tool configs --alter --entity-type brokers --entity-default --add-config log.cleaner.threads=2
    tool configs --describe --entity-type brokers --entity-default
    tool configs --alter --entity-type brokers --entity-name 1 --add-config broker.id=2
    tool configs --alter --entity-type client-metrics --entity-name jm --add-config interval.ms=1000,metrics=org.
    tool configs --describe --entity-type client-metrics --entity-name jm
    tool configs --alter --entity-type users --entity-name ju --add-config producer_byte_rate=1000
    tool configs --describe --entity-type users --entity-name ju
    features upgrade --feature group.version=9
    features downgrade --feature transaction.version=1
    features describe | grep -vE 'Feature: (share|streams)'
    tool topics --delete --topic jk
}
session() {
    tool topics --create --topic jt --partitions 3
    tool topics --create --topic jt --partitions 3
    tool topics --create --topic jc --partitions 1 --config cleanup.policy=compact --config retention.ms=5000
    tool topics --describe
    printf 'a:1\nb:2\nc:3\n' | tool console-producer --topic jt --property parse.key=true --property key.separator=:
    tool console-consumer --topic jt --from-beginning --max-messages 3 --group jg --property print.key=true
    tool groups --list
    tool groups --describe --group jg
    tool groups --describe --group jg --state
    tool groups --describe --group nothere
    tool topics --alter --topic jt --partitions 5
    tool topics --describe
    tool get-offsets --topic jt
    tool groups --reset-offsets --group jg --topic jt --to-earliest --execute
    tool groups --delete --group jg
    tool configs --alter --topic jt --add-config retention.ms=777
    tool configs --describe --topic jt
    tool topics --delete --topic jc
    tool topics --delete --topic nothere
    tool topics --list
}
{ session; newer; } | grep -v '^	at ' | sed -E \
    -e 's/Epoch: [0-9]+/Epoch: N/' \
    -e "s/--bootstrap-server [^ ']+/--bootstrap-server HOST/" \
    -e 's/127\.0\.0\.1:[0-9]+/HOST/g' \
    -e 's/TopicId: [A-Za-z0-9_-]{22}/TopicId: ID/g' \
    -e 's/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/ID/g' \
    -e 's/\[?20[0-9]{2}-[0-9-]+[ T][0-9:,.]+\]?/TIME/g' \
    -e 's/  +/  /g'
