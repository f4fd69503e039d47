#!/usr/bin/env bash
# Builds the fakes and the client that measures them into $BIN (default: ./bin). RDKAFKA_H is a folder with rdkafka.h and rdkafka_mock.h
# (Debian's librdkafka-dev has both); the library itself comes from the confluent-kafka Python wheel.
set -euo pipefail
cd "$(dirname "$0")"
BIN=${BIN:-$PWD/bin}; TARGET=${TARGET:-$PWD/target}; RDKAFKA_H=${RDKAFKA_H:-/usr/include/librdkafka}; mkdir -p "$BIN" "$TARGET/wheel"
(cd kfake && GOFLAGS=-mod=mod go build -o "$BIN/kfake" .)
if ! ls "$TARGET"/wheel/confluent_kafka.libs >/dev/null 2>&1; then
  pip download -q --no-deps -d "$TARGET/wheel" confluent-kafka==2.16.1
  (cd "$TARGET/wheel" && python3 -m zipfile -e ./*.whl .)
fi
SO=$(ls "$TARGET"/wheel/confluent_kafka.libs/librdkafka-*.so.1)
LINK=("$SO" -Wl,-rpath,"$(dirname "$SO")" -lpthread -ldl)
cc -O2 -g -I"$RDKAFKA_H" mock/mock.c -o "$BIN/mock" "${LINK[@]}"
cc -O2 -g -I"$RDKAFKA_H" ../client/librdkafka/bench.c -o "$BIN/bench-rd" "${LINK[@]}"
if [ -z "${MILLSTREAM_BROKER:-}" ]; then
  (cd ../../.. && cargo build --release -q -p millstream-testkit --no-default-features --features server,tls --bin millstream-broker --target x86_64-unknown-linux-musl)
  MILLSTREAM_BROKER=../../../target/x86_64-unknown-linux-musl/release/millstream-broker
fi
cp "$MILLSTREAM_BROKER" "$BIN/millstream-broker"
