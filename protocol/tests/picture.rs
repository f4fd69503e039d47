//! The picture of a frame is stable: these are snapshots. What the bytes say is beside what they are.

use bytes::Bytes;
use millstream_protocol::embedded::{
    ConsumerProtocolAssignment, ConsumerProtocolSubscription, Embedded, GroupKey, GroupValue, OffsetCommitKey,
    OffsetCommitValue, StickyUserData,
};
use millstream_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use millstream_protocol::messages::{
    AlterUserScramCredentialsRequest, ApiVersionsRequest, CreateDelegationTokenRequest, CreateDelegationTokenResponse,
    DescribeDelegationTokenRequest, DescribeDelegationTokenResponse, EnvelopeRequest, EnvelopeResponse,
    ExpireDelegationTokenRequest, JoinGroupRequest, MetadataRequest, MetadataResponse, ProduceRequest,
    RenewDelegationTokenRequest, Request, SaslAuthenticateRequest, SaslAuthenticateResponse, StrBytes,
    SyncGroupRequest, SyncGroupResponse, alter_user_scram_credentials_request, describe_delegation_token_response,
    join_group_request, metadata_response,
};
use millstream_protocol::picture::Picture;
use millstream_protocol::record::{BatchBuilder, ControlKind, Stamp, end_transaction_marker};
use millstream_protocol::{ApiKey, Compression, Compressor, Headers, ProducerEpoch, ProducerId, Timestamp, frame};
use std::path::Path;

fn text(text: &'static str) -> StrBytes {
    StrBytes::from_static_str(text)
}
fn request<R: Request>(version: i16, request: &R) -> Bytes {
    frame::encode_request(version, 7, Some("me"), request).expect("it can be written").payload()
}
fn response<R: Request>(version: i16, response: &R::Response) -> Bytes {
    frame::encode_response::<R>(version, 7, response).expect("it can be written").payload()
}
/// Two records of which the second has no key, and a header.
fn batch(codec: Compression) -> Bytes {
    let mut builder = BatchBuilder::with_capacity(200);
    let mut headers = Headers::new();
    headers.push("trace", Some(Bytes::from_static(b"\x01\x02")));
    builder.append(Timestamp::from_millis(1000), Some(b"k"), Some(b"value"), &Headers::new()).expect("it fits");
    builder.append(Timestamp::from_millis(1005), None, Some(b"\xff\x00"), &headers).expect("it fits");
    let sealed = builder.seal(&mut Compressor::new(codec, None).expect("compiled in")).expect("it fits");
    sealed.into_bytes(&Stamp::idempotent(ProducerId::new(9), ProducerEpoch::new(1), 4).at(40, 2))
}

