//! Whole frames: the exceptions of their headers, the texts of their errors, and what is shared in them.

use bytes::Bytes;
use millstream_protocol::messages::*;
use millstream_protocol::{api, frame};

fn hex(text: &str) -> Bytes {
    let digits: String = text.split_whitespace().collect();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hex")).collect()
}

/// librdkafka's mock and Kafka itself answer a version that they do not know in the layout of version 0.
#[test]
fn unsupported_api_versions_are_read_as_version_0() {
    let payload = hex("00000009 0023 00000001 0012 0000 0002");
    let (id, response) = frame::decode_response::<ApiVersionsRequest>(4, payload).expect("version 0");
    let offered = api::BrokerVersions::from_response(&response);
    assert_eq!((id, response.error_code), (9, 35));
    assert_eq!(offered.range(ApiKey::API_VERSIONS), Some(api::VersionRange::new(0, 2)));
    assert_eq!(offered.negotiate(ApiKey::API_VERSIONS), Ok(2));
}

/// Written as the version that was asked, it could not be read again: chance found its number of APIs where another version has it.
#[test]
fn unsupported_api_versions_are_written_as_version_0() {
    let payload = hex("00000000 0023 00000000 0000 0002 7fff");
    let wrong = frame::decode_any_response(ApiKey::API_VERSIONS, 5, hex("00000000 0023 00000001 0012 0000 0002"));
    let (id, response) = wrong.expect("version 0");
    let written = frame::encode_any_response(5, id, &response).expect("it is written");
    assert_eq!(written.payload(), hex("00000000 0023 00000001 0012 0000 0002"));
    let (id, empty) = frame::decode_response::<ApiVersionsRequest>(5, payload).expect("bytes after it are ignored");
    let written = frame::encode_response::<ApiVersionsRequest>(5, id, &empty).expect("it is written");
    assert_eq!(written.payload(), hex("00000000 0023 00000000"));
}

#[test]
fn the_response_to_api_versions_has_header_0_at_every_version() {
    for version in 0..=4 {
        let frame = frame::encode_response::<ApiVersionsRequest>(version, 9, &ApiVersionsResponse::default());
        // Correlation id, error code.
        assert_eq!(frame.expect("written").payload()[..6], hex("00000009 0000"), "version {version}");
    }
    let flexible = frame::encode_response::<HeartbeatRequest>(4, 9, &HeartbeatResponse::default());
    assert_eq!(flexible.expect("written").payload(), hex("00000009 00 00000000 0000 00"));
}

/// A broker answers any version of ApiVersions, and must read its header for that.
#[test]
fn headers_of_unknown_requests_are_read() {
    let newer = hex("0012 0063 00000007 0002 6d65 00 02 61");
    let header = frame::decode_request_header(&newer).expect("a header");
    assert_eq!((header.api(), header.version(), header.client_id()), (ApiKey::API_VERSIONS, 99, Some("me")));
    assert_eq!(header.body_of(&newer), hex("02 61"));
    let unknown = frame::decode_request_header(&hex("0fa0 0000 00000007 ffff")).expect("a header");
    assert_eq!((unknown.api(), unknown.client_id(), unknown.len()), (ApiKey::new(4000), None, 10));
}

#[test]
fn records_are_shared_with_the_frame() {
    let records = Bytes::from(vec![7; 100_000]);
    let partition = produce_request::PartitionProduceData { records: records.clone().into(), ..Default::default() };
    let topic = produce_request::TopicProduceData { partition_data: vec![partition; 2], ..Default::default() };
    let request = ProduceRequest { topic_data: vec![topic], ..Default::default() };
    let frame = frame::encode_request(9, 1, None, &request).expect("written");
    let shared = frame.segments().iter().filter(|segment| segment.as_ptr() == records.as_ptr());
    assert_eq!(shared.count(), 2);
    assert_eq!(frame.len(), frame.segments().iter().map(Bytes::len).sum());
    let size = usize::try_from(i32::from_be_bytes(*frame.to_bytes().first_chunk().expect("a size"))).expect("positive");
    assert_eq!(size, frame.payload().len());
}

