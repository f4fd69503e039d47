//! `millstream decode`: what it prints, where it reads from, and its exit codes.

use millstream::protocol::messages::{ApiVersionsRequest, HeartbeatRequest, HeartbeatResponse};
use millstream::protocol::record::{BatchBuilder, Stamp};
use millstream::protocol::{Compressor, Headers, Timestamp, frame};
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn decode(arguments: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_millstream"));
    command.arg("decode").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    // It need not read all of it.
    let _closed = child.stdin.take().expect("it is piped").write_all(input);
    child.wait_with_output().expect("it ends")
}
fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("it prints UTF-8")
}
fn printed(arguments: &[&str], input: &[u8]) -> String {
    let output = decode(arguments, input);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout).to_owned()
}
/// Standard output and standard error of a run that fails.
fn refused(arguments: &[&str], input: &[u8], code: i32) -> (String, String) {
    let output = decode(arguments, input);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    (text(&output.stdout).to_owned(), text(&output.stderr).to_owned())
}
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
fn heartbeat() -> Vec<u8> {
    let mut request = HeartbeatRequest::default();
    request.generation_id = 7;
    frame::encode_request(0, 1, Some("me"), &request).expect("it can be written").to_bytes().to_vec()
}
fn batch() -> Vec<u8> {
    let mut builder = BatchBuilder::with_capacity(100);
    builder.append(Timestamp::from_millis(5), Some(b"k"), Some(b"v"), &Headers::new()).expect("it fits");
    builder.seal(&mut Compressor::none()).expect("it fits").into_bytes(&Stamp::plain()).to_vec()
}

const HEARTBEAT: &str = "\
Heartbeat request with its header, version 0, 20 bytes
     0  00 0c                    header.requestApiKey = 12 (Heartbeat)
     2  00 00                    header.requestApiVersion = 0
     4  00 00 00 01              header.correlationId = 1
     8  00 02 6d 65              header.clientId = \"me\"
    12  00 00                    groupId = \"\"
    14  00 00 00 07              generationId = 7
    18  00 00                    memberId = \"\"
    20                           end
";

#[test]
fn digits_come_from_arguments_or_standard_input_with_or_without_a_size() {
    let (sized, plain) = (hex(&heartbeat()), hex(&heartbeat()[4..]));
    assert_eq!(printed(&[&plain], b""), HEARTBEAT);
    assert_eq!(printed(&[&sized], b""), HEARTBEAT);
    assert_eq!(printed(&["--request"], format!("{}\n{}\n", &plain[..8], &plain[8..]).as_bytes()), HEARTBEAT);
    let apart = plain.as_bytes().chunks(2).map(|byte| text(byte).to_owned()).collect::<Vec<_>>();
    assert_eq!(printed(&apart.iter().map(String::as_str).collect::<Vec<_>>(), b""), HEARTBEAT);
}

#[test]
fn a_file_has_frames_one_after_another() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let path = file.path().to_str().expect("UTF-8");
    std::fs::write(path, [heartbeat(), heartbeat()].concat()).expect("written");
    let expected = format!("frame 1 at byte 4\n{HEARTBEAT}\nframe 2 at byte 28\n{HEARTBEAT}");
    assert_eq!(printed(&["--file", path], b""), expected);
    assert_eq!(printed(&["--file", "-"], &heartbeat()), HEARTBEAT);

    std::fs::write(path, [heartbeat(), heartbeat()[..9].to_vec()].concat()).expect("written");
    let (shown, error) = refused(&["--file", path], b"", 1);
    assert_eq!(shown, HEARTBEAT);
    assert_eq!(
        error,
        "millstream: after 1 whole frame(s) the file ends with a size of 20, and 5 bytes after it; it is cut short, or \
         no file of frames\n"
    );
}

#[test]
fn a_response_is_read_when_its_request_is_named() {
    let mut response = HeartbeatResponse::default();
    response.error_code = 25;
    let frame = frame::encode_response::<HeartbeatRequest>(1, 7, &response).expect("it can be written").to_bytes();
    let expected = "\
Heartbeat response with its header, version 1, 10 bytes
     0  00 00 00 07              header.correlationId = 7
     4  00 00 00 00              throttleTimeMs = 0
     8  00 19                    errorCode = 25 (UNKNOWN_MEMBER_ID)
    10                           end
";
    for api in ["Heartbeat", "heartbeat", "HEARTBEAT", "12"] {
        assert_eq!(printed(&[&hex(&frame), "--response", api, "1"], b""), expected, "{api}");
    }
}

