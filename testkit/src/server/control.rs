//! The control port: HTTP/1.1 on loopback.

use super::answer::{Answer, Refusal};
use super::moving::Moving;
use super::route::{Asked, Route, find};
use super::visitors::Visitors;
use super::{cluster, doorkeeper, faults, files, incoming, looking, topics, topology};
use crate::TestCluster;
use crate::cluster::Trouble;
use bytes::Bytes;
use http_body_util::Full;
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
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// How long a request's head may take to come: after the connection, or after the answer before it.
const HEAD_WITHIN: Duration = Duration::from_secs(30);

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
    let mut visitors = Visitors::new(files::most_visitors());
    let (mut next, mut trouble) = (None, Trouble::default());
    loop {
        if let Some(stream) = next.take_if(|_| !visitors.is_full()) {
            visitors.admit(stream, |stream| converse(stream, Arc::clone(&cluster)));
        }
        let patience_ends = visitors.patience_ends();
        tokio::select! {
            accepted = listener.accept(), if next.is_none() && !trouble.is_felt() => match accepted {
                Ok((stream, _)) => {
                    trouble.is_over();
                    next = Some(stream);
                }
                Err(error) => trouble.meet(&error, "the control port"),
            },
            () = trouble.pass(), if trouble.is_felt() => {}
            () = until(patience_ends), if next.is_some() => visitors.expel(),
            () = visitors.leave() => trouble.may_be_over(),
        }
    }
}
async fn until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}
/// Serves a connection until either side ends it.
async fn converse<S: AsyncRead + AsyncWrite + Unpin>(stream: Moving<S>, cluster: Arc<TestCluster>) {
    let service = service_fn(move |request| serve(Arc::clone(&cluster), request));
    let mut server = hyper::server::conn::http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
    // Whatever ends it, the client sees that it ended.
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}

async fn serve(cluster: Arc<TestCluster>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let answer = match doorkeeper::check(&head) {
        Ok(()) => match incoming::read(&head, body).await {
            Ok(body) => dispatch(&cluster, &head.method, head.uri.path(), head.uri.query(), &body),
            Err(refusal) => Err(refusal),
        },
        Err(refusal) => Err(refusal),
    };
    Ok(response(answer))
}
fn dispatch(
    cluster: &TestCluster,
    method: &Method,
    path: &str,
    text: Option<&str>,
    body: &[u8],
) -> Result<Answer, Refusal> {
    let (route, places) = find(&ROUTES, method, path)?;
    (route.serve)(&Asked { cluster, places, query: route.query(text)?, body: route.body(body)? })
}
fn response(result: Result<Answer, Refusal>) -> Response<Full<Bytes>> {
    let mut allow = None;
    let (status, kind, text) = match result {
        Ok(Answer::Json(status, text)) => (status, "application/json", text),
        Ok(Answer::Text(kind, text)) => (StatusCode::OK, kind, text),
        Ok(Answer::Nothing) => (StatusCode::NO_CONTENT, "", String::new()),
        Err(refusal) => {
            let text = refusal.json();
            allow = refusal.allow.and_then(|methods| HeaderValue::try_from(methods).ok());
            (refusal.status, "application/json", text)
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

#[cfg(test)]
mod tests {
    use super::super::incoming::BODY_WITHIN;
    use super::super::moving::Moved;
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    // The clock leaps when nobody has anything to do; of a socket it would not know that bytes are on their way.
    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_come_is_waited_for_ten_seconds() {
        let cluster = TestCluster::builder().try_start().expect("loopback has a free port");
        let (mut client, server) = duplex(1 << 10);
        let begun = Instant::now();
        let half = "POST /topics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 100\r\n\r\n{";
        let mut answer = String::new();
        let ask = async {
            client.write_all(half.as_bytes()).await.expect("it takes the request");
            client.read_to_string(&mut answer).await.expect("it answers and hangs up");
        };
        tokio::join!(ask, converse(Moving::new(server, Moved::default()), Arc::new(cluster)));
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
        assert!(answer.ends_with("{\"error\":\"the body did not come within 10 s\"}\n"), "{answer}");
        assert_eq!(begun.elapsed(), BODY_WITHIN);
    }
    /// Whoever went on sending, little by little, was told after ten seconds that its body did not come.
    #[tokio::test(start_paused = true)]
    async fn a_body_that_trickles_on_is_refused_soon_after_it_is_too_long() {
        let cluster = TestCluster::builder().try_start().expect("loopback has a free port");
        let (client, server) = duplex(1 << 10);
        let (mut reader, mut writer) = tokio::io::split(client);
        let begun = Instant::now();
        let head =
            "POST /topics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
        let trickle = async {
            writer.write_all(head.as_bytes()).await.expect("it takes the request");
            let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
            for _ in 0..=16 {
                writer.write_all(chunk.as_bytes()).await.expect("it takes a body for a while");
            }
            while writer.write_all(b"1\r\nx\r\n").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        let mut answer = String::new();
        let converse = converse(Moving::new(server, Moved::default()), Arc::new(cluster));
        let (_, read, ()) = tokio::join!(trickle, reader.read_to_string(&mut answer), converse);
        read.expect("it answers and hangs up");
        assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
        assert!(begun.elapsed() < Duration::from_secs(7), "{:?}", begun.elapsed());
    }
}
