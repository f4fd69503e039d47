//! What makes no sense is refused by the control port, with a sentence that says why and what to do.

use super::Controlled;
use serde_json::{Value, json};

impl Controlled {
    /// Status and sentence of a refusal.
    fn reason(&self, method: &str, path: &str, body: Option<Value>) -> String {
        let (status, text) = self.ask(method, path, body.as_ref());
        let value: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{method} {path}: {status} {text}"));
        format!("{status} {}", value["error"].as_str().expect("a sentence"))
    }
    /// All of these are refused so.
    fn refuses(&self, cases: &[(&str, &str, Value, &str)]) {
        for (method, path, body, expected) in cases {
            let said = self.reason(method, path, Some(body.clone()).filter(|body| !body.is_null()));
            assert!(said.starts_with(expected), "{method} {path} {body}\n  {said}\n  not {expected}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_that_nothing_would_meet_are_refused() {
    let controlled = Controlled::start().await;
    let fault = |fields: Value, does: Value| {
        let mut plan = json!({"steps": [{"do": does}]});
        plan.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        plan
    };
    let error = || json!({"error": "NOT_LEADER_OR_FOLLOWER"});
    let of = |partition: i32| json!({"api": "Fetch", "partition": {"topic": "orders", "partition": partition}});
    controlled.refuses(&[
        (
            "POST",
            "/faults",
            json!({"steps": ["disconnect"]}),
            "400 the body cannot be read: `steps`: invalid type: string \"disconnect\", expected a step as in {\"do\": ",
        ),
        ("POST", "/faults", fault(json!({}), json!({"error": "NONE"})), "400 NONE (0) is no error"),
        ("POST", "/faults", fault(json!({}), json!({"error": 0})), "400 NONE (0) is no error"),
        ("POST", "/faults", fault(json!({"node": 9}), error()), "400 the cluster has no node 9"),
        ("POST", "/faults", fault(of(-5), error()), "400 `orders` has no partition -5"),
        ("POST", "/faults", fault(json!({"api": "Produce", "group": "g"}), error()), "400 Produce is about no group"),
        ("POST", "/faults", fault(json!({"api": "LeaderAndIsr"}), error()), "400 these brokers do not serve"),
        ("POST", "/faults", fault(json!({"api": "Metadata"}), json!("corrupt_records")), "400 only answers to Fetch"),
        ("POST", "/faults", fault(json!({}), json!({"delay_ms": u64::MAX})), "400 a delay of"),
    ]);
    assert_eq!(controlled.json("GET", "/faults", None), json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_that_nobody_reads_are_refused() {
    let controlled = Controlled::start().await;
    let nothing = || Value::Null;
    controlled.refuses(&[
        (
            "GET",
            "/requests?apii=Fetch",
            nothing(),
            "400 GET /requests takes no `apii` in its query; it takes api, node",
        ),
        ("GET", "/topics?limit=1", nothing(), "400 GET /topics takes no `limit` in its query; it takes none"),
        ("GET", "/requests?node=1&node=2", nothing(), "400 the query has node twice"),
        ("GET", "/requests?node=9", nothing(), "404 there is no broker 9"),
        (
            "GET",
            "/topics/orders/records?partition=99",
            nothing(),
            "404 topic `orders` has no partition 99; it has 0 to 0",
        ),
        ("GET", "/topics/orders/records?partition=-1", nothing(), "404 topic `orders` has no partition -1"),
        (
            "POST",
            "/brokers/1/link/reset?client_id=c",
            nothing(),
            "400 POST /brokers/{id}/link/reset takes no `client_id`",
        ),
    ]);
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_links_and_names_that_cannot_be_are_refused() {
    let controlled = Controlled::start().await;
    controlled.json("POST", "/topics", Some(&json!({"name": "a.b"})));
    controlled.refuses(&[
        (
            "PUT",
            "/apis/Fetch",
            json!({"min": 0, "max": 99}),
            "400 Fetch cannot have the versions 0 to 99: choose some of 4 to",
        ),
        ("PUT", "/apis/Fetch", json!({"min": 9, "max": 8}), "400 Fetch cannot have the versions 9 to 8"),
        ("PUT", "/apis/LeaderAndIsr", json!({"min": 0, "max": 1}), "400 these brokers do not serve LeaderAndIsr"),
        ("PUT", "/apis/Nope", json!({"min": 0, "max": 1}), "404 Kafka has no API `Nope`"),
        ("PUT", "/brokers/1/link", json!({"split_bytes": 0}), "400 split_bytes is 0"),
        ("PUT", "/brokers/1/link", json!({"bytes_per_second": 0}), "400 bytes_per_second is 0"),
        (
            "PUT",
            "/brokers/1/link",
            json!({"latency_ms": u64::MAX}),
            "400 latency_ms and jitter_ms are 86400000 (a day) at most",
        ),
        ("POST", "/topics", json!({"name": "a_b"}), "409 the topic `a_b` collides with `a.b`"),
        ("POST", "/topics", json!({"name": "a b"}), "400 Topic name is invalid: 'a b' contains"),
        ("POST", "/topics", json!({"name": "t", "partitions": 0}), "400 the topic `t` cannot have 0 partitions; ask for 1 to"),
        (
            "POST",
            "/topics",
            json!({"name": "t", "replication_factor": 3}),
            "400 the topic `t` cannot have 3 replicas: a broker holds one replica of a partition, and 2 brokers are there; ask for 1 to 2",
        ),
        (
            "POST",
            "/topics",
            json!({"name": "t", "config": {"retention.mss": "1"}}),
            "400 the topic `t` cannot be: topics have no option `retention.mss`; is `retention.ms` meant?",
        ),
        (
            "POST",
            "/topics",
            json!({"name": "t", "config": {"retention.ms": 1}}),
            "400 the body cannot be read: `config`: invalid type: integer `1`, expected a string",
        ),
    ]);
}

#[tokio::test(flavor = "multi_thread")]
async fn moves_to_who_cannot_are_refused() {
    let controlled = Controlled::start().await;
    let leader = controlled.json("GET", "/topics/orders", None)["partitions"][0]["leader"].as_i64().unwrap();
    let at = |node: i64| json!({"topic": "orders", "partition": 0, "node": node, "offset": 0});
    let whom = |node: i64| json!({"topic": "orders", "partition": 0, "node": node});
    let other = 3 - leader;
    controlled.json("POST", "/topology/leader", Some(&whom(other)));
    controlled.json("POST", "/topology/leader", Some(&whom(leader)));
    controlled.refuses(&[
        (
            "POST",
            "/topology/follower/hold",
            whom(leader),
            &format!("409 broker {leader} leads orders-0, and follows nobody"),
        ),
        ("POST", "/topology/follower/start", at(leader), &format!("409 broker {leader} leads orders-0")),
        ("POST", "/topology/follower/advance", at(other), &format!("409 broker {other} is not held at orders-0")),
    ]);
    controlled.json("POST", "/topology/follower/hold", Some(&whom(other)));
    controlled.json("POST", "/topology/follower/advance", Some(&at(other)));
    let beyond = json!({"topic": "orders", "partition": 0, "node": other, "offset": i64::MAX});
    let ends = "400 the leader's log of orders-0 ends at 0; name an offset of 0 to 0, not 9223372036854775807";
    controlled.refuses(&[
        ("POST", "/topology/follower/start", beyond.clone(), ends),
        ("POST", "/topology/follower/advance", beyond, ends),
    ]);
    let leader_answer = |node: i32, epoch: i32| {
        let body = json!({"topic": "orders", "partition": 0, "node": node, "leader_epoch": epoch});
        ("POST", "/topology/leader-answer", body)
    };
    let ((method, path, leader), (_, _, epoch)) = (leader_answer(-99, 1), leader_answer(1, -5));
    controlled.refuses(&[
        (method, path, leader, "400 no answer can tell of a leader -99: brokers count from 0, and -1 tells"),
        (method, path, epoch, "400 no answer can tell of a leader epoch -5: they count from 0, and -1 tells"),
    ]);
    let (_, _, nobody) = leader_answer(-1, -1);
    controlled.json(method, path, Some(&nobody));
    controlled.json("POST", "/brokers/2/crash", None);
    controlled.refuses(&[
        ("POST", "/topology/controller", json!({"node": 2}), "409 broker 2 is down; POST"),
        ("POST", "/topology/coordinator", json!({"id": "g", "node": 2}), "409 broker 2 is down; POST"),
    ]);
    controlled.json("DELETE", "/brokers/2", None);
    let plan = json!({"node": 2, "steps": [{"do": "disconnect"}]});
    let removed = "400 node 2 was removed from the cluster, and a restart alone brings it back: no request would ever";
    controlled.refuses(&[("POST", "/faults", plan.clone(), removed)]);
    controlled.json("POST", "/brokers/2/restart", None);
    controlled.json("POST", "/faults", Some(&plan));
    // A broker that stands still is a broker that can be taken away, as one whose process is killed.
    controlled.json("POST", "/brokers/2/pause", None);
    controlled.json("DELETE", "/brokers/2", None);
}
