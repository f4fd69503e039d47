//! What waits for a feature, and which.

use super::case::Case;

/// Areas of which nothing is built.
const AREAS: &[(&str, &str)] = &[
    ("ktable", "tables"),
    ("cogroup", "cogrouping"),
    ("tumbling", "windows"),
    ("hopping", "windows"),
    ("emit-final", "windows"),
    ("sliding", "windows"),
    ("session", "windows"),
    ("unlimited", "windows"),
    ("windowed", "windows"),
    ("header-stores", "stores that keep headers"),
    ("stream-stream-join", "joins"),
    ("table-table-join", "joins"),
    ("stream-table-join", "joins"),
    ("stream-global-join", "joins"),
    ("foreign-key-join", "joins"),
    ("suppress", "suppression"),
    ("versioned-store", "versioned stores"),
];
const CASES: &[(&str, &str)] = &[
    ("stateless-split-branch-default", "split"),
    ("stateless-split-no-default-drops-and-function-branches", "split"),
    ("stateless-totable-and-back", "tables"),
    ("stateless-ktable-tostream-with-mapper", "tables"),
    ("aggregate-ktable-groupby-reduce-adder-subtractor", "tables"),
    ("aggregate-ktable-groupby-count", "tables"),
    ("aggregate-ktable-chain-filter-map-group-reduce", "tables"),
    ("caching-dedup-within-one-commit", "the record cache"),
    ("caching-cached-tombstone-of-absent-key", "the record cache"),
    ("caching-cached-session-reduce", "the record cache"),
    ("caching-cached-table-join", "the record cache"),
    ("processor-api-global-store-lookup", "global stores"),
    ("processor-api-read-only-state-store", "read-only stores"),
    ("processor-api-dedup-by-window-store", "window stores"),
    ("processor-api-unconnected-store-is-refused", "nothing: without being connected there is no store to call"),
    (
        "processor-api-headers-shared-when-same-record-is-forwarded",
        "nothing: headers are values, so a change in place is not seen by siblings",
    ),
    ("error-exception-in-joiner-and-filter-continue", "joins"),
    ("error-global-store-bad-bytes-continue", "global stores"),
    ("build-error-store-on-unknown-processor", "nothing: a store is given to a processor, not a processor to a store"),
    ("build-error-node-its-own-parent", "nothing: a node has no handle before it is added"),
    ("build-error-missing-serdes", "nothing: it does not compile"),
    ("build-error-versioned-table-suppressed", "suppression"),
    ("build-error-window-parameters", "windows"),
    ("naming-repartitions-merged-all", "optimization"),
    ("naming-table-source-topic-reused", "tables"),
    ("naming-processor-wrapper-sees-every-processor", "wrappers of processors"),
    ("naming-describe-automatic-names", "tables"),
    ("naming-describe-all-named", "tables"),
    ("naming-describe-windowed-suppressed-cogroup", "windows"),
    ("naming-describe-processor-api", "global stores and patterns of topics"),
    ("store-lru-map-evicts", "LRU stores"),
    ("store-session-store-reads", "session stores"),
    ("store-window-store-reads", "window stores"),
    ("store-window-store-duplicates-and-expiry", "window stores"),
    ("time-stream-time-is-per-operator", "windows"),
    ("random-table-group-aggregate", "tables"),
    ("random-tumbling-count", "windows"),
    ("random-hopping-aggregate", "windows"),
    ("random-sliding-aggregate", "windows"),
    ("random-session-aggregate", "windows"),
    ("random-stream-join-inner", "joins"),
    ("random-stream-join-left", "joins"),
    ("random-stream-join-outer", "joins"),
    ("random-table-join", "joins"),
    ("random-foreign-key-join", "joins"),
    ("random-stream-versioned-table-join", "joins"),
    ("random-cached-regrouped-count", "the record cache"),
    ("random-suppressed-window-count", "suppression"),
];

/// What a case waits for.
pub(crate) fn reason(case: &Case) -> Option<&'static str> {
    let area = AREAS.iter().find(|(area, _)| *area == case.area());
    area.or_else(|| CASES.iter().find(|(name, _)| *name == case.kind())).map(|(_, reason)| *reason)
}
