//! What a transaction adds.

use super::*;

fn transactional(implicit: bool) -> World {
    let mut world = World::new(|options, _| options.transactional_id = Some("tx".to_owned()));
    world.sender.begin_transaction(1, implicit);
    world
}

// T-1
#[test]
fn in_the_first_edition_a_partition_is_added_before_its_first_batch() {
    let mut world = transactional(false);
    world.append_to(0, "a", 1).unwrap();
    assert_eq!(world.poll(), []);
    assert_eq!(world.sender.poll_partitions_to_add(), [("t", 0).into()]);
    assert_eq!(world.sender.poll_partitions_to_add(), [], "asked for once");
    world.sender.handle_partitions_added(false);
    assert_eq!(world.sender.poll_partitions_to_add(), [("t", 0).into()], "and again when that failed");
    world.sender.handle_partitions_added(true);
    let calls = world.sender.poll_calls(world.now, &world.image);
    assert_eq!(calls[0].max_version, Some(11), "from Produce 12 on a batch would add its partition itself");
}

// T-2
#[test]
fn in_the_second_edition_the_batch_adds_its_partition_and_the_next_identity_starts_at_zero() {
    let mut world = transactional(true);
    world.append_to(0, "a", 1).unwrap();
    let calls = world.sender.poll_calls(world.now, &world.image);
    assert_eq!(calls[0].max_version, Some(12), "without topic ids");
    world.answer(calls[0].id, ErrorCode::NONE, 0);
    world.sender.end_transaction(Some(identity(8, 0)));
    world.sender.begin_transaction(2, true);
    world.append_to(0, "b", 2).unwrap();
    assert_eq!(world.poll().remove(0).1, Sent { epoch: 0, sequence: 0, values: vec!["b".into()] });
}

// Commit protocol, section 6: a send that races an abort must not land in the next transaction.
#[test]
fn a_record_of_an_aborted_transaction_never_joins_the_next() {
    let mut world = transactional(true);
    let before = world.append_to(0, "before", 1).unwrap();
    world.sender.abort_waiting(&Arc::new(Failure::Aborted));
    assert_eq!(of(&before), Err(Arc::new(Failure::Aborted)));
    assert!(matches!(world.append_to(0, "between", 1), Err(AppendError::Closed(_))));
    world.sender.end_transaction(Some(identity(7, 1)));
    world.sender.begin_transaction(2, true);
    assert!(matches!(world.append_to(0, "late", 1), Err(AppendError::Closed(_))));
    world.append_to(0, "next", 2).unwrap();
    assert_eq!(world.poll().remove(0).1.values, ["next"]);
}

// T-4
#[test]
fn a_failed_record_is_remembered_until_the_transaction_ends() {
    let mut world = transactional(true);
    world.append_to(0, "a", 1).unwrap();
    let (id, _) = world.poll().remove(0);
    world.answer(id, ErrorCode::INVALID_RECORD, -1);
    assert!(world.sender.transaction_failed());
    world.sender.end_transaction(Some(identity(7, 1)));
    world.sender.begin_transaction(2, true);
    assert!(!world.sender.transaction_failed());
}

// T-4. Found by simulation: the answer to AddPartitionsToTxn was none, so that the records that waited for it failed; the transaction was
// committed without them, and a task's state lost what its changelog never got.
#[test]
fn records_that_are_dropped_before_they_are_drained_fail_their_transaction() {
    let mut world = transactional(false);
    let waiting = world.append_to(0, "a", 1).unwrap();
    assert_eq!(world.poll(), [], "its partition is to be added first");
    world.sender.abort_waiting(&Arc::new(Failure::Unsendable("no answer".to_owned())));
    assert!(of(&waiting).is_err());
    assert!(world.sender.take_first_failure().is_some(), "whoever flushes is told so");
    assert!(world.sender.transaction_failed(), "it cannot be committed");
    assert!(!world.sender.transaction_has_gap(), "no number was given");
    world.sender.end_transaction(None);
    world.sender.begin_transaction(2, false);
    assert!(!world.sender.transaction_failed());
}
