#!/usr/bin/env bash
# Builds every client into $BIN (default: ./bin). Needs KAFKA_LIB (folder of Kafka 4.4.0 jars); librdkafka comes from the
# confluent-kafka Python wheel and its header from the rdkafka-sys crate's sources (RDKAFKA_H: folder of rdkafka.h).
set -euo pipefail
cd "$(dirname "$0")"
BIN=${BIN:-$PWD/bin}; TARGET=${TARGET:-$PWD/target}; mkdir -p "$BIN" "$TARGET"
(cd admin && GOFLAGS=-mod=mod go build -o "$BIN/adm" .)
(cd franz-go && GOFLAGS=-mod=mod go build -o "$BIN/bench-franz" .)
mkdir -p "$BIN/java" && javac -d "$BIN/java" -cp "$KAFKA_LIB/*" java/Bench.java
printf '#!/bin/sh\nexec java -Xms512m -Xmx512m -Dorg.slf4j.simpleLogger.defaultLogLevel=error -cp "%s/java:%s/*" Bench "$@"\n' "$BIN" "$KAFKA_LIB" > "$BIN/bench-java"
chmod +x "$BIN/bench-java"
if [ ! -d "$TARGET/wheel" ]; then mkdir -p "$TARGET/wheel"; pip download -q --no-deps -d "$TARGET/wheel" confluent-kafka==2.16.1; (cd "$TARGET/wheel" && python3 -m zipfile -e ./*.whl .); fi
SO=$(ls "$TARGET"/wheel/confluent_kafka.libs/librdkafka-*.so.1)
cc -O2 -g -I"$RDKAFKA_H" librdkafka/bench.c -o "$BIN/bench-rd" "$SO" -Wl,-rpath,"$(dirname "$SO")" -lpthread -ldl
cc -O2 -shared -fPIC librdkafka/alloccount.c -o "$BIN/alloccount.so"
cc -O2 ceiling/ceiling.c -o "$BIN/ceiling"
for c in millstream krafka confluent-kafka-rust rskafka; do (cd $c && CARGO_TARGET_DIR="$TARGET/$c" cargo build --release -q); done
cp "$TARGET/millstream/release/bench-millstream" "$BIN/bench-millstream"
cp "$TARGET/krafka/release/bench-krafka" "$BIN/bench-krafka"
cp "$TARGET/confluent-kafka-rust/release/bench-confluent-kafka-rust" "$BIN/bench-confluent"
cp "$TARGET/rskafka/release/bench-rskafka" "$BIN/bench-rskafka"