/// Compares with the snapshot of this name; `MILLSTREAM_ACCEPT=1` writes it anew.
#[track_caller]
fn shows(name: &str, picture: Picture<'_>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/pictures").join(format!("{name}.txt"));
    let shown = picture.to_string();
    if std::env::var_os("MILLSTREAM_ACCEPT").is_some() {
        std::fs::write(&path, &shown).expect("the folder is there");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(shown, expected, "{name}");
}

#[test]
fn a_request_is_shown_with_its_header_and_tagged_fields() {
    let mut sent = ApiVersionsRequest::default();
    sent.client_software_name = text("millstream");
    sent.client_software_version = text("1.0");
    let unknown = [(3, Bytes::from_static(b"new"))];
    let sent = sent.with_unknown_tagged_fields(unknown.into());
    shows("api_versions_request", Picture::of_request_frame(&request(3, &sent)));
}

#[test]
fn numbers_share_a_line_and_error_codes_have_names() {
    let partition = |index| {
        let partition = metadata_response::MetadataResponsePartition::default();
        partition.with_partition_index(index).with_error_code(5).with_replica_nodes((1..=3).map(Into::into).collect())
    };
    let topic = metadata_response::MetadataResponseTopic::default()
        .with_name(Some(millstream_protocol::messages::TopicName(text("orders"))))
        .with_partitions((0..40).map(partition).collect());
    let sent = MetadataResponse::default().with_topics(vec![topic]);
    let frame = response::<MetadataRequest>(12, &sent);
    shows("metadata_response", Picture::of_response_frame(ApiKey::METADATA, 12, &frame));
}

/// Brokers write it as version 0, whatever was asked, and clients read it so.
#[test]
fn unsupported_api_versions_are_shown_as_version_0() {
    let frame = [0, 0, 0, 9, 0, 35, 0, 0, 0, 1, 0, 18, 0, 0, 0, 2];
    let picture = Picture::of_response_frame(ApiKey::API_VERSIONS, 4, &frame);
    shows("unsupported_api_versions", picture);
    let json = r#"{"header":{"correlationId":9},"body":{"errorCode":35,"apiKeys":[{"apiKey":18,"minVersion":0,"maxVersion":2}]}}"#;
    assert_eq!((picture.json().as_deref(), picture.length()), (Ok(json), Ok(frame.len())));
}

#[test]
fn records_in_a_request_are_shown_one_by_one() {
    let partition =
        PartitionProduceData { records: batch(Compression::None).into(), ..PartitionProduceData::default() };
    let topic =
        TopicProduceData { name: "orders".into(), partition_data: vec![partition], ..TopicProduceData::default() };
    let sent = ProduceRequest { topic_data: vec![topic], ..ProduceRequest::default() };
    shows("produce_request", Picture::of_request_frame(&request(9, &sent)));
}

#[test]
fn compressed_records_are_inflated() {
    shows("compressed_records", Picture::of_records(&batch(Compression::Lz4)));
}

/// What the one refuses, the other does not inflate.
#[test]
fn a_batch_that_inflates_to_too_much_is_an_error_in_text_and_json() {
    let mut builder = BatchBuilder::with_capacity(18 << 20);
    builder.append(Timestamp::from_millis(1), None, Some(&vec![0; 17 << 20]), &Headers::new()).expect("it fits");
    let sealed = builder.seal(&mut Compressor::new(Compression::Lz4, None).expect("compiled in")).expect("it fits");
    let buffer = sealed.into_bytes(&Stamp::plain());
    let picture = Picture::of_records(&buffer);
    assert_eq!(picture.faults(), 1, "{picture}");
    assert!(picture.json().is_err());
}

#[test]
fn control_records_say_what_ended() {
    let stamp = Stamp::transactional(ProducerId::new(9), ProducerEpoch::new(1), -1).at(42, 2);
    let marker = end_transaction_marker(ControlKind::Commit, 5, Timestamp::from_millis(1), &stamp).expect("a marker");
    shows("control_records", Picture::of_records(&marker));
}

#[test]
fn records_of_a_coordinators_log_are_opened() {
    let key = GroupKey::OffsetCommit(OffsetCommitKey {
        group: text("billing"),
        topic: text("orders"),
        partition: 3,
        ..OffsetCommitKey::default()
    });
    let value = OffsetCommitValue { offset: 17, commit_timestamp: 1000, ..OffsetCommitValue::default() };
    let value = GroupValue::OffsetCommit(value).encode(3).expect("it can be written");
    let mut builder = BatchBuilder::with_capacity(200);
    let key = key.encode().expect("it can be written");
    builder.append(Timestamp::from_millis(1000), Some(&key), Some(&value), &Headers::new()).expect("it fits");
    builder.append(Timestamp::from_millis(1001), Some(&key), None, &Headers::new()).expect("it fits");
    let sealed = builder.seal(&mut Compressor::none()).expect("it fits").into_bytes(&Stamp::plain());
    shows("group_log", Picture::of_records(&sealed).in_topic("__consumer_offsets"));
}

#[test]
fn what_members_of_a_group_tell_each_other_is_opened() {
    let user_data = StickyUserData { generation: 4, ..StickyUserData::default() };
    let subscription = ConsumerProtocolSubscription {
        topics: vec![text("orders")],
        user_data: Some(user_data.encode(1).expect("it can be written")),
        ..ConsumerProtocolSubscription::default()
    };
    let protocol = join_group_request::JoinGroupRequestProtocol::default()
        .with_name(text("sticky"))
        .with_metadata(subscription.encode(1).expect("it can be written"));
    let sent = JoinGroupRequest::default().with_protocol_type(text("consumer")).with_protocols(vec![protocol]);
    shows("join_group_request", Picture::of_request_frame(&request(5, &sent)));

    let assignment = ConsumerProtocolAssignment::default().encode(0).expect("it can be written");
    let frame = response::<SyncGroupRequest>(3, &SyncGroupResponse::default().with_assignment(assignment));
    shows("sync_group_response", Picture::of_response_frame(ApiKey::SYNC_GROUP, 3, &frame));
}

#[test]
fn a_request_in_an_envelope_is_opened() {
    let sent = EnvelopeRequest::default().with_request_data(request(3, &ApiVersionsRequest::default()));
    shows("envelope_request", Picture::of_request_frame(&request(0, &sent)));
}

#[test]
fn passwords_are_not_shown_unless_all_is() {
    let sent = SaslAuthenticateRequest::default().with_auth_bytes(Bytes::from_static(b"\0me\0secret"));
    let frame = request(2, &sent);
    let (excerpt, whole) = (Picture::of_request_frame(&frame), Picture::of_request_frame(&frame).whole());
    shows("sasl_authenticate_request", excerpt);
    assert!(whole.to_string().contains("authBytes = 006d6500736563726574"), "{whole}");
}

/// Each secret is the word `geheim`, as text or in base64.
#[test]
fn secrets_are_in_no_text_nor_json_unless_all_is() {
    let secret = Bytes::from_static(b"geheim");
    let scram = alter_user_scram_credentials_request::ScramCredentialUpsertion::default()
        .with_salt(secret.clone())
        .with_salted_password(secret.clone());
    let scram = AlterUserScramCredentialsRequest::default().with_upsertions(vec![scram]);
    let token = describe_delegation_token_response::DescribedDelegationToken::default().with_hmac(secret.clone());
    let frames = [
        (None, request(2, &SaslAuthenticateRequest::default().with_auth_bytes(secret.clone()))),
        (None, request(0, &scram)),
        (None, request(0, &EnvelopeRequest::default().with_request_data(request(0, &scram)))),
        (None, request(2, &RenewDelegationTokenRequest::default().with_hmac(secret.clone()))),
        (None, request(2, &ExpireDelegationTokenRequest::default().with_hmac(secret.clone()))),
        (
            Some((ApiKey::SASL_AUTHENTICATE, 2)),
            response::<SaslAuthenticateRequest>(
                2,
                &SaslAuthenticateResponse::default().with_auth_bytes(secret.clone()),
            ),
        ),
        (
            Some((ApiKey::CREATE_DELEGATION_TOKEN, 3)),
            response::<CreateDelegationTokenRequest>(
                3,
                &CreateDelegationTokenResponse::default().with_hmac(secret.clone()),
            ),
        ),
        (
            Some((ApiKey::DESCRIBE_DELEGATION_TOKEN, 3)),
            response::<DescribeDelegationTokenRequest>(
                3,
                &DescribeDelegationTokenResponse::default().with_tokens(vec![token]),
            ),
        ),
        (
            Some((ApiKey::ENVELOPE, 0)),
            response::<EnvelopeRequest>(0, &EnvelopeResponse::default().with_response_data(Some(secret))),
        ),
    ];
    // As text, as digits with and without spaces, and as base64 at its three alignments.
    let forms = ["geheim", "67656865696d", "67 65 68", "Z2VoZWlt", "dlaGVpb", "nZWhlaW"];
    let shows_it = |shown: &str| forms.iter().any(|form| shown.contains(form));
    for (answer, frame) in &frames {
        for end in 4..=frame.len() {
            let frame = &frame[..end];
            let picture = match *answer {
                Some((api, version)) => Picture::of_response_frame(api, version, frame),
                None => Picture::of_request_frame(frame),
            };
            let json = picture.json().unwrap_or_else(|error| error.to_string());
            assert!(!shows_it(&json), "{json}");
            assert!(!shows_it(&picture.to_string()), "{picture}");
        }
        let picture = match *answer {
            Some((api, version)) => Picture::of_response_frame(api, version, frame),
            None => Picture::of_request_frame(frame),
        };
        let (json, whole) = (picture.json().expect("whole"), picture.whole());
        assert!(json.contains("that are secret)\""), "{json}");
        assert!(shows_it(&whole.json().expect("whole")) && shows_it(&whole.to_string()), "{whole}");
    }
}

#[test]
fn what_is_wrong_comes_after_what_is_right() {
    let frame = request(3, &ApiVersionsRequest::default());
    let cases: &[(&str, &[u8])] = &[
        ("cut_in_the_header", &frame[..9]),
        ("cut_in_the_body", &frame[..frame.len() - 2]),
        ("no_such_api", &[0x7f, 0, 0, 0, 0, 0, 0, 1, 0xff, 0xff, 1, 2]),
        ("no_such_version", &[0, 3, 0, 99, 0, 0, 0, 1, 0xff, 0xff, 0, 1, 2]),
        ("nothing", &[]),
    ];
    for (name, bytes) in cases {
        let picture = Picture::of_request_frame(bytes);
        assert_eq!(picture.faults(), 1, "{picture}");
        shows(name, picture);
    }
    let mut broken = batch(Compression::None).to_vec();
    broken[70] ^= 1;
    broken.extend_from_slice(&broken.clone()[..30]);
    shows("broken_records", Picture::of_records(&broken));
}

#[test]
fn a_frame_is_json_with_header_and_body() {
    let frame = request(0, &ApiVersionsRequest::default());
    assert_eq!(
        Picture::of_request_frame(&frame).json().expect("it is one"),
        r#"{"header":{"requestApiKey":18,"requestApiVersion":0,"correlationId":7,"clientId":"me"},"body":{}}"#
    );
    let buffer = batch(Compression::None);
    let json = Picture::of_records(&buffer).json().expect("it is one");
    assert!(json.starts_with(r#"{"batches":[{"baseOffset":40,"lastOffset":41,"magic":2,"#), "{json}");
    assert!(json.ends_with(
        r#""records":[{"offset":40,"timestamp":1000,"key":"aw==","value":"dmFsdWU=","headers":[]},{"offset":41,"timestamp":1005,"key":null,"value":"/wA=","headers":[{"key":"trace","value":"AQI="}]}]}],"leftOver":0}"#
    ), "{json}");
}
