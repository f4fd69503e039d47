//! Pictures of everything in the corpora: whole, cut and meddled with.

use millstream_protocol::ApiKey;
use millstream_protocol::picture::Picture;
use millstream_vectors::{bytes, int16, rows};
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
    for (corpus, is_request) in [("messages-requests", true), ("messages-responses", false)] {
        for row in rows(corpus) {
            let body = bytes(&row, "hex");
            let picture = of_message(&row, is_request, &body);
            check(picture);
            let whole = picture.whole().to_string();
            assert!(whole.ends_with(&format!("{:>6}  {:<23}  end\n", body.len(), "")), "{whole}");
            if row["kind"] == "random" {
                check(of_message(&row, is_request, &body[..body.len() / 2]));
            }
        }
    }
}

#[test]
fn hostile_frames_are_drawn_up_to_the_error() {
    for row in rows("hostile-messages").filter(|row| row["target"] != "frame") {
        let body = bytes(&row, "hex");
        let picture = of_message(&row, row["target"] == "request", &body);
        check(picture);
        assert_eq!(
            picture.json().is_err(),
            picture.to_string().lines().last().is_some_and(|line| line.contains("  !! "))
        );
    }
    for row in rows("hostile-records") {
        let buffer = bytes(&row, "hex");
        check(Picture::of_records(&buffer));
    }
}

#[test]
fn batches_of_kafka_have_no_fault() {
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
            assert_eq!(ours["records"].as_array().map(Vec::len), kafkas["records"].as_array().map(Vec::len));
        }
        assert_eq!(json["leftOver"], row["left_over"], "{}", row["id"]);
    }
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
