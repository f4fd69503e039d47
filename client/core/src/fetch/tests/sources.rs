//! Whom to ask: leaders, replicas nearby, and what they say when they are not the right one.

use super::*;

// C-8
#[test]
fn only_the_leader_s_word_resets_a_position() {
    let mut bench = Bench::at(50);
    bench.image = image(2, 5);
    bench.fetcher.partitions.get_mut(&place(0)).expect("it").prefer(bench.now, NODE, &FetchConfig::default());
    bench.fetch();
    bench.answer(0, vec![refused(0, ErrorCode::OFFSET_OUT_OF_RANGE)]);
    assert_eq!(bench.streams(), [Stream::of_session(NodeId::new(2))]);
    assert!(bench.fetcher.poll_lookup(bench.now, Timestamp::from_millis(0), &bench.image).is_none());
}

// K-15, as producers do
#[test]
fn a_node_that_does_not_lead_is_not_asked_again_before_there_is_news() {
    let mut bench = Bench::at(0);
    bench.fetch();
    let follow_up = bench.answer(0, vec![refused(0, ErrorCode::NOT_LEADER_OR_FOLLOWER)]);
    assert!(follow_up.refresh_metadata);
    bench.now += Duration::from_secs(30);
    assert!(bench.try_fetch().is_none(), "it has said so");
    bench.image.generation += 1;
    assert!(bench.try_fetch().is_some(), "the cluster says that it leads all the same");
}

// C-8, C-20
#[test]
fn an_offset_out_of_range_is_looked_up_by_policy_and_an_error_decides_nothing() {
    let mut bench = Bench::at(500);
    bench.fetch();
    bench.answer(0, vec![refused(0, ErrorCode::OFFSET_OUT_OF_RANGE)]);
    for (code, offset, next) in [(ErrorCode::NOT_LEADER_OR_FOLLOWER, -1, None), (ErrorCode::NONE, 100, Some(100))] {
        bench.now += Duration::from_secs(2);
        let lookup = bench.fetcher.poll_lookup(bench.now, Timestamp::from_millis(0), &bench.image).expect("a lookup");
        assert_eq!(lookup.request().topics[0].partitions[0].timestamp, -1);
        let mut answer = ListOffsetsPartitionResponse::default();
        (answer.error_code, answer.offset) = (code.get(), offset);
        let mut topic = ListOffsetsTopicResponse::default();
        (topic.name, topic.partitions) = (text("t").into(), vec![answer]);
        let mut response = ListOffsetsResponse::default();
        response.topics = vec![topic];
        bench.fetcher.handle_lookup(bench.now, &lookup, Some(&response));
        assert_eq!(bench.try_fetch().map(|request| request.topics[0].partitions[0].fetch_offset), next);
    }
}

// C-9: a replica that was down when the cluster was looked at last is named by the leader as soon as it is up. The leader was asked again and again
// for minutes, hundreds of times a second, until something else renewed the picture.
#[test]
fn a_replica_that_the_picture_lacks_renews_it() {
    let mut bench = Bench::at(0);
    let mut prefer = || {
        assert_eq!(bench.fetcher.streams_to_fetch(bench.now, &bench.image).len(), 1);
        bench.fetch();
        let told = PartitionData { preferred_read_replica: 9, ..data(0, Vec::new()) };
        bench.answer(0, vec![told]).refresh_metadata
    };
    assert_eq!([prefer(), prefer()], [false, true]);
}

// C-9
#[test]
fn a_replica_that_is_silent_or_unknown_gives_way_to_the_leader() {
    let mut bench = Bench::at(0);
    let prefer = |bench: &mut Bench, node| {
        bench.fetch();
        bench.answer(0, vec![PartitionData { preferred_read_replica: node, ..data(0, Vec::new()) }]);
    };
    let replica = NodeId::new(2);
    prefer(&mut bench, replica.get());
    assert!(bench.try_fetch().is_none(), "the leader is not asked");
    assert!(bench.fetcher.poll_fetch(bench.now, Stream::of_session(replica), &bench.image).is_some());
    bench.fetcher.handle_fetch(bench.now, Stream::of_session(replica), Outcome::Failed);
    prefer(&mut bench, 9);
    bench.now += Duration::from_secs(1);
    assert_eq!(bench.fetch().topics[0].partitions[0].fetch_offset, 0, "nobody knows node 9");
}

// C-9: a replica that lags says that the offset is out of range; the leader, which knows better, sends the reader there again, and at once. Java
// goes to and fro as fast as the network lets it; librdkafka waits when it is sent there again within a minute.
#[test]
fn a_replica_that_refuses_is_tried_again_only_after_a_while() {
    let mut bench = Bench::at(50);
    bench.fetcher.streams.entry(STREAM).or_default().version = Some(VERSION);
    let replica = Stream::of_session(NodeId::new(2));
    let told = || vec![PartitionData { preferred_read_replica: 2, ..data(0, Vec::new()) }];
    let mut waits = |answer: PartitionData| {
        bench.fetch();
        bench.answer(0, told());
        let began = bench.now;
        while bench.streams().is_empty() {
            bench.now += Duration::from_millis(100);
        }
        bench.fetch_in(replica);
        bench.answer_in(replica, 0, vec![answer]);
        bench.fetcher.partitions.get_mut(&place(0)).expect("it").preferred = None;
        bench.now - began
    };
    let mut refuse = || waits(refused(0, ErrorCode::OFFSET_OUT_OF_RANGE)).as_millis();
    assert_eq!([refuse(), refuse(), refuse(), refuse()], [0, 100, 200, 400]);
    assert_eq!(waits(data(0, Vec::new())).as_millis(), 800, "it is good now");
    assert_eq!(waits(data(0, Vec::new())).as_millis(), 0);
}

#[test]
fn a_partition_without_a_leader_needs_another_picture_of_the_cluster() {
    let mut bench = Bench::at(0);
    assert!(!bench.fetcher.needs_metadata(&bench.image));
    bench.fetcher.add_at(("other", 0).into(), Position::at(Offset::new(0)));
    assert!(bench.fetcher.needs_metadata(&bench.image));
}
