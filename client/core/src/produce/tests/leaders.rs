//! Where a partition's batches go, and when they go elsewhere.

use super::*;

// K-15. Found by simulation: while nobody answered for the cluster's picture, the old leader was asked again and again.
#[test]
fn a_node_that_does_not_lead_gets_nothing_again_before_there_is_news() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    let flights = [world.send("a"), world.send("b")];
    for (_, id, _) in &flights {
        world.answer(*id, ErrorCode::NOT_LEADER_OR_FOLLOWER, -1);
    }
    assert!(world.sender.take_wants_metadata());
    world.after(Duration::from_secs(30));
    assert_eq!(world.poll(), [], "it has said so");
    world.hear(1);
    let (id, again) = world.poll().remove(0);
    assert_eq!(again, flights[0].2, "it is the leader all the same, as the cluster says");
    world.answer(id, ErrorCode::NOT_LEADER_OR_FOLLOWER, -1);
    world.after(Duration::from_secs(30));
    assert_eq!(world.poll(), []);
    world.hear(2);
    assert_eq!(world.poll().remove(0).1, again, "another one leads");
}

// P-7
#[test]
fn a_new_leader_gets_nothing_before_the_old_one_has_answered() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    let (_, id, _) = world.send("a");
    world.image = image(2);
    world.append("b").unwrap();
    assert_eq!(world.poll(), []);
    world.answer(id, ErrorCode::NONE, 1);
    let calls = world.sender.poll_calls(world.now, &world.image);
    assert_eq!(calls.iter().map(|call| call.node.get()).collect::<Vec<_>>(), [2]);
}
