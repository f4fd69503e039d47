# `just` lists these; `just ci` is what CI runs.

set shell := ["bash", "-euo", "pipefail", "-c"]

kafka := justfile_directory() / "testkit/kafka/kafka"
cargo_flags := "--locked"

[private]
default:
    @just --list

# Everything, cheapest first
ci: format spelling lint test docs deny features no-c demo services

# rustfmt
format:
    cargo fmt --all --check

spelling:
    typos

# clippy with the workspace's lint table, warnings denied
lint:
    cargo clippy {{ cargo_flags }} --workspace --all-targets -- -D warnings

# the README's command: unit, integration and doc tests that need nothing but Rust
test:
    cargo test --workspace

docs:
    RUSTDOCFLAGS="-D warnings" cargo doc {{ cargo_flags }} --workspace --no-deps

# licences, bans (nothing that compiles C), sources
deny:
    cargo deny check bans licenses sources

# known vulnerabilities; needs the advisory database from the network
advisories:
    cargo deny check advisories

# each feature alone, and none
features:
    cargo hack check --each-feature --no-dev-deps -p millstream-protocol -p millstream-state -p millstream

# no package compiles C: the tree says so, and the build passes with a compiler that always fails
no-c:
    ! cargo tree --workspace --all-features -e normal,build --prefix none | awk '{print $1}' | sort -u | grep -E '^(cc|cmake|bindgen|pkg-config)$|-sys$' | grep -vE '^(linux-raw-sys|js-sys|web-sys|windows-sys)$'
    CC=/bin/false CXX=/bin/false cargo build {{ cargo_flags }} --release -p millstream-cli --target x86_64-unknown-linux-musl
    CC=/bin/false CXX=/bin/false RUSTFLAGS="-C target-feature=+crt-static" cargo build {{ cargo_flags }} --release -p millstream-cli --target x86_64-unknown-linux-gnu
    ! ldd target/x86_64-unknown-linux-gnu/release/millstream

# the main job on the embedded broker, by the static binary
demo:
    target/x86_64-unknown-linux-musl/release/millstream demo

# the tests that need a real Kafka, Java or Python: all of them, and none left out
services:
    #!/usr/bin/env bash
    set -euo pipefail
    dir=$(mktemp -d)
    trap '{{ kafka }} --dir "$dir/kafka" down; rm -rf "$dir"' EXIT
    {{ kafka }} jars >/dev/null
    mkdir "$dir/schemas"
    (cd "$dir/schemas" && python3 -m zipfile -e "$({{ kafka }} jars)"/kafka-clients-*.jar "$dir/jar" && cp "$dir"/jar/common/message/*.json .)
    export MILLSTREAM_KAFKA_SCHEMAS=$dir/schemas
    export MILLSTREAM_KAFKA=$({{ kafka }} --dir "$dir/kafka" up --port 0 | sed -n 's/^bootstrap=//p')
    export MILLSTREAM_KAFKA_DIR=$dir/kafka
    export MILLSTREAM_BIN={{ justfile_directory() }}/target/x86_64-unknown-linux-musl/release/millstream
    cargo nextest run {{ cargo_flags }} --workspace --profile services --run-ignored only 2>&1 | tee "$dir/log"
    there=$(git ls-files '*.rs' | xargs cat | grep -cE '^\s*#\[ignore = "needs ' || true)
    listed=$(cargo nextest list {{ cargo_flags }} --workspace --run-ignored only --message-format json 2>/dev/null | python3 -c 'import json,sys; print(sum(case["ignored"] for suite in json.load(sys.stdin)["rust-suites"].values() for case in suite["testcases"].values()))')
    passed=$(sed 's/\x1b\[[0-9;]*m//g' "$dir/log" | sed -n 's/.*Summary.* \([0-9]*\) passed.*/\1/p' | tail -n 1)
    echo "ignored tests: $listed listed, $passed passed, $there attributes in the sources"
    [[ "$listed" == "$passed" ]]

# a real Kafka to play with: `just kafka up`, `just kafka tool topics --list`, `just kafka down`
kafka *arguments:
    {{ kafka }} {{ arguments }}
