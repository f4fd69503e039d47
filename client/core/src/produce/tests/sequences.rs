//! The numbers of batches: who gets which, and when they start anew.

use super::*;

#[test]
fn batches_are_numbered_by_records_when_they_are_drained() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    for value in ["a", "b", "c"] {
        world.append(value).unwrap();
    }
    let (_, first) = world.poll().remove(0);
    assert_eq!(first, Sent { epoch: 0, sequence: 1, values: vec!["a".into(), "b".into(), "c".into()] });
    let (_, _, second) = world.send("d");
    assert_eq!((second.sequence, second.values.len()), (4, 1));
}

#[test]
fn until_the_broker_knows_the_producer_nothing_overtakes_its_first_batch() {
    let mut world = World::new(|_, _| ());
    let (_, id, _) = world.send("a");
    world.append("b").unwrap();
    assert_eq!(world.poll(), [], "a broker without state would take `b` for the first");
    world.answer(id, ErrorCode::NONE, 0);
    assert_eq!(world.poll().remove(0).1.sequence, 1);
}

#[test]
fn a_duplicate_is_a_success_even_without_an_offset() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    let (record, id, _) = world.send("a");
    world.answer(id, ErrorCode::DUPLICATE_SEQUENCE_NUMBER, -1);
    assert_eq!(of(&record), Ok(Written::at(None)));
}

// P-3: nothing is before the batch, and still it is out of order: the broker lost what it knew.
#[test]
fn true_loss_starts_a_new_epoch_and_fails_nothing_that_was_refused() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    let (first, id, _) = world.send("a");
    let (second, next, _) = world.send("b");
    world.answer(id, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER, -1);
    assert_eq!(world.poll(), [], "what is under way comes back first");
    world.answer(next, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER, -1);
    let (id, again) = world.poll().remove(0);
    assert_eq!(again, Sent { epoch: 1, sequence: 0, values: vec!["a".into()] });
    world.answer(id, ErrorCode::NONE, 1);
    let (id, again) = world.poll().remove(0);
    assert_eq!(again, Sent { epoch: 1, sequence: 1, values: vec!["b".into()] });
    world.answer(id, ErrorCode::NONE, 2);
    assert!(of(&first).is_ok() && of(&second).is_ok());
}

// P-5: after a lost answer the batch may be in the log. Under another number it could be there twice.
#[test]
fn what_may_be_written_is_never_numbered_anew() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    let (record, id, _) = world.send("a");
    world.sender.handle_failure(world.now, id, true, "the line broke");
    world.after(Duration::from_secs(1));
    let (id, _) = world.poll().remove(0);
    world.answer(id, ErrorCode::UNKNOWN_PRODUCER_ID, -1);
    world.poll();
    let failure = of(&record).unwrap_err();
    assert!(failure.is_in_doubt(), "{failure}");
    let (_, _, next) = world.send("b");
    assert_eq!((next.epoch, next.sequence), (1, 0));
}

// P-5. Only a lost answer made a doubt: a leader that had written the batch and lost its place, or its followers, while it waited for them
// said so with an error, and the batch was numbered anew, or told to have surely not been written.
#[test]
fn what_was_refused_after_it_was_written_is_never_numbered_anew() {
    let refusals = [
        (ErrorCode::REQUEST_TIMED_OUT, -1),
        (ErrorCode::NOT_ENOUGH_REPLICAS_AFTER_APPEND, -1),
        (ErrorCode::NOT_LEADER_OR_FOLLOWER, 1),
    ];
    for (code, base_offset) in refusals {
        let mut world = World::new(|_, _| ());
        world.warm_up();
        let (record, id, _) = world.send("a");
        world.answer(id, code, base_offset);
        world.hear(2);
        world.after(Duration::from_secs(1));
        let (id, _) = world.poll().remove(0);
        world.answer(id, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER, -1);
        assert_eq!(world.poll(), [], "{code}");
        let failure = of(&record).unwrap_err();
        assert!(failure.is_in_doubt(), "{code}: {failure}");
    }
}

#[test]
fn used_up_epochs_want_another_id() {
    let mut world = World::new(|_, _| ());
    world.sender.handle_identity(Some(identity(7, i16::MAX - 1)));
    world.warm_up();
    let (_, id, _) = world.send("a");
    world.answer(id, ErrorCode::UNKNOWN_PRODUCER_ID, -1);
    assert_eq!(world.poll(), []);
    assert!(world.sender.poll_identity(), "asked for once");
    assert!(!world.sender.poll_identity());
    world.sender.handle_identity(Some(identity(8, 0)));
    assert_eq!(world.poll().remove(0).1, Sent { epoch: 0, sequence: 0, values: vec!["a".into()] });
}
