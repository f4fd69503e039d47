//! What goes again, and what waits for it.

use super::*;

#[test]
fn retried_batch_keeps_its_sequence() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    let (record, id, first) = world.send("a");
    world.answer(id, ErrorCode::NOT_LEADER_OR_FOLLOWER, -1);
    assert!(world.sender.take_wants_metadata(), "the leader may have moved (M-1)");
    world.hear(1);
    assert_eq!(world.poll(), [], "it waits a little");
    world.append("b").unwrap();
    world.after(Duration::from_millis(150));
    let (id, again) = world.poll().remove(0);
    assert_eq!(again, first, "the same records under the same number");
    world.answer(id, ErrorCode::NONE, 5);
    assert_eq!(of(&record), Ok(Written::at(Some(Offset::new(5)))));
}

// P-2: batches behind one that failed come back out of order. They must go again in order, one by one, before new records.
#[test]
fn what_follows_a_failed_batch_goes_again_in_order_before_anything_new() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    let flights: Vec<_> = ["a", "b", "c"].into_iter().map(|value| world.send(value)).collect();
    world.answer(flights[0].1, ErrorCode::NOT_ENOUGH_REPLICAS, -1);
    world.answer(flights[1].1, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER, -1);
    world.answer(flights[2].1, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER, -1);
    let new = world.append("new").unwrap();
    world.after(Duration::from_millis(150));
    for (offset, flight) in (1..).zip(&flights) {
        let mut calls = world.poll();
        assert_eq!(calls.len(), 1, "one at a time");
        let (id, again) = calls.remove(0);
        assert_eq!(again, flight.2);
        world.answer(id, ErrorCode::NONE, offset);
        assert!(of(&flight.0).is_ok());
    }
    assert!(is_open(&new));
    assert_eq!(world.poll().remove(0).1.sequence, 4);
}

// P-2. Found by simulation: a batch had overtaken the one before it. Each time one of those behind them came back out of order, the place it
// left in flight was given to a new batch, which came back out of order in its turn: without an end, while there was something new.
#[test]
fn nothing_new_follows_what_will_come_back_out_of_order() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    let flights: Vec<_> = ["a", "b", "c"].into_iter().map(|value| world.send(value)).collect();
    world.answer(flights[1].1, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER, -1);
    world.answer(flights[0].1, ErrorCode::NONE, 1);
    let (id, again) = world.poll().remove(0);
    assert_eq!(again, flights[1].2);
    world.append("new").unwrap();
    assert_eq!(world.poll(), [], "`c` was sent behind the `b` that was refused");
    world.answer(flights[2].1, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER, -1);
    world.answer(id, ErrorCode::NONE, 2);
    assert_eq!(world.poll().remove(0).1, flights[2].2);
    assert_eq!(world.poll().remove(0).1.values, ["new"], "behind the last of them");
}
