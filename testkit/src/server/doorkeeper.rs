//! Who may ask the control port: programs of this machine, and no web page.
//!
//! A browser lets any page send requests to loopback: by a form or a script, which it marks with the page's `Origin`, or by a name of the
//! page's own that suddenly means 127.0.0.1 (DNS rebinding), which stands in `Host`. Neither is a loopback's then.

use super::answer::Refusal;
use hyper::header::{HOST, HeaderName, ORIGIN};
use hyper::http::request::Parts;
use hyper::{StatusCode, Uri};
use std::net::IpAddr;

/// Refuses what a web page from elsewhere may have sent.
pub(super) fn check(head: &Parts) -> Result<(), Refusal> {
    if let Some(origin) = header(head, &ORIGIN)
        && !origin.parse::<Uri>().is_ok_and(|origin| origin.host().is_some_and(is_loopback))
    {
        return Err(refusal(&format!("a web page of `{origin}` sent it (its header Origin says so)")));
    }
    let named = head.uri.authority().map(|authority| authority.as_str().to_owned()).or_else(|| header(head, &HOST));
    match named {
        Some(host) if !is_loopback(without_port(&host)) => {
            Err(refusal(&format!("it is for the host `{host}` (its header Host says so), which is not this one")))
        }
        // Browsers always name one.
        _ => Ok(()),
    }
}
fn refusal(why: &str) -> Refusal {
    let rule = "this port serves programs of its own machine alone; send it to 127.0.0.1, localhost or [::1], without an Origin of elsewhere";
    Refusal::new(StatusCode::FORBIDDEN, format!("{why}: {rule}"))
}
/// What is no text is the name of nothing here.
fn header(head: &Parts, name: &HeaderName) -> Option<String> {
    head.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}
fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}
fn is_loopback(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let name = bare.strip_suffix('.').unwrap_or(bare);
    name.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_may_be_meant_and_may_ask() {
        let asked = |host: &str, origin: Option<&str>| {
            let request = hyper::Request::builder().uri("/topics").header(HOST, host);
            let request = origin.into_iter().fold(request, |request, origin| request.header(ORIGIN, origin));
            check(&request.body(()).expect("a request").into_parts().0).is_ok()
        };
        for host in ["127.0.0.1:8080", "localhost", "LOCALHOST:1", "localhost.:1", "[::1]:8080", "127.9.9.9"] {
            assert!(asked(host, None), "{host}");
            assert!(asked(host, Some(&format!("http://{host}"))), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:8080",
            "10.0.0.1:80",
            "localhost.evil.example",
            "127.0.0.1.evil:1",
            "[::2]:1",
        ] {
            assert!(!asked(host, None), "{host}");
            assert!(!asked("127.0.0.1:8080", Some(&format!("https://{host}"))), "{host}");
        }
        assert!(!asked("127.0.0.1:8080", Some("null")));
    }
}