/// What a broker of 0.11.0 offers, by its own table.
const OLDEST: [(ApiKey, i16, i16); 34] = [
    (ApiKey::PRODUCE, 0, 3),
    (ApiKey::FETCH, 0, 5),
    (ApiKey::LIST_OFFSETS, 0, 2),
    (ApiKey::METADATA, 0, 4),
    (ApiKey::LEADER_AND_ISR, 0, 0),
    (ApiKey::STOP_REPLICA, 0, 0),
    (ApiKey::UPDATE_METADATA, 0, 3),
    (ApiKey::CONTROLLED_SHUTDOWN, 1, 1),
    (ApiKey::OFFSET_COMMIT, 0, 3),
    (ApiKey::OFFSET_FETCH, 0, 3),
    (ApiKey::FIND_COORDINATOR, 0, 1),
    (ApiKey::JOIN_GROUP, 0, 2),
    (ApiKey::HEARTBEAT, 0, 1),
    (ApiKey::LEAVE_GROUP, 0, 1),
    (ApiKey::SYNC_GROUP, 0, 1),
    (ApiKey::DESCRIBE_GROUPS, 0, 1),
    (ApiKey::LIST_GROUPS, 0, 1),
    (ApiKey::SASL_HANDSHAKE, 0, 0),
    (ApiKey::API_VERSIONS, 0, 1),
    (ApiKey::CREATE_TOPICS, 0, 2),
    (ApiKey::DELETE_TOPICS, 0, 1),
    (ApiKey::DELETE_RECORDS, 0, 0),
    (ApiKey::INIT_PRODUCER_ID, 0, 0),
    (ApiKey::OFFSET_FOR_LEADER_EPOCH, 0, 0),
    (ApiKey::ADD_PARTITIONS_TO_TXN, 0, 0),
    (ApiKey::ADD_OFFSETS_TO_TXN, 0, 0),
    (ApiKey::END_TXN, 0, 0),
    (ApiKey::WRITE_TXN_MARKERS, 0, 0),
    (ApiKey::TXN_OFFSET_COMMIT, 0, 0),
    (ApiKey::DESCRIBE_ACLS, 0, 0),
    (ApiKey::CREATE_ACLS, 0, 0),
    (ApiKey::DELETE_ACLS, 0, 0),
    (ApiKey::DESCRIBE_CONFIGS, 0, 0),
    (ApiKey::ALTER_CONFIGS, 0, 0),
];

/// Kafka 4.4's schemas hold what such a broker speaks of most calls; the others say what to do.
#[test]
fn a_broker_of_0_11_is_spoken_to_in_all_calls_that_the_schemas_hold() {
    let mut dropped = Vec::new();
    for (key, min, max) in OLDEST {
        match api::negotiate(key, Some(api::VersionRange::new(min, max))) {
            Ok(version) => assert_eq!(version, max, "{key}"),
            Err(error) => dropped.push((key.name(), error.to_string())),
        }
    }
    let names: Vec<_> = dropped.iter().map(|(name, _)| *name).collect();
    let expected = [
        "LeaderAndIsr",
        "StopReplica",
        "UpdateMetadata",
        "ControlledShutdown",
        "OffsetForLeaderEpoch",
        "WriteTxnMarkers",
        "DescribeAcls",
        "CreateAcls",
        "DeleteAcls",
        "DescribeConfigs",
    ];
    assert_eq!(names, expected);
    for (name, text) in dropped {
        let advice = if text.contains("ZooKeeper") { "no client needs it" } else { "upgrade the broker to Kafka 2.1" };
        assert!(text.contains(advice), "{name}: {text}");
    }
}

