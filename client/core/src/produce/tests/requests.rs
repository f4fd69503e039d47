//! What is in a request, and how many there are at once.

use super::*;

#[test]
fn five_requests_are_under_way_and_not_more() {
    let mut world = World::new(|_, _| ());
    world.warm_up();
    let flights: Vec<_> = ["1", "2", "3", "4", "5"].into_iter().map(|value| world.send(value)).collect();
    world.append("6").unwrap();
    world.append("7").unwrap();
    assert_eq!(world.poll(), []);
    world.answer(flights[0].1, ErrorCode::NONE, 1);
    let (_, next) = world.poll().remove(0);
    assert_eq!(next.values, ["6", "7"], "what waited became one batch");
}

#[test]
fn one_request_carries_all_partitions_of_a_broker() {
    let mut world = World::new(|_, _| ());
    world.append_to(0, "a", 0).unwrap();
    world.append_to(1, "b", 0).unwrap();
    let calls = world.sender.poll_calls(world.now, &world.image);
    assert_eq!(calls.iter().map(ProduceCall::len).collect::<Vec<_>>(), [2]);
}
