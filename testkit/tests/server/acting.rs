//! What is asked of the control port happens to the cluster.

use super::Controlled;
use millstream_client::{Producer, ProducerRecord};
use serde_json::json;

async fn send(controlled: &Controlled, value: &str) {
    let producer = Producer::connect(&*controlled.cluster).await.expect("the cluster runs");
    producer.send(ProducerRecord::to("orders").value(value)).await.expect("it is written in the end");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_of_faults_is_used_up_by_a_client() {
    let controlled = Controlled::start().await;
    let plan = json!({"api": "Produce", "steps": [{"do": {"error": "NOT_ENOUGH_REPLICAS"}, "times": 2, "rtt_ms": 5}]});
    let id = controlled.json("POST", "/faults", Some(&plan))["id"].clone();
    let waiting = controlled.json("GET", "/faults", None);
    assert_eq!(waiting[0]["text"], "Produce: 2 times refused with NOT_ENOUGH_REPLICAS, the answer 5 ms late");
    send(&controlled, "a").await;
    let state = controlled.json("GET", &format!("/faults/{id}"), None);
    assert_eq!((&state["used"], &state["left"]), (&json!(2), &json!(0)));
    assert_eq!(controlled.json("GET", "/requests/count?api=Produce", None)["count"], 3);
    let logged = controlled.json("GET", "/requests?api=Produce&limit=2", None);
    assert_eq!(logged[0]["fault"], "refused with NOT_ENOUGH_REPLICAS");
    assert_eq!(logged[1]["fault"], serde_json::Value::Null);
    let records = controlled.json("GET", "/topics/orders/records?partition=0&from_offset=0", None);
    assert_eq!((&records[0]["value"], &records[0]["value_base64"]), (&json!("a"), &json!("YQ==")));
    let number = &logged[1]["number"];
    let whole = controlled.json("GET", &format!("/requests/{number}"), None);
    assert_eq!(whole["response"]["responses"][0]["partitionResponses"][0]["errorCode"], 0, "{whole}");
}

/// Without its end the answers of several calls of `curl` ran into each other, and into the prompt.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_in_json_is_a_whole_line() {
    let controlled = Controlled::start().await;
    let told = ["/", "/faults", "/nope"].map(|path| controlled.ask("GET", path, None).1);
    assert_eq!(told.map(|text| text.find('\n').map(|end| end + 1) == Some(text.len())), [true; 3]);
    assert_eq!(controlled.ask("POST", "/retention", None), (204, String::new()));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_is_refused_with_a_sentence() {
    let controlled = Controlled::start().await;
    let reason = |method: &str, path: &str, body: Option<serde_json::Value>| {
        let (status, text) = controlled.ask(method, path, body.as_ref());
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        format!("{status} {}", value["error"].as_str().expect("a sentence"))
    };
    assert!(reason("GET", "/nope", None).starts_with("404 there is no /nope; there are /, /apis/{api}, /brokers, "));
    let near = "404 there is no /markers/write; there are /markers/hold, /markers/release, as GET /openapi.yaml says";
    assert_eq!(reason("POST", "/markers/write", None), near);
    assert_eq!(reason("PUT", "/topics", None), "405 /topics does not take PUT; it takes GET, POST");
    assert_eq!(reason("POST", "/brokers/9/crash", None), "404 there is no broker 9; there are 1, 2");
    assert_eq!(reason("POST", "/brokers/x/crash", None), "400 `x` is no number that id could be");
    assert_eq!(
        reason("GET", "/topics/nope", None),
        "404 there is no topic `nope`; GET /topics names those that there are"
    );
    assert_eq!(reason("POST", "/topics", Some(json!({"name": "orders"}))), "409 there is a topic `orders` already");
    assert_eq!(
        reason("GET", "/requests?api=Nope", None),
        "400 Kafka has no API `Nope`; say its name or its number, as in Produce or 0"
    );
    let plan = json!({"api": "Nope", "steps": []});
    assert!(
        reason("POST", "/faults", Some(plan))
            .starts_with("400 the body cannot be read: `api`: Kafka has no API `Nope`")
    );
    let empty = json!({"steps": []});
    assert!(reason("POST", "/faults", Some(empty)).starts_with("400 a plan has at least one step"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_has_the_replicas_and_the_options_that_it_was_made_with() {
    let controlled = Controlled::start().await;
    let config = json!({"cleanup.policy": "compact", "retention.ms": "60000"});
    let wanted = json!({"name": "t", "partitions": 2, "replication_factor": 1, "config": config});
    let made = controlled.json("POST", "/topics", Some(&wanted));
    assert_eq!(controlled.json("GET", "/topics/t", None), made);
    assert_eq!(made["config"], config);
    let replicas = |of: &serde_json::Value| of["replicas"].as_array().map(Vec::len);
    let of_each: Vec<_> = made["partitions"].as_array().expect("a list").iter().map(replicas).collect();
    assert_eq!(of_each, [Some(1); 2]);
    controlled.json("POST", "/topics/t/recreate", None);
    assert_eq!(controlled.json("GET", "/topics/t", None)["config"], config);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_cannot_be_is_refused_with_the_reason() {
    let controlled = Controlled::start().await;
    let refused = |body: serde_json::Value| controlled.ask("POST", "/topology/leader", Some(&body));
    let (status, text) = refused(json!({"topic": "nope", "partition": 0, "node": 1}));
    assert!(status == 404 && text.contains("there is no topic `nope`"), "{text}");
    let (status, text) = refused(json!({"topic": "orders", "partition": 5, "node": 1}));
    assert!(status == 404 && text.contains("topic `orders` has no partition 5; it has 0 to 0"), "{text}");
    controlled.json("POST", "/brokers/2/crash", None);
    let (status, text) = refused(json!({"topic": "orders", "partition": 0, "node": 2}));
    assert!(status == 409 && text.contains("broker 2 is down; POST /brokers/2/restart"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reset_cluster_is_as_on_its_first_day() {
    let controlled = Controlled::start().await;
    send(&controlled, "a").await;
    controlled.json("POST", "/topics", Some(&json!({"name": "more"})));
    controlled.json("POST", "/brokers/2/crash", None);
    controlled.json("POST", "/faults", Some(&json!({"steps": [{"do": "disconnect", "times": null}]})));
    controlled.json("PUT", "/brokers/1/link", Some(&json!({"stalls_to_client": true})));
    controlled.json("POST", "/reset", None);
    let topics = controlled.json("GET", "/topics", None);
    let names: Vec<_> = topics.as_array().unwrap().iter().map(|topic| topic["name"].clone()).collect();
    assert_eq!(names, ["orders"]);
    assert_eq!(controlled.json("GET", "/", None)["brokers"][1]["is_up"], true);
    assert_eq!(controlled.json("GET", "/faults", None), json!([]));
    send(&controlled, "b").await;
    assert_eq!(controlled.cluster.values("orders"), ["b"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn time_moves_on() {
    let controlled = Controlled::start().await;
    let before = controlled.json("GET", "/", None)["time_ms"].as_i64().unwrap();
    let after = controlled.json("POST", "/time/advance", Some(&json!({"ms": 3_600_000})))["time_ms"].as_i64().unwrap();
    assert!(after - before >= 3_600_000);
}

/// At the end of all time, a timer that is set anew is due at once, and the process did nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn time_moves_on_by_a_hundred_years_at_most() {
    let controlled = Controlled::start().await;
    let before = controlled.json("GET", "/", None)["time_ms"].as_i64().unwrap();
    let (status, answer) = controlled.ask("POST", "/time/advance", Some(&json!({"ms": u64::MAX})));
    assert!(status == 400 && answer.contains("a hundred years"), "{answer}");
    let after = controlled.json("GET", "/", None)["time_ms"].as_i64().unwrap();
    assert!(after - before < 3_600_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_is_stopped_once_and_comes_back() {
    let controlled = Controlled::start().await;
    let is_up = || controlled.json("GET", "/", None)["brokers"][1]["is_up"].clone();
    controlled.json("POST", "/brokers/2/stop", None);
    controlled.json("POST", "/brokers/2/stop", None);
    assert_eq!(is_up(), false);
    controlled.json("POST", "/brokers/2/restart", None);
    assert_eq!(is_up(), true);
    controlled.json("POST", "/brokers/2/crash", None);
    let (status, answer) = controlled.ask("POST", "/brokers/2/stop", None);
    assert!(status == 409 && answer.contains("broker 2 is crashed and cannot become stopped"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crashed_broker_is_not_paused() {
    let controlled = Controlled::start().await;
    controlled.json("POST", "/brokers/2/crash", None);
    for path in ["/brokers/2/pause", "/brokers/2/resume"] {
        let (status, answer) = controlled.ask("POST", path, None);
        assert!(status == 409 && answer.contains("broker 2 is crashed and cannot become"), "{answer}");
    }
    assert_eq!(controlled.json("GET", "/", None)["brokers"][1]["is_up"], false);
}

/// Whether one was up was all that was told.
#[tokio::test(flavor = "multi_thread")]
async fn what_state_a_broker_is_in_is_told() {
    let controlled = Controlled::start().await;
    let state = || controlled.json("GET", "/", None)["brokers"][1]["state"].clone();
    assert_eq!(state(), "running");
    let moves =
        [("pause", "paused"), ("resume", "running"), ("stop", "stopped"), ("restart", "running"), ("crash", "crashed")];
    for (moved, told) in moves {
        controlled.json("POST", &format!("/brokers/2/{moved}"), None);
        assert_eq!(state(), told);
    }
    controlled.json("POST", "/brokers/2/restart", None);
    controlled.json("POST", "/brokers/2/pause", None);
    controlled.json("POST", "/time/advance", Some(&json!({"ms": 10_000})));
    assert_eq!(state(), "fenced");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_lead_though_it_is_not_in_sync_is_told() {
    let controlled = Controlled::start().await;
    let topic = json!({"name": "t", "replication_factor": 2, "config": {"min.insync.replicas": "2"}});
    controlled.json("POST", "/topics", Some(&topic));
    controlled.json("POST", "/brokers/2/stop", None);
    let partition = &controlled.json("GET", "/topics/t", None)["partitions"][0];
    assert_eq!((&partition["isr"], &partition["elr"]), (&json!([1]), &json!([2])));
}

/// It was made, without a leader.
#[tokio::test(flavor = "multi_thread")]
async fn a_topic_that_nobody_would_lead_is_not_made() {
    let controlled = Controlled::start().await;
    let ids: Vec<_> = controlled.json("GET", "/", None)["brokers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|each| each["id"].clone())
        .collect();
    ids.iter().for_each(|id| drop(controlled.json("POST", &format!("/brokers/{id}/crash"), None)));
    let (status, answer) = controlled.ask("POST", "/topics", Some(&json!({"name": "t"})));
    assert!(status == 409 && answer.contains("all brokers are down"), "{answer}");
    controlled.json("POST", "/brokers/1/restart", None);
    controlled.json("POST", "/topics", Some(&json!({"name": "t"})));
}
