//! Records that are not written: too late, or their producer ends.

use super::*;

// P-8
#[test]
fn what_was_never_sent_expires_without_a_doubt_and_leaves_no_gap() {
    let mut world = World::new(|options, _| options.delivery_timeout = Duration::from_secs(10));
    world.warm_up();
    world.image = Image::default();
    let record = world.append("a").unwrap();
    assert_eq!(world.poll(), [], "no leader");
    assert!(world.sender.take_wants_metadata());
    let deadline = world.sender.poll_deadline().expect("it expires");
    assert_eq!(deadline, world.now + Duration::from_secs(10));
    world.now = deadline;
    world.poll();
    assert_eq!(of(&record), Err(Arc::new(Failure::Expired { in_doubt: false, last: None })));
    world.image = image(1);
    let (_, _, next) = world.send("b");
    assert_eq!((next.epoch, next.sequence), (0, 1));
}

#[test]
fn what_was_sent_expires_in_doubt_and_the_next_epoch_begins() {
    let mut world = World::new(|options, _| options.delivery_timeout = Duration::from_secs(10));
    world.warm_up();
    let (record, id, _) = world.send("a");
    world.after(Duration::from_secs(11));
    world.sender.handle_failure(world.now, id, true, "the line broke");
    world.poll();
    let failure = of(&record).unwrap_err();
    assert!(matches!(&*failure, Failure::Expired { in_doubt: true, last: Some(_) }), "{failure}");
    world.after(Duration::from_millis(150));
    let (_, _, next) = world.send("b");
    assert_eq!((next.epoch, next.sequence), (1, 0));
}

#[test]
fn every_record_is_resolved_once_when_the_producer_ends() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    let (flying, id, _) = world.send("a");
    let waiting = world.append("b").unwrap();
    world.sender.fail_all(&Arc::new(Failure::Closed));
    let failures = [of(&flying).unwrap_err(), of(&waiting).unwrap_err()];
    assert_eq!(failures.each_ref().map(|failure| failure.cause()), [&Failure::Closed, &Failure::Closed]);
    // It was said to be surely not written, whatever was under way.
    assert_eq!(failures.each_ref().map(|failure| failure.is_in_doubt()), [true, false]);
    world.answer(id, ErrorCode::NONE, 1);
    assert_eq!(of(&flying), Err(Arc::clone(&failures[0])), "a late answer changes nothing");
    assert!(matches!(world.append("c"), Err(AppendError::Closed(_))));
    assert_eq!(world.accumulator.bytes_used(), 0);
}

// Found by simulation: no producer id could be had, so that all records failed; those that had not been drained were not told of, a flush
// succeeded, and a commit lane committed input whose outputs were never written.
#[test]
fn what_fails_before_it_is_drained_is_a_flush_s_failure_too() {
    let mut world = World::new(|options, _| options.linger = Duration::from_secs(60));
    let appended = world.append("a").unwrap();
    world.sender.fail_all(&Arc::new(Failure::Unsendable("no id".to_owned())));
    assert!(of(&appended).is_err(), "it has failed");
    let failure = world.sender.take_first_failure();
    assert!(failure.is_some(), "and whoever flushes is told so");
}