#[test]
fn a_version_under_work_is_written_and_read_but_not_agreed_on() {
    let request = InitProducerIdRequest::default().with_keep_prepared_txn(true);
    let body = frame::encode_request_body(6, &request).expect("version 6 has it");
    assert_eq!(frame::decode_request::<InitProducerIdRequest>(6, body), Ok(request));
    let broker = Some(api::VersionRange::new(0, 6));
    assert_eq!(api::negotiate(ApiKey::INIT_PRODUCER_ID, broker), Ok(5));
    assert_eq!(api::negotiate_unstable(ApiKey::INIT_PRODUCER_ID, broker, api::VersionRange::new(0, 6)), Ok(6));
    let under_work: Vec<_> = api::all().filter(|(key, stable)| api::supported(*key) != Some(*stable)).collect();
    assert_eq!(under_work, [(ApiKey::INIT_PRODUCER_ID, api::VersionRange::new(0, 5))]);
}

/// A million elements and ten thousand tagged fields are defaults, which can be raised.
#[test]
fn limits_can_be_raised_above_kafkas() {
    let mut limits = frame::Limits::default();
    limits.array_elements = 1_500_000;
    limits.tagged_fields = 30_000;
    limits.memory_base_bytes = 64 << 20;
    let raised = frame::Decoder::new(limits);

    let forgotten =
        fetch_request::ForgottenTopic { partitions: vec![7; 1_000_001], ..fetch_request::ForgottenTopic::default() };
    let fetch = FetchRequest { forgotten_topics_data: vec![forgotten], ..FetchRequest::default() };
    let body = frame::encode_request_body(12, &fetch).expect("written");
    assert_eq!(raised.request::<FetchRequest>(12, body.clone()), Ok(fetch));
    let refused = frame::decode_request::<FetchRequest>(12, body).expect_err("a million and one");
    assert_eq!(refused.field(), Some("forgottenTopicsData[0].partitions"));

    let unknown: std::collections::BTreeMap<_, _> =
        (100..20_100).map(|tag| (tag, Bytes::from_static(b"new"))).collect();
    let own = ApiVersionsRequest::default().with_unknown_tagged_fields(unknown.clone());
    let body = frame::encode_request_body(3, &own).expect("written");
    assert_eq!(raised.request::<ApiVersionsRequest>(3, body.clone()), Ok(own));
    assert!(frame::decode_request::<ApiVersionsRequest>(3, body).is_err());
    let foreign = HeartbeatRequest::default().with_unknown_tagged_fields(unknown);
    let body = frame::encode_request_body(4, &foreign).expect("written");
    assert_eq!(raised.request::<HeartbeatRequest>(4, body), Ok(foreign));
}

/// Not only by the buffer that cuts frames: a body may come from elsewhere.
#[test]
fn a_body_over_the_frames_limit_is_not_read() {
    let mut limits = frame::Limits::default();
    limits.frame_bytes = 9;
    let decoder = frame::Decoder::new(limits);
    let body = hex("0001 67 00000007 0001 6d");
    let refused = decoder.request::<HeartbeatRequest>(0, body.clone()).expect_err("ten bytes");
    let text = "cannot read Heartbeat request, version 0: 10 bytes; the limit of a frame is 9";
    assert_eq!(refused.to_string(), text);
    assert_eq!(decoder.any_request(ApiKey::HEARTBEAT, 0, body.clone()).expect_err("ten bytes").to_string(), text);
    assert!(decoder.response_body::<MetadataRequest>(0, Bytes::from_static(&[0; 10])).is_err());
    limits.frame_bytes = 10;
    assert!(frame::Decoder::new(limits).request::<HeartbeatRequest>(0, body).is_ok());
}

