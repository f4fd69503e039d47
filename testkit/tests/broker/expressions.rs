//! Members of consumer groups that ask for topics by expressions (KIP-848's `SubscribedTopicRegex`). What they may not describe is in `acls`.

use crate::client::{Connection, text};
use crate::consumer_groups::{Member, code, describe};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::ListGroupsRequest;
use millstream_testkit::TestCluster;
use std::time::Duration;

#[tokio::test]
async fn an_expression_matches_whole_names() {
    let cluster = TestCluster::builder().topic("ab", 2).topic("abc", 3).topic("xab", 4).start().await;
    let mut one = Member::of(&cluster, "one");
    one.join_matching("ab.?");
    one.beat();
    assert_eq!(one.count(), 5);
    assert_eq!(describe(&cluster).members[0].subscribed_topic_regex.as_deref(), Some("ab.?"));
}

/// Kafka resolves the expressions of a group aside, all at once, and for ten seconds not again.
#[tokio::test]
async fn expressions_are_not_resolved_twice_in_ten_seconds() {
    let cluster = TestCluster::builder().topic("ab", 2).topic("b", 3).start().await;
    let [mut one, mut other] = ["one", "other"].map(|id| Member::of(&cluster, id));
    one.join_matching("a.*");
    one.beat();
    other.join_matching("b");
    cluster.create_topic("abc", 4);
    for member in [&mut one, &mut other] {
        member.beat();
    }
    assert_eq!((one.count(), other.count()), (2, 0), "nothing is resolved yet");
    cluster.advance_brokers(Duration::from_secs(11));
    other.beat();
    for member in [&mut one, &mut other] {
        member.beat();
    }
    assert_eq!((one.count(), other.count()), (6, 3));
}

/// Found beside a real Kafka: it counts the expressions, and does not see that the one which was resolved is given up and the other never was. Then
/// nothing is left that is young, so that the next heartbeat is enough.
#[tokio::test]
async fn an_expression_that_is_given_up_stands_for_one_that_is_not_resolved() {
    let cluster = TestCluster::builder().topic("ab", 2).topic("b", 3).start().await;
    let [mut one, mut other] = ["one", "other"].map(|id| Member::of(&cluster, id));
    one.join_matching("a.*");
    one.beat();
    other.join_matching("b");
    cluster.advance_brokers(Duration::from_secs(11));
    let request = one.quiet().with_subscribed_topic_regex(Some(text("")));
    one.send(&request);
    let group = describe(&cluster);
    assert_eq!(group.group_epoch, group.assignment_epoch, "nothing new was found");
    other.beat();
    assert_eq!(describe(&cluster).group_epoch, group.group_epoch + 1);
    other.beat();
    assert_eq!(other.count(), 3);
}

#[tokio::test]
async fn an_expression_that_nobody_has_any_more_is_forgotten_with_what_it_matched() {
    let cluster = TestCluster::builder().topic("ab", 2).topic("b", 3).start().await;
    let mut one = Member::of(&cluster, "one");
    one.join_matching("a.*");
    one.beat();
    let epoch = one.epoch;
    let request = one.quiet().with_subscribed_topic_regex(Some(text("b")));
    one.send(&request);
    assert_eq!((one.count(), one.epoch), (0, epoch), "what it is not subscribed to any more goes at once");
    one.confirm();
    one.beat();
    assert_eq!((one.count(), one.epoch), (3, epoch + 1), "there was nothing left that is young");
}

/// Kafka looks at how members are subscribed only when an epoch begins, and an expression that is yet to be resolved begins none.
#[tokio::test]
async fn who_joins_with_an_unresolved_expression_is_taken_to_want_what_the_others_do() {
    let builder = TestCluster::builder().topic("ab", 2).topic("b", 4).config("group.consumer.assignors", "range");
    let cluster = builder.start().await;
    let [mut one, mut other] = ["one", "other"].map(|id| Member::of(&cluster, id));
    one.join_matching("ab");
    one.beat();
    // An epoch without a target.
    let request = one.quiet().with_subscribed_topic_regex(Some(text("b")));
    one.send(&request);
    one.confirm();
    other.join_matching("nothing.*");
    let members = describe(&cluster).members;
    let targets = members.iter().map(|member| member.target_assignment.topic_partitions.len());
    assert_eq!((targets.collect::<Vec<_>>(), other.count()), (vec![1, 1], 0));
}

/// Kafka looks at how members are subscribed when one goes, and only then forgets what its expression matched: where two expressions match one
/// topic, who is left is taken to want what nobody else does, until a member changes.
#[tokio::test]
async fn an_expression_of_who_went_counts_until_a_member_changes() {
    let builder = TestCluster::builder().topic("ab", 2).topic("b", 4).config("group.consumer.assignors", "range");
    let cluster = builder.start().await;
    let [mut one, mut gone, mut other] = ["one", "gone", "other"].map(|id| Member::of(&cluster, id));
    one.join_matching("ab|b");
    one.beat();
    gone.join_matching("b");
    cluster.advance_brokers(Duration::from_secs(11));
    gone.beat();
    assert_eq!(gone.leave(-1), ErrorCode::NONE);
    other.join_matching("nothing.*");
    let members = describe(&cluster).members;
    let targets = members.iter().map(|member| member.target_assignment.topic_partitions.len());
    assert_eq!((targets.collect::<Vec<_>>(), other.count()), (vec![2, 0], 0));
}

/// A group was founded before its first member was looked at, and was left there, empty, when that was refused.
#[tokio::test]
async fn a_join_that_is_refused_founds_no_group() {
    let cluster = TestCluster::start().await;
    assert_eq!(code(&Member::of(&cluster, "one").join_matching("(")), ErrorCode::INVALID_REGULAR_EXPRESSION);
    let listed = Connection::to(&cluster, 0).call(5, &ListGroupsRequest::default());
    assert_eq!((describe(&cluster).error_code, listed.groups.len()), (ErrorCode::GROUP_ID_NOT_FOUND.get(), 0));
}

/// One heartbeat, of an expression of 24 characters, held the cluster for minutes.
#[tokio::test]
async fn an_expression_that_takes_too_long_is_refused() {
    let cluster = TestCluster::builder().topic(&"a".repeat(249), 1).start().await;
    let answer = Member::of(&cluster, "one").join_matching("((a{0,100}){0,100}){0,9}");
    assert_eq!(code(&answer), ErrorCode::INVALID_REGULAR_EXPRESSION);
    assert!(answer.error_message.is_some_and(|message| message.contains("more than 131072 bytes")));
    let mut one = Member::of(&cluster, "one");
    one.join_matching(r"[A-a\W]{1,249}|\w{100}-.*é");
    one.beat();
    assert_eq!(one.count(), 1);
}
