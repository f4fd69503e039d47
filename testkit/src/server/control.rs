//! The control port: HTTP/1.1 on loopback.

use super::answer::{Answer, Refusal};
use super::route::{Asked, Route, find, query};
use super::{cluster, faults, looking, topics, topology};
use crate::TestCluster;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

/// No body that this port takes is larger.
const MAX_BODY: usize = 1 << 20;
/// No more connections than this are served at a time, as each may keep a long answer that its client is slow to read. Others wait.
const MOST_CONNECTIONS: usize = 100;
/// Before the next try to accept, when there was nothing to accept with.
const PAUSE: Duration = Duration::from_millis(1);

/// All routes, as `openapi.yaml` has them.
static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| {
    let of = [cluster::routes(), faults::routes(), looking::routes(), topics::routes(), topology::routes()];
    of.into_iter().flatten().collect()
});

/// Methods and paths of the control port, as OpenAPI writes them: (`GET`, `/brokers/{id}/link`).
pub fn routes() -> impl Iterator<Item = (&'static str, &'static str)> {
    ROUTES.iter().map(|route| (route.method.as_str(), route.path))
}

/// A control port that is open. Dropping it closes it.
#[derive(Debug)]
pub struct ControlServer {
    address: SocketAddr,
    task: AbortHandle,
}
impl ControlServer {
    /// Opens one on loopback for a cluster; 0 is any port that is free.
    ///
    /// # Errors
    ///
    /// When the port is taken.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it leaves nothing behind.
    pub async fn start(cluster: Arc<TestCluster>, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let task = tokio::spawn(accept(listener, cluster)).abort_handle();
        Ok(Self { address, task })
    }
    /// Where it is: `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}
impl Drop for ControlServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, cluster: Arc<TestCluster>) {
    // Owned by this task: when it ends, they end.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if connections.len() < MOST_CONNECTIONS => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(converse(stream, Arc::clone(&cluster)));
                }
                // Out of file descriptors, most likely: it passes.
                Err(_) => tokio::time::sleep(PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}
/// Serves a connection until either side ends it.
async fn converse(stream: TcpStream, cluster: Arc<TestCluster>) {
    let service = service_fn(move |request| serve(Arc::clone(&cluster), request));
    let mut server = hyper::server::conn::http1::Builder::new();
    server.timer(TokioTimer::new());
    // Whatever ends it, the client sees that it ended.
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}

async fn serve(cluster: Arc<TestCluster>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = match Limited::new(body, MAX_BODY).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) => {
            let refusal = Refusal::bad(format!("the body cannot be read: {error}"));
            return Ok(response(Err(refusal)));
        }
    };
    Ok(response(dispatch(&cluster, &head.method, head.uri.path(), head.uri.query(), &body)))
}
fn dispatch(
    cluster: &TestCluster,
    method: &Method,
    path: &str,
    text: Option<&str>,
    body: &[u8],
) -> Result<Answer, Refusal> {
    let (route, places) = find(&ROUTES, method, path)?;
    (route.serve)(&Asked { cluster, places, query: query(text), body })
}
fn response(result: Result<Answer, Refusal>) -> Response<Full<Bytes>> {
    let mut allow = None;
    let (status, kind, text) = match result {
        Ok(Answer::Json(status, text)) => (status, "application/json", text),
        Ok(Answer::Text(kind, text)) => (StatusCode::OK, kind, text),
        Ok(Answer::Nothing) => (StatusCode::NO_CONTENT, "", String::new()),
        Err(Refusal { status, reason, allow: methods }) => {
            allow = methods.and_then(|methods| HeaderValue::try_from(methods).ok());
            (status, "application/json", serde_json::json!({ "error": reason }).to_string())
        }
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    if !kind.is_empty() {
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    if let Some(methods) = allow {
        response.headers_mut().insert(ALLOW, methods);
    }
    response
}
