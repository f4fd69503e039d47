//! When a batch is full, due, compressed, and its memory given back.

use super::*;

// P-11
#[test]
fn a_batch_lingers_its_full_time_and_a_full_one_does_not() {
    let mut world = World::new(|options, sizes| {
        options.linger = Duration::from_millis(5);
        sizes.batch_size = 200;
    });
    world.append("a").unwrap();
    assert_eq!(world.poll(), []);
    assert_eq!(world.sender.poll_deadline(), Some(world.now + Duration::from_millis(5)));
    world.after(Duration::from_millis(5));
    let (id, _) = world.poll().remove(0);
    world.answer(id, ErrorCode::NONE, 0);
    world.append(&"x".repeat(90)).unwrap();
    world.append(&"y".repeat(90)).unwrap();
    let (_, full) = world.poll().remove(0);
    assert_eq!(full.values, ["x".repeat(90)], "the second opened a batch of its own, which lingers");
}

#[test]
fn a_flush_waits_for_what_was_before_it_and_ends_the_linger() {
    let mut world = World::new(|options, _| options.linger = Duration::from_secs(60));
    world.append("a").unwrap();
    assert_eq!(world.poll(), []);
    let before = world.accumulator.flush();
    let (id, _) = world.poll().remove(0);
    world.append("after").unwrap();
    assert!(!before.iter().any(|batch| batch.is_done()));
    world.answer(id, ErrorCode::NONE, 0);
    assert!(before.iter().all(|batch| batch.is_done()));
}

#[test]
fn memory_is_refused_when_it_is_used_up_and_given_back_by_batch() {
    let mut world = World::new(|options, sizes| {
        options.linger = Duration::from_secs(60);
        sizes.buffer_memory = 1_000;
        sizes.batch_size = 500;
    });
    let value = "x".repeat(100);
    let taken = std::iter::from_fn(|| world.append(&value).ok()).take(50).count();
    assert!((4..20).contains(&taken), "{taken} records of 100 bytes in 1,000");
    assert!(matches!(world.append(&value), Err(AppendError::Full)));
    world.accumulator.begin_starving();
    let (id, _) = world.poll().remove(0);
    world.answer(id, ErrorCode::NONE, 0);
    assert!(world.sender.take_freed());
    assert!(world.append(&value).is_ok());
}

#[test]
fn a_large_batch_is_compressed_beside_the_driver_and_keeps_its_place() {
    for drops in [false, true] {
        let mut world = World::new(|_, sizes| sizes.compression = Compression::Lz4);
        let text = "again and again ".repeat(2000);
        world.append(&text).unwrap();
        assert!(world.poll().is_empty(), "the driver compressed it");
        let mut to_seal = world.sender.take_to_seal();
        assert_eq!(to_seal.len(), 1);
        world.append("later").unwrap();
        assert!(world.poll().is_empty(), "the later one went first");
        assert!(!world.sender.is_idle());
        let sealing = to_seal.remove(0);
        if drops {
            drop(sealing)
        } else {
            sealing.run()
        }
        let (id, sent) = world.poll().remove(0);
        assert_eq!(sent.values, [text]);
        world.answer(id, ErrorCode::NONE, 0);
        let values: Vec<_> = world.poll().into_iter().flat_map(|(_, sent)| sent.values).collect();
        assert_eq!(values, ["later"]);
    }
}
