//! The control port: that it is what `openapi.yaml` says, and that it does what it says.
#![cfg(feature = "server")]

mod acting;
mod answers;
mod crowd;
mod description;
mod drift;
mod flags;
mod hostile;
mod http;
mod process;
mod refusing;
mod unread;

use millstream_testkit::TestCluster;
use millstream_testkit::server::ControlServer;
use std::sync::Arc;

/// A cluster with a control port, on a runtime with more than one thread: tests block.
struct Controlled {
    cluster: Arc<TestCluster>,
    server: ControlServer,
}
impl Controlled {
    async fn start() -> Self {
        let cluster = Arc::new(TestCluster::builder().brokers(2).topic("orders", 1).start().await);
        let server = ControlServer::start(Arc::clone(&cluster), 0).await.expect("loopback has a free port");
        Self { cluster, server }
    }
    fn ask(&self, method: &str, path: &str, body: Option<&serde_json::Value>) -> (u16, String) {
        http::ask(&self.server.url(), method, path, body)
    }
    fn json(&self, method: &str, path: &str, body: Option<&serde_json::Value>) -> serde_json::Value {
        let (status, text) = self.ask(method, path, body);
        assert!((200..300).contains(&status), "{method} {path}: {status} {text}");
        if text.is_empty() { serde_json::Value::Null } else { serde_json::from_str(&text).expect("JSON") }
    }
}