/// Not all that Kafka 4.4 lacks was dropped by KIP-896, and no Kafka had versions below 0.
#[test]
fn versions_that_are_gone_are_told_by_the_kafka_that_dropped_them() {
    let read = |api, version| {
        let refused = frame::decode_any_request(api, version, Bytes::new()).expect_err("it is gone").to_string();
        refused.split_once(": ").expect("which, then why").1.to_owned()
    };
    let early = |versions| {
        format!(
            "Kafka 4.1 dropped it (early access of KIP-932), and this crate has what Kafka 4.4 has, versions {versions}; \
             ask for version 1 at least, which Kafka 4.1 and later take"
        )
    };
    assert_eq!(read(ApiKey::SHARE_FETCH, 0), early("1–2"));
    assert_eq!(read(ApiKey::SHARE_ACKNOWLEDGE, 0), early("1–2"));
    assert_eq!(read(ApiKey::SHARE_GROUP_HEARTBEAT, 0), early("1"));
    assert_eq!(read(ApiKey::SHARE_GROUP_DESCRIBE, 0), early("1"));
    assert_eq!(
        read(ApiKey::ALTER_PARTITION, 1),
        "Kafka 4.0 dropped it (only brokers ask it of controllers), and this crate has what Kafka 4.4 has, versions \
         2–3; ask for version 2 at least, which Kafka 3.3 and later take"
    );
    assert_eq!(read(ApiKey::FETCH, -1), "no version is below 0; this crate has versions 4–18");
    assert_eq!(read(ApiKey::METADATA, -1), "no version is below 0; this crate has versions 0–13");
    assert_eq!(
        api::negotiate(ApiKey::SHARE_FETCH, Some(api::VersionRange::new(0, 0))).expect_err("too old").to_string(),
        "the broker offers ShareFetch 0, and this call needs version 1–2; Kafka 4.1 dropped older ones (early access \
         of KIP-932), and this crate has what Kafka 4.4 has; upgrade the broker to Kafka 4.1 or later"
    );
}

/// Passwords, tokens, and settings of which only the broker knows whether they are passwords.
#[test]
fn errors_show_no_bytes_of_messages_that_hold_secrets() {
    let secret = Bytes::from_static(b"geheim");
    let text = || Some(StrBytes::from_static_str("geheim"));
    let scram =
        alter_user_scram_credentials_request::ScramCredentialUpsertion::default().with_salted_password(secret.clone());
    let setting = incremental_alter_configs_request::AlterableConfig::default().with_value(text());
    let resource = incremental_alter_configs_request::AlterConfigsResource::default().with_configs(vec![setting]);
    let old_setting = alter_configs_request::AlterableConfig::default().with_value(text());
    let old_resource = alter_configs_request::AlterConfigsResource::default().with_configs(vec![old_setting]);
    let topic_setting = create_topics_request::CreatableTopicConfig::default().with_value(text());
    let topic = create_topics_request::CreatableTopic::default().with_configs(vec![topic_setting]);
    let requests: Vec<(i16, RequestKind)> = vec![
        (2, SaslAuthenticateRequest::default().with_auth_bytes(secret.clone()).into()),
        (0, AlterUserScramCredentialsRequest::default().with_upsertions(vec![scram]).into()),
        (2, RenewDelegationTokenRequest::default().with_hmac(secret.clone()).into()),
        (2, ExpireDelegationTokenRequest::default().with_hmac(secret.clone()).into()),
        (1, IncrementalAlterConfigsRequest::default().with_resources(vec![resource]).into()),
        (2, AlterConfigsRequest::default().with_resources(vec![old_resource]).into()),
        (7, CreateTopicsRequest::default().with_topics(vec![topic]).into()),
        (0, EnvelopeRequest::default().with_request_data(secret).into()),
    ];
    for (version, request) in requests {
        let payload = frame::encode_any_request(version, 1, None, &request).expect("written").payload();
        for end in 4..payload.len() {
            let refused = frame::decode_request_frame(&payload.slice(..end)).expect_err("it is cut").to_string();
            assert!(!refused.contains("the bytes there"), "{refused}");
        }
    }
}

