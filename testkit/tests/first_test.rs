//! The README's first test, as it stands there: rustdoc leaves functions that are tests out of what it compiles.

use millstream::prelude::*;

#[tokio::test]
async fn an_order_arrives() {
    let cluster = millstream_testkit::TestCluster::start().await;
    let producer = Producer::connect(&cluster).await.unwrap();
    producer.send(ProducerRecord::to("orders").key("alice").value("12 apples")).await.unwrap();
    assert_eq!(cluster.values("orders"), ["12 apples"]);
}

#[test]
fn the_first_test_of_the_readme_has_eight_lines_and_is_this_one() {
    let (readme, here) = (include_str!("../../README.md"), include_str!("first_test.rs"));
    let first = here.find("use millstream").expect("it begins with what it uses");
    let last = here.find("\n}\n").expect("it ends");
    let text = &here[first..last + 3];
    assert!(readme.contains(&format!("```rust,no_run\n{text}```\n")), "the README shows another one than\n{text}");
    assert_eq!(text.lines().filter(|line| !line.is_empty()).count(), 8);
}
