//! Pictures of everything in the corpora: whole, cut and meddled with.

use millstream_protocol::ApiKey;
use millstream_protocol::picture::Picture;
use millstream_vectors::{bytes, int16, rows, unhex};
use serde_json::Value;

fn of_message<'a>(row: &Value, is_request: bool, body: &'a [u8]) -> Picture<'a> {
    let of = if is_request { Picture::of_request } else { Picture::of_response };
    of(ApiKey::new(int16(row, "api")), int16(row, "version"), body).expect("Kafka has it")
}

/// Draws it; the lines begin at the first byte, and offsets never fall, but where a batch was inflated, or where a field is
/// wrong that was drawn already.
fn check(picture: Picture<'_>) {
    let text = picture.to_string();
    let right = text.lines().skip(1).filter(|line| !line.contains("  !! "));
    let offsets = right.filter_map(|line| line.get(..6)?.trim().parse::<usize>().ok());
    assert!(offsets.clone().is_sorted(), "{text}");
    assert!(offsets.clone().next().is_none_or(|first| first == 0), "{text}");
    assert!(text.lines().count() <= 2001 + picture.faults().min(2000), "{} lines", text.lines().count());
}

#[test]
fn every_message_is_drawn_to_its_end() {
    let mut halves = 0;
    for (corpus, is_request) in [("messages-requests", true), ("messages-responses", false)] {
        for row in rows(corpus) {
            let body = bytes(&row, "hex");
            let picture = of_message(&row, is_request, &body);
            check(picture);
            let whole = picture.whole().to_string();
            assert!(whole.ends_with(&format!("{:>6}  {:<23}  end\n", body.len(), "")), "{whole}");
            if row["kind"] == "random" {
                check(of_message(&row, is_request, &body[..body.len() / 2]));
                halves += 1;
            }
        }
    }
    assert!(halves > 0, "no message was cut");
}

#[test]
fn hostile_frames_are_drawn_up_to_the_error() {
    let mut drawn = 0;
    for row in rows("hostile-messages").filter(|row| row["target"] != "frame") {
        let body = bytes(&row, "hex");
        let picture = of_message(&row, row["target"] == "request", &body);
        check(picture);
        assert_eq!(
            picture.json().is_err(),
            picture.to_string().lines().last().is_some_and(|line| line.contains("  !! "))
        );
        drawn += 1;
    }
    assert!(drawn > 0, "the corpus has no messages");
    for row in rows("hostile-records") {
        let buffer = bytes(&row, "hex");
        check(Picture::of_records(&buffer));
    }
}

fn from_base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_usize, 0);
    for digit in text.trim_end_matches('=').bytes() {
        bits = (bits << 6 | ALPHABET.iter().position(|byte| *byte == digit).expect("base64")) & 0xffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).expect("eight bits"));
        }
    }
    bytes
}

/// Ours in base64; Kafka's in hex or, where they are long, as their length and checksum.
fn check_data(ours: &Value, kafkas: &Value, id: &Value) {
    let ours = ours.as_str().map(from_base64);
    match kafkas {
        Value::Object(long) => {
            let ours = ours.expect("not null");
            assert_eq!((long["len"].as_u64(), long["crc32c"].as_u64()), {
                (u64::try_from(ours.len()).ok(), Some(crc32c::crc32c(&ours).into()))
            });
        }
        kafkas => assert_eq!(ours, kafkas.as_str().map(unhex), "{id}"),
    }
}

fn check_record(ours: &Value, kafkas: &Value, id: &Value) {
    assert_eq!((&ours["offset"], &ours["timestamp"]), (&kafkas["offset"], &kafkas["timestamp"]), "{id}");
    check_data(&ours["key"], &kafkas["key"], id);
    check_data(&ours["value"], &kafkas["value"], id);
    let none = Vec::new();
    let (ours, kafkas) = (ours["headers"].as_array().expect("headers"), kafkas["headers"].as_array().unwrap_or(&none));
    assert_eq!(ours.len(), kafkas.len(), "{id}");
    for (ours, kafkas) in ours.iter().zip(kafkas) {
        assert_eq!(ours["key"], kafkas[0], "{id}");
        check_data(&ours["value"], &kafkas[1], id);
    }
}

#[test]
fn batches_of_kafka_have_no_fault() {
    let mut records = 0;
    for row in rows("records") {
        let buffer = bytes(&row, "hex");
        let picture = Picture::of_records(&buffer);
        assert_eq!(picture.faults(), 0, "{}\n{picture}", row["id"]);
        check(picture);
        let json: Value = serde_json::from_str(&picture.json().expect("Kafka wrote it")).expect("JSON");
        let (ours, kafkas) =
            (json["batches"].as_array().expect("an array"), row["batches"].as_array().expect("an array"));
        assert_eq!(ours.len(), kafkas.len());
        for (ours, kafkas) in ours.iter().zip(kafkas) {
            assert_eq!(ours["baseOffset"], kafkas["base_offset"]);
            let (ours, kafkas) =
                (ours["records"].as_array().expect("an array"), kafkas["records"].as_array().expect("an array"));
            assert_eq!(ours.len(), kafkas.len(), "{}", row["id"]);
            ours.iter().zip(kafkas).for_each(|(ours, kafkas)| check_record(ours, kafkas, &row["id"]));
            records += ours.len();
        }
        assert_eq!(json["leftOver"], row["left_over"], "{}", row["id"]);
    }
    assert!(records > 0, "the corpus has no records");
}

#[test]
fn what_travels_inside_is_drawn_to_its_end() {
    for row in rows("messages-data") {
        let body = bytes(&row, "hex");
        let name = row["name"].as_str().expect("a name");
        let picture = Picture::of_embedded(name, int16(&row, "version"), &body).expect("Kafka has it");
        check(picture);
    }
}
