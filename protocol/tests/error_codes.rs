//! What an error code means must be what Kafka 4.4's exception of it is, and what a client does about it.

use millstream_protocol::ErrorCode;
use std::collections::BTreeSet;

/// What the program `ErrorCodes.java` beside it prints: code, name, the exception's class and its ancestors, message.
const KAFKAS: &str = include_str!("data/error_codes.tsv");

struct Row {
    code: ErrorCode,
    name: &'static str,
    classes: Vec<&'static str>,
    message: &'static str,
}

fn rows() -> impl Iterator<Item = Row> {
    KAFKAS.lines().map(|line| {
        let columns: Vec<_> = line.split('\t').collect();
        let [code, name, classes, message] = columns[..] else { panic!("no row: {line}") };
        let code = ErrorCode::new(code.parse().expect("a number"));
        Row { code, name, classes: classes.split_whitespace().collect(), message }
    })
}

fn codes_that(hold: fn(ErrorCode) -> bool) -> BTreeSet<i16> {
    (i16::MIN..=i16::MAX).filter(|code| hold(ErrorCode::new(*code))).collect()
}

/// The codes whose exception is of this class or below it.
fn codes_of(class: &str) -> BTreeSet<i16> {
    rows().filter(|row| row.classes.contains(&class)).map(|row| row.code.get()).collect()
}

#[test]
fn every_code_of_kafka_is_in_the_table() {
    for row in rows().filter(|row| row.code.is_error()) {
        assert_eq!((row.code.name(), row.code.message()), (row.name, row.message));
    }
    let known = codes_that(|code| code.name() != "UNKNOWN");
    assert_eq!(known, rows().map(|row| row.code.get()).collect());
    let text = ErrorCode::NOT_COORDINATOR.to_string();
    assert_eq!(text, "NOT_COORDINATOR (16): This is not the correct coordinator.");
}

#[test]
fn retriable_codes_are_kafkas() {
    assert_eq!(codes_that(ErrorCode::is_retriable), codes_of("RetriableException"));
}

/// The two others: a leader of a term that the caller has not heard of, and a broker that is no longer the controller.
#[test]
fn codes_that_tell_of_old_metadata_refresh_it() {
    let mut expected = codes_of("InvalidMetadataException");
    expected.extend([ErrorCode::UNKNOWN_LEADER_EPOCH.get(), ErrorCode::NOT_CONTROLLER.get()]);
    assert_eq!(codes_that(ErrorCode::refreshes_metadata), expected);
}

/// Below `RefreshRetriableException` are the codes that refresh metadata, too.
#[test]
fn codes_that_tell_of_another_coordinator_look_it_up() {
    let refreshing = codes_of("RefreshRetriableException");
    let expected: BTreeSet<_> = refreshing.difference(&codes_of("InvalidMetadataException")).copied().collect();
    assert_eq!(codes_that(ErrorCode::refreshes_coordinator), expected);
}

#[test]
fn what_refreshes_may_be_sent_again() {
    for code in rows().map(|row| row.code) {
        assert!(code.is_retriable() || !(code.refreshes_metadata() || code.refreshes_coordinator()), "{code}");
    }
}

/// All whose name says so and that no retry cures, and a producer with an old epoch.
#[test]
fn a_newer_instance_fences() {
    let named = rows().filter(|row| row.name.contains("FENCED") && !row.code.is_retriable()).map(|row| row.code.get());
    let expected = named.chain([ErrorCode::INVALID_PRODUCER_EPOCH.get()]).collect();
    assert_eq!(codes_that(ErrorCode::is_fenced), expected);
    assert_eq!(codes_that(ErrorCode::ends_membership), [22, 25, 82, 110].into());
}

#[test]
fn missing_rights_and_credentials_deny_access() {
    let expected: BTreeSet<_> = &codes_of("AuthorizationException") | &codes_of("AuthenticationException");
    assert_eq!(codes_that(ErrorCode::denies_access), expected);
}

/// As Kafka's transaction manager has it; a transaction survives no refusal of one of its topics or of its group.
#[test]
fn what_ends_a_transaction_is_not_what_ends_its_producer() {
    assert_eq!(codes_that(ErrorCode::is_abortable), [22, 25, 29, 30, 45, 49, 59, 82, 120].into());
    for code in codes_of("TransactionAbortableException").union(&codes_of("OutOfOrderSequenceException")) {
        assert!(ErrorCode::new(*code).is_abortable(), "{code}");
    }
    for code in rows().map(|row| row.code) {
        let kinds = [code.is_retriable(), code.is_abortable(), code.is_fatal()];
        assert!(kinds.into_iter().filter(|kind| *kind).count() <= 1, "{code}");
    }
}

/// KIP-1050: what a new producer or member cures is one that an abort cures, or a newer instance that took over.
#[test]
fn what_a_new_instance_cures_is_aborted_or_fenced() {
    for code in codes_of("ApplicationRecoverableException").into_iter().map(ErrorCode::new) {
        assert!(code.is_abortable() || code.is_fenced(), "{code}");
    }
}

/// KIP-1050's wrong configurations are fatal, but for those of one topic, group or record: others go on.
#[test]
fn what_only_another_configuration_cures_is_fatal() {
    let of_one_thing = [
        ErrorCode::INVALID_TOPIC_EXCEPTION,
        ErrorCode::RECORD_LIST_TOO_LARGE,
        ErrorCode::TOPIC_AUTHORIZATION_FAILED,
        ErrorCode::GROUP_AUTHORIZATION_FAILED,
        ErrorCode::INVALID_REPLICATION_FACTOR,
        ErrorCode::INVALID_CONFIG,
        ErrorCode::INVALID_RECORD,
    ];
    for code in codes_of("InvalidConfigurationException").into_iter().map(ErrorCode::new) {
        assert_eq!(code.is_fatal(), !of_one_thing.contains(&code), "{code}");
    }
    let all = [21, 23, 24, 26, 31, 33, 34, 35, 42, 43, 48, 50, 53, 58, 65, 76, 81, 90, 112, 128, 130, 131, 132];
    assert_eq!(codes_that(ErrorCode::is_fatal), all.into());
}

/// `MILLSTREAM_KAFKA_JARS` is the folder of Kafka 4.4's jars.
#[test]
#[ignore = "needs Java and Kafka's jars"]
fn the_copy_is_what_kafkas_classes_say() {
    let jars = std::env::var("MILLSTREAM_KAFKA_JARS").expect("MILLSTREAM_KAFKA_JARS names the folder of the jars");
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ErrorCodes.java");
    let output = std::process::Command::new("java").args(["-cp", &format!("{jars}/*"), program]).output();
    let output = output.expect("java starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), KAFKAS, "Kafka's jars and the copy in the project differ");
}
