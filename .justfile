# `just` lists these; `just ci` is what CI runs.

set shell := ["bash", "-euo", "pipefail", "-c"]

kafka := justfile_directory() / "testkit/kafka/kafka"
cargo_flags := "--locked"

[private]
default:
    @just --list

# Everything, cheapest first; says how long each took
ci:
    #!/usr/bin/env bash
    set -euo pipefail
    for recipe in format spelling lint test model docs deny features no-c demo simulate fuzz services; do
        SECONDS=0
        "{{ just_executable() }}" "$recipe"
        echo "== $recipe: $SECONDS s"
    done

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

# the commit protocol's model, every scenario; it has no dependencies, so that optimising it takes seconds
model:
    mkdir -p target/model
    rustc --edition 2024 -C opt-level=3 --test processor/core/tests/commit_model/main.rs -o target/model/commit_model
    target/model/commit_model --ignored --test-threads 2

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
    cargo hack check --each-feature --no-dev-deps -p millstream-protocol -p millstream-state -p millstream -p millstream-testkit

# no package compiles C: the tree says so, and the build passes with a compiler that always fails; how well glibc's is optimised
# says nothing about that, and takes minutes
no-c:
    ! cargo tree --workspace --all-features -e normal,build --prefix none | awk '{print $1}' | sort -u | grep -E '^(cc|cmake|bindgen|pkg-config)$|-sys$' | grep -vE '^(linux-raw-sys|js-sys|web-sys|windows-sys)$'
    CC=/bin/false CXX=/bin/false cargo build {{ cargo_flags }} --release -p millstream-cli -p millstream-testkit --features millstream-testkit/server --bin millstream --bin millstream-broker --target x86_64-unknown-linux-musl
    CC=/bin/false CXX=/bin/false RUSTFLAGS="-C target-feature=+crt-static" cargo build {{ cargo_flags }} -p millstream-cli --target x86_64-unknown-linux-gnu
    for binary in gnu/debug/millstream musl/release/millstream musl/release/millstream-broker; do file=$(ldd target/x86_64-unknown-linux-$binary 2>&1 || true); grep -qE 'statically linked|not a dynamic executable' <<<"$file"; done

# the main job on the embedded broker, by the static binary, which also reaches a broker by name and by address
demo:
    #!/usr/bin/env bash
    set -euo pipefail
    millstream=target/x86_64-unknown-linux-musl/release/millstream
    "$millstream" demo
    reach() (
        coproc broker { exec "$@" --with-parent --topic reached; }
        read -r line <&"${broker[0]}"
        for host in 127.0.0.1 localhost; do
            "$millstream" topics list --bootstrap "$host:${line##*:}" | grep -qx reached
            echo "reached by $host"
        done
    )
    reach "$millstream" broker
    reach "$millstream-broker"

# seeds of the simulator, each ten minutes of its own time under faults; optimised, by what `no-c` has built already
simulate count="500" first="1":
    cargo build {{ cargo_flags }} --release -p millstream-testkit --example simulate --target x86_64-unknown-linux-musl
    target/x86_64-unknown-linux-musl/release/examples/simulate {{ count }} {{ first }}

# every decoder against chance, two targets at a time: `just fuzz 300 records picture` runs two of them for 300 s each
fuzz seconds="30" *targets:
    fuzz/run {{ seconds }} {{ targets }}

# the tests that need a real Kafka, Java or Python: all of them, and none left out
services:
    #!/usr/bin/env bash
    set -euo pipefail
    dir=$(mktemp -d)
    trap '{{ kafka }} --dir "$dir/kafka" down; rm -rf "$dir"' EXIT
    MILLSTREAM_KAFKA_JARS=$({{ kafka }} jars)
    export MILLSTREAM_KAFKA_JARS
    mkdir "$dir/schemas"
    for module in clients group-coordinator share-coordinator transaction-coordinator; do
        python3 -m zipfile -e "$MILLSTREAM_KAFKA_JARS/kafka-$module"-[0-9]*.jar "$dir/jar/$module"
        cp "$dir/jar/$module"/common/message/*.json "$dir/schemas"
    done
    export MILLSTREAM_KAFKA_SCHEMAS=$dir/schemas
    MILLSTREAM_KAFKA=$({{ kafka }} --dir "$dir/kafka" up --port 0 | sed -n 's/^bootstrap=//p')
    export MILLSTREAM_KAFKA
    # The model has a recipe of its own, since it needs to be optimised.
    flags=({{ cargo_flags }} --workspace --run-ignored only -E 'not binary(commit_model)')
    cargo nextest list "${flags[@]}" --message-format json 2>/dev/null >"$dir/listed"
    cargo nextest run "${flags[@]}" --profile services 2>&1 | tee "$dir/log"
    python3 - "$dir/listed" "$dir/log" <<'END'
    import json, re, sys
    suites = json.load(open(sys.argv[1]))["rust-suites"].values()
    ignored = [case for suite in suites if suite["binary-name"] != "commit_model" for case in suite["testcases"].values() if case["ignored"]]
    log = re.sub(r"\x1b\[[0-9;]*m", "", open(sys.argv[2]).read())
    passed = int(re.findall(r"(\d+) passed", log)[-1])
    print(f"{len(ignored)} tests are ignored, {passed} of them were run now and passed")
    sys.exit(len(ignored) != passed)
    END

# a real Kafka to play with: `just kafka up`, `just kafka tool topics --list`, `just kafka down`
kafka *arguments:
    {{ kafka }} {{ arguments }}
