#!/bin/sh
# Kafka's own tools against a cluster: prints what they print, ids and addresses made the same. Usage: java_tools.sh BOOTSTRAP LAUNCHER
# Run on two clusters, the outputs are to be equal.
bootstrap=$1
launcher=$2
tool() {
    echo "--- $*"
    "$launcher" tool "$@" --bootstrap-server "$bootstrap" 2>&1
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
session | grep -v '^	at ' | sed -E \
    -e 's/127\.0\.0\.1:[0-9]+/HOST/g' \
    -e 's/TopicId: [A-Za-z0-9_-]{22}/TopicId: ID/g' \
    -e 's/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/ID/g' \
    -e 's/\[?20[0-9]{2}-[0-9-]+[ T][0-9:,.]+\]?/TIME/g' \
    -e 's/  +/  /g'