/// Six bytes follow a correlation id of 6: it is no size.
#[test]
fn a_correlation_id_that_could_be_a_size_is_none() {
    let response = "00000006 00000000 0019";
    let shown = printed(&[response, "--response", "Heartbeat", "1"], b"");
    assert!(shown.starts_with("Heartbeat response with its header, version 1, 10 bytes\n"), "{shown}");
    assert!(shown.contains("header.correlationId = 6\n"), "{shown}");
    let sized = format!("0000000a {response}");
    assert_eq!(printed(&[&sized, "--response", "Heartbeat", "1"], b""), shown);
    let json = printed(&[response, "--json", "--response", "Heartbeat", "1"], b"");
    assert!(json.starts_with(r#"{"header":{"correlationId":6}"#), "{json}");
}

#[test]
fn records_are_read_from_digits_and_from_a_segment() {
    let shown = printed(&["--records", &hex(&batch())], b"");
    assert!(
        shown.starts_with("record batches, 70 bytes\n     0  00 00 00 00 00 00 00 00  batch[0].baseOffset = 0\n"),
        "{shown}"
    );
    assert!(shown.contains("batch[0].record[0].value = \"v\"\n"), "{shown}");
    assert_eq!(printed(&["--records", "--file", "-"], &batch()), shown);
    let json = printed(&["--records", "--file", "-", "--json"], &batch());
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(json["batches"][0]["records"][0]["value"], "dg==");
}

#[test]
fn a_coordinators_records_are_opened() {
    let mut builder = BatchBuilder::with_capacity(100);
    let key = b"\0\x02\0\x07billing";
    builder.append(Timestamp::from_millis(5), Some(key), None, &Headers::new()).expect("it fits");
    let sealed = builder.seal(&mut Compressor::none()).expect("it fits").into_bytes(&Stamp::plain());
    let shown = printed(&["--records", "--topic", "__consumer_offsets", "--file", "-"], &sealed);
    assert!(shown.contains("batch[0].record[0].key.group = \"billing\""), "{shown}");
}

#[test]
fn a_schema_is_read_by_its_name() {
    let shown = printed(&["--schema", "EndTxnMarker", "0", "00000005"], b"");
    assert_eq!(
        shown,
        "EndTxnMarker, version 0, 4 bytes\n     0  00 00 00 05              coordinatorEpoch = 5\n     4                           end\n"
    );
    let (_, error) = refused(&["--schema", "Nothing", "0", "00"], b"", 1);
    assert!(error.starts_with("millstream: Kafka has no schema `Nothing`; "), "{error}");
}

#[test]
fn json_is_a_line_for_each_frame() {
    let frames = [heartbeat(), heartbeat()].concat();
    let line = r#"{"header":{"requestApiKey":12,"requestApiVersion":0,"correlationId":1,"clientId":"me"},"body":{"groupId":"","generationId":7,"memberId":""}}"#;
    assert_eq!(printed(&["--json", &hex(&frames)], b""), format!("{line}\n{line}\n"));
}

#[test]
fn wrong_bytes_are_shown_up_to_there_and_the_code_is_1() {
    let cut = &heartbeat()[4..20];
    let (shown, error) = refused(&[&hex(cut)], b"", 1);
    assert!(shown.starts_with(&HEARTBEAT[..60].replace("20 bytes", "16 bytes")), "{shown}");
    assert!(
        shown.ends_with("    14  00 00                    !! generationId: 4 bytes are needed here and 2 are left\n"),
        "{shown}"
    );
    assert_eq!(error, "millstream: 1 of 1 could not be read: see !! above\n");
    let (shown, error) = refused(&["--json", &hex(cut)], b"", 1);
    assert_eq!(shown, "");
    assert_eq!(
        error,
        "millstream: cannot read Heartbeat request, version 0: field generationId at byte 2: 4 bytes are needed here \
         and 2 are left; the bytes there: 00 00 > 00 00\nmillstream: 1 of 1 could not be read\n"
    );
}

#[test]
fn what_cannot_be_asked_is_refused_with_what_to_do() {
    for (arguments, code, expected) in [
        (&["0g"][..], 1, "millstream: read hexadecimal digits\n  because: character 2, `g`, is no hexadecimal digit\n"),
        (
            &[],
            1,
            "millstream: nothing to decode: give hexadecimal digits as arguments or on standard input, or --file FILE\n",
        ),
        (
            &["--response", "Nothing", "1", "00"],
            1,
            "millstream: no API is called `Nothing`; give Kafka's name, such as Metadata, or its number\n",
        ),
        (
            &["--response", "Fetch", "x", "00"],
            1,
            "millstream: `x` is no version\n  because: invalid digit found in string\n",
        ),
        (
            &["--file", "/no/such/file"],
            1,
            "millstream: read /no/such/file\n  because: No such file or directory (os error 2)\n",
        ),
        (&["--records", "--request", "00"], 2, "error: the argument '--records' cannot be used with '--request'"),
        (&["--topic", "t", "00"], 2, "error: the following required arguments were not provided"),
        (&["--file", "f", "00"], 2, "error: the argument '--file <FILE>' cannot be used with '[HEX]...'"),
    ] {
        let (shown, error) = refused(arguments, b"", code);
        assert_eq!(shown, "");
        assert!(error.starts_with(expected), "{arguments:?}: {error}");
    }
}

#[test]
fn passwords_are_shown_when_all_is_asked_for() {
    let request = frame::encode_request(3, 1, None, &ApiVersionsRequest::default()).expect("it can be written");
    let many = hex(&request.to_bytes());
    assert_eq!(printed(&["--whole", &many], b""), printed(&[&many], b""));
    let sasl = "0024 0000 00000001 ffff 00000002 6162";
    assert!(!printed(&[sasl], b"").contains("61"));
    assert!(printed(&["--whole", sasl], b"").contains("authBytes = 6162"));
    assert!(printed(&["--json", sasl], b"").contains(r#""authBytes":"(2 bytes that are secret)""#));
    assert!(printed(&["--json", "--whole", sasl], b"").contains(r#""authBytes":"YWI=""#));
}
