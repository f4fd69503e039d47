//! Administration.

use crate::cluster::{Cluster, PATIENCE, eventually, soon, unique};
use millstream::client::admin::{ConfigResource, GroupState, NewTopic};
use millstream::client::{Consumer, OffsetReset, OffsetSpec, Producer, ProducerRecord};
use millstream::protocol::ErrorCode;
use millstream::{TopicName, TopicPartition};

pub(crate) async fn topics_are_created_described_and_deleted(cluster: &Cluster) {
    let admin = cluster.admin().await;
    let name = unique("topic");
    let created =
        admin.topics().create([NewTopic::new(name.as_str()).partitions(3).replication_factor(1)]).await.unwrap();
    created.all().unwrap();
    let listed = eventually("the topic is listed", async || {
        let listed = admin.topics().list().await.unwrap();
        listed.iter().any(|each| *each == name.as_str()).then_some(listed)
    })
    .await;
    assert!(!listed.iter().any(|each| each.as_str().starts_with("__")), "the cluster's own are left out");
    let described = admin.topics().describe([name.as_str()]).await.unwrap().all().unwrap();
    let topic = &described[name.as_str()];
    let indexes: Vec<_> = topic.partitions.iter().map(|each| each.partition.get()).collect();
    assert_eq!(indexes, [0, 1, 2]);
    assert!(topic.partitions.iter().all(|each| each.replicas.len() == 1));

    admin.topics().delete([name.as_str()]).await.unwrap().all().unwrap();
    let error =
        eventually("the topic is gone", async || admin.topics().describe([name.as_str()]).await.unwrap().all().err())
            .await;
    assert_eq!(error.code(), Some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION), "{error}");
    let error = admin.topics().delete([name.as_str()]).await.unwrap().all().unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION), "{error}");
}

pub(crate) async fn a_topic_that_exists_is_not_created_again(cluster: &Cluster) {
    let (there, new) = (cluster.topic(1).await, unique("topic"));
    let admin = cluster.admin().await;
    let wanted = [there.as_str(), new.as_str(), "no/such name"].map(|name| NewTopic::new(name).partitions(1));
    let answers = admin.topics().create(wanted).await.unwrap();
    let code = |name: &str| {
        answers.of(&TopicName::from(name)).expect("each is answered for").as_ref().err().and_then(|error| error.code())
    };
    assert_eq!(code(&there), Some(ErrorCode::TOPIC_ALREADY_EXISTS));
    assert_eq!(code(&new), None);
    assert_eq!(code("no/such name"), Some(ErrorCode::INVALID_TOPIC_EXCEPTION));
}

pub(crate) async fn partitions_are_added(cluster: &Cluster) {
    let topic = cluster.topic(1).await;
    let admin = cluster.admin().await;
    admin.topics().create_partitions([(topic.as_str(), 3)]).await.unwrap().all().unwrap();
    eventually("there are three partitions", async || {
        let described = admin.topics().describe([topic.as_str()]).await.unwrap().all().unwrap();
        (described[topic.as_str()].partitions.len() == 3).then_some(())
    })
    .await;
    let error = admin.topics().create_partitions([(topic.as_str(), 2)]).await.unwrap().all().unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::INVALID_PARTITIONS), "{error}");
}

pub(crate) async fn options_are_described(cluster: &Cluster) {
    let admin = cluster.admin().await;
    let name = unique("topic");
    let topic = NewTopic::new(name.as_str()).partitions(1).config("cleanup.policy", "compact");
    admin.topics().create([topic]).await.unwrap().all().unwrap();
    let resource = ConfigResource::Topic(name.as_str().into());
    let entries = eventually("the options are told", async || {
        admin.configs().describe([resource.clone()]).await.unwrap().all().ok()
    })
    .await;
    let entry = |key: &str| entries[&resource].iter().find(|each| each.key == key).expect("it is told");
    assert_eq!(
        (entry("cleanup.policy").value.as_deref(), entry("cleanup.policy").is_default),
        (Some("compact"), false)
    );
    assert_eq!(
        (entry("delete.retention.ms").value.as_deref(), entry("delete.retention.ms").is_default),
        (Some("86400000"), true)
    );
}

async fn read_one(cluster: &Cluster, group: &str, topic: &str) -> Consumer {
    let producer = Producer::connect(cluster.bootstrap()).await.unwrap();
    producer
        .enqueue_all(["a", "b", "c"].map(|value| ProducerRecord::to(topic).value(value)))
        .await
        .unwrap()
        .await
        .unwrap();
    let builder = Consumer::builder(cluster.bootstrap()).group_id(group).topics([topic]);
    let builder = builder.auto_offset_reset(OffsetReset::Earliest).enable_auto_commit(false).max_poll_records(1);
    let mut consumer = builder.build().await.unwrap();
    assert_eq!(soon(consumer.poll()).await.unwrap().len(), 1);
    consumer.commit().await.unwrap();
    consumer
}

pub(crate) async fn groups_are_listed_described_and_deleted(cluster: &Cluster) {
    let (topic, group) = (cluster.topic(1).await, unique("group"));
    let admin = cluster.admin().await;
    let consumer = read_one(cluster, &group, &topic).await;
    let listed = admin.groups().list().await.unwrap();
    let ours = listed.iter().find(|each| each.group_id == group).expect("it is listed");
    assert_eq!(ours.state, GroupState::Stable);
    let described = admin.groups().describe([&group]).await.unwrap().all().unwrap();
    let members = &described[&group].members;
    assert_eq!(members.len(), 1);
    assert_eq!(members[0].assignment, [TopicPartition::new(topic.as_str(), 0)]);
    let error = admin.groups().delete([&group]).await.unwrap().all().unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::NON_EMPTY_GROUP), "{error}");

    consumer.close(PATIENCE).await.unwrap();
    eventually("the group can be deleted", async || admin.groups().delete([&group]).await.unwrap().all().ok()).await;
    let error = admin.groups().describe([&group]).await.unwrap().all().unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::GROUP_ID_NOT_FOUND), "{error}");
}

pub(crate) async fn what_a_group_has_committed_and_its_lag_are_told(cluster: &Cluster) {
    let (topic, group) = (cluster.topic(1).await, unique("group"));
    let admin = cluster.admin().await;
    let consumer = read_one(cluster, &group, &topic).await;
    let partition = TopicPartition::new(topic.as_str(), 0);
    let offsets = admin.groups().offsets(&group).await.unwrap();
    assert_eq!(offsets.of(&partition).map(|next| next.offset.get()), Some(1));
    let lag = admin.groups().lag(&group).await.unwrap().all().unwrap();
    assert_eq!(lag[&partition], 2);
    let ends = admin.topics().offsets([(partition.clone(), OffsetSpec::Latest)]).await.unwrap().all().unwrap();
    assert_eq!(ends[&partition].map(|end| end.get()), Some(3));
    assert!(admin.groups().offsets(&unique("nobody")).await.unwrap().is_empty());
    consumer.close(PATIENCE).await.unwrap();
}
