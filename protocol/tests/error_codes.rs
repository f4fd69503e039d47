//! What an error code means must be what Kafka 4.4's exception of it is, and what a client does about it.

use millstream_protocol::ErrorCode;

/// Every code that Kafka 4.4 has.
const ALL: std::ops::RangeInclusive<i16> = -1..=136;

fn codes_that(hold: fn(ErrorCode) -> bool) -> Vec<i16> {
    (i16::MIN..=i16::MAX).filter(|code| hold(ErrorCode::new(*code))).collect()
}

#[test]
fn every_code_of_kafka_has_a_name() {
    let nameless = ALL.filter(|code| ErrorCode::new(*code).name() == "UNKNOWN");
    assert_eq!(nameless.collect::<Vec<_>>(), []);
    assert_eq!(ErrorCode::new(137).name(), "UNKNOWN");
    let text = ErrorCode::NOT_COORDINATOR.to_string();
    assert_eq!(text, "NOT_COORDINATOR (16): This is not the correct coordinator.");
}

/// `RetriableException` and below it.
#[test]
fn retriable_codes_are_kafkas() {
    let expected = [
        2, 3, 5, 6, 7, 9, 13, 14, 15, 16, 19, 20, 41, 51, 56, 70, 71, 72, 74, 75, 78, 80, 83, 84, 88, 89, 100, 103,
        106, 122, 123, 133,
    ];
    assert_eq!(codes_that(ErrorCode::is_retriable), expected);
}

/// `InvalidMetadataException`, with `UNKNOWN_LEADER_EPOCH` (75) and `NOT_CONTROLLER` (41).
#[test]
fn codes_that_tell_of_old_metadata_refresh_it() {
    let expected = [3, 5, 6, 9, 13, 41, 56, 72, 74, 75, 80, 83, 84, 100, 103];
    assert_eq!(codes_that(ErrorCode::refreshes_metadata), expected);
}

/// `RefreshRetriableException`.
#[test]
fn codes_that_tell_of_another_coordinator_look_it_up() {
    assert_eq!(codes_that(ErrorCode::refreshes_coordinator), [15, 16]);
}

#[test]
fn what_refreshes_may_be_sent_again() {
    for code in ALL.map(ErrorCode::new) {
        assert!(code.is_retriable() || !(code.refreshes_metadata() || code.refreshes_coordinator()), "{code}");
    }
}

#[test]
fn a_newer_instance_fences() {
    assert_eq!(codes_that(ErrorCode::is_fenced), [47, 82, 90, 110]);
    assert_eq!(codes_that(ErrorCode::ends_membership), [22, 25, 82, 110]);
}

/// `AuthorizationException` and `AuthenticationException`.
#[test]
fn missing_rights_and_credentials_deny_access() {
    assert_eq!(codes_that(ErrorCode::denies_access), [29, 30, 31, 33, 34, 53, 58, 65]);
}

#[test]
fn what_ends_a_transaction_is_not_what_ends_its_producer() {
    assert_eq!(codes_that(ErrorCode::is_abortable), [22, 25, 29, 30, 45, 49, 59, 82, 120]);
    assert_eq!(codes_that(ErrorCode::is_fatal), [31, 33, 34, 35, 43, 48, 50, 53, 58, 90]);
    for code in ALL.map(ErrorCode::new) {
        let kinds = [code.is_retriable(), code.is_abortable(), code.is_fatal()];
        assert!(kinds.into_iter().filter(|kind| *kind).count() <= 1, "{code}");
    }
}