#[test]
fn errors_say_which_message_and_why() {
    let decode = |version, hex_text| {
        frame::decode_response::<MetadataRequest>(version, hex(hex_text)).expect_err("no response").to_string()
    };
    let texts = [
        decode(1, "00000001 7fffffff"),
        decode(1, "00000001 00000001 00000007 0002 fffe 00002384 ffff 00000000 00000000"),
        decode(14, "00000001 00"),
        decode(9, "0000"),
        frame::encode_request(11, 1, None, &OffsetFetchRequest::default()).expect_err("not spoken").to_string(),
        frame::encode_request(1, 1, Some(&"x".repeat(40_000)), &MetadataRequest::default())
            .expect_err("long")
            .to_string(),
        api::negotiate(ApiKey::FETCH, Some(api::VersionRange::new(0, 3))).expect_err("too old").to_string(),
        api::negotiate(ApiKey::FETCH, Some(api::VersionRange::new(30, 31))).expect_err("too new").to_string(),
        api::negotiate(ApiKey::FETCH, None).expect_err("absent").to_string(),
        api::negotiate(ApiKey::new(4000), None).expect_err("unknown").to_string(),
        api::negotiate(ApiKey::LEADER_AND_ISR, None).expect_err("dropped").to_string(),
        frame::decode_any_request(ApiKey::CREATE_ACLS, 0, Bytes::new()).expect_err("dropped").to_string(),
        frame::decode_any_request(ApiKey::STOP_REPLICA, 0, Bytes::new()).expect_err("dropped").to_string(),
        frame::decode_any_request(ApiKey::new(4000), 0, Bytes::new()).expect_err("unknown").to_string(),
    ];
    let expected = [
        "cannot read Metadata response, version 1: field brokers at byte 0: 2147483647 elements, and room for 0 at most in the bytes left; the bytes there: > 7f ff ff ff",
        "cannot read Metadata response, version 1: field brokers[0].host at byte 8: text that is not UTF-8; the bytes there: … 00 00 00 07 > 00 02 ff fe 00 00 23 84 …",
        "cannot read Metadata response, version 14: this crate has versions 0–13; a newer one needs a newer millstream",
        "cannot read the header of a Metadata response, version 9: byte 0: 4 bytes are needed here and 2 are left; the bytes there: > 00 00",
        "cannot write OffsetFetch request, version 11: this crate has versions 1–10; a newer one needs a newer millstream",
        "cannot write Metadata request, version 1: field clientId: it has more than 32767 bytes",
        "the broker offers Fetch 0–3, and this call needs version 4–18; Kafka 4.0 dropped older ones (KIP-896), and this crate has what Kafka 4.4 has; upgrade the broker to Kafka 2.1 or later",
        "the broker offers Fetch 30–31, and this call needs version 4–18; upgrade millstream",
        "the broker does not offer Fetch, of which this call needs version 4–18; it needs a newer broker, or one on which the feature is enabled",
        "API key 4000 is not known to this client; it needs a newer millstream",
        "LeaderAndIsr went with ZooKeeper in Kafka 4.0, and no client needs it; this crate has what Kafka 4.4 has",
        "cannot read CreateAcls request, version 0: Kafka 4.0 dropped it (KIP-896), and this crate has what Kafka 4.4 has, versions 1–3; ask for version 1 at least, which Kafka 2.1 and later take",
        "cannot read StopReplica request, version 0: it went with ZooKeeper in Kafka 4.0, and no client needs it; this crate has what Kafka 4.4 has",
        "cannot read unknown API request, version 0: API key 4000 is not known to this crate; it needs a newer millstream",
    ];
    assert_eq!(texts, expected);
}

/// A compact text was written however long it was, and a broker closed the connection without a word.
#[test]
fn a_text_that_nobody_would_read_is_not_written() {
    let text = |bytes: usize| StrBytes::from_string("x".repeat(bytes));
    let ask = |bytes: usize| {
        let request = HeartbeatRequest::default().with_group_id(GroupId(text(bytes)));
        frame::encode_request(4, 1, Some("client"), &request)
    };
    let payload = ask(32_767).expect("Kafka reads it").payload();
    frame::decode_request_frame(&payload).expect("so does this");
    let error = ask(32_768).expect_err("Kafka does not");
    assert_eq!(error.reason(), "a text of 32768 bytes; Kafka's limit is 32767");
    assert_eq!(error.field(), Some("groupId"));
    let told = FindCoordinatorResponse::default().with_error_message(Some(text(32_768)));
    let error = frame::encode_response::<FindCoordinatorRequest>(3, 1, &told).expect_err("nor its clients");
    assert_eq!(error.field(), Some("errorMessage"));
    frame::encode_response_body::<FindCoordinatorRequest>(3, &told).expect_err("nor its body alone");
}
