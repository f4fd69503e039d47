//! Batches that brokers find too large.

use super::*;

// P-6
#[test]
fn a_batch_that_is_too_large_is_split_under_the_same_numbers() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    let records: Vec<_> = ["a", "b", "c", "d"].into_iter().map(|value| world.append(value).unwrap()).collect();
    let (id, _) = world.poll().remove(0);
    world.answer(id, ErrorCode::MESSAGE_TOO_LARGE, -1);
    for (sequence, offset, values) in [(1, 10, ["a", "b"]), (3, 12, ["c", "d"])] {
        let (id, half) = world.poll().remove(0);
        assert_eq!((half.sequence, half.values), (sequence, values.map(str::to_owned).to_vec()));
        world.answer(id, ErrorCode::NONE, offset);
    }
    let offsets: Vec<_> = records.iter().map(|record| of(record).unwrap().base_offset.unwrap().get()).collect();
    assert_eq!(offsets, [10, 11, 12, 13]);
}

#[test]
fn a_single_record_that_is_too_large_fails() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    let (record, id, _) = world.send("a");
    world.answer(id, ErrorCode::MESSAGE_TOO_LARGE, -1);
    let failure = of(&record).unwrap_err();
    assert!(
        matches!(&*failure, Failure::Refused { code: ErrorCode::MESSAGE_TOO_LARGE, in_doubt: false, .. }),
        "{failure}"
    );
}
