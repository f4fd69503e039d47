//! Who may ask the control port: programs of this machine, and no web page.
//!
//! A browser lets any page send requests to loopback: by a form or a script, which it marks with the page's `Origin`; by an image or a link,
//! which it marks with `Sec-Fetch-Site` alone; or by a name of the page's own that suddenly means 127.0.0.1 (DNS rebinding), which stands in
//! `Host`. None of them is a loopback's then. What stands there twice may mean one thing here and another elsewhere.

use super::answer::Refusal;
use hyper::header::{HOST, ORIGIN};
use hyper::http::request::Parts;
use hyper::{StatusCode, Uri};
use std::net::IpAddr;

/// Where a request comes from, as browsers say it: of the same site, of another, or by the user's hand.
const SEC_FETCH_SITE: &str = "sec-fetch-site";

/// Refuses what a web page from elsewhere may have sent.
pub(super) fn check(head: &Parts) -> Result<(), Refusal> {
    let (host, origin, site) = (once(head, HOST.as_str())?, once(head, ORIGIN.as_str())?, once(head, SEC_FETCH_SITE)?);
    match origin {
        Some(origin) if !origin.parse::<Uri>().is_ok_and(|origin| origin.host().is_some_and(is_loopback)) => {
            return Err(refusal(&format!("a web page of `{origin}` sent it (its header Origin says so)")));
        }
        None if site.as_deref() == Some("cross-site") => {
            return Err(refusal("a web page of elsewhere sent it (its header Sec-Fetch-Site says so)"));
        }
        _ => {}
    }
    let named = head.uri.authority().map(|authority| authority.as_str().to_owned()).or(host);
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
/// A header that stands there once or not at all. What is no text is the name of nothing here.
fn once(head: &Parts, name: &str) -> Result<Option<String>, Refusal> {
    let mut values = head.headers.get_all(name).iter();
    let value = values.next().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    match values.next() {
        Some(_) => Err(Refusal::bad(format!("the request has more than one header `{name}`: send one"))),
        None => Ok(value),
    }
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
    #[test]
    fn a_page_of_elsewhere_may_not_even_look() {
        let status = |headers: &[(&str, &str)]| {
            let request = hyper::Request::builder().uri("/topics");
            let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
            let refused = check(&request.body(()).expect("a request").into_parts().0).err();
            refused.map(|refusal| refusal.status.as_u16())
        };
        let host = ("host", "localhost");
        assert_eq!(status(&[host, ("sec-fetch-site", "cross-site")]), Some(403));
        for own in ["same-origin", "same-site", "none"] {
            assert_eq!(status(&[host, ("sec-fetch-site", own)]), None);
        }
        // For a browser, localhost and 127.0.0.1 are two sites.
        let local = ("origin", "http://127.0.0.1:3000");
        assert_eq!(status(&[host, local, ("sec-fetch-site", "cross-site")]), None);
        // The first of two was believed, whatever the second said.
        assert_eq!(status(&[host, ("host", "evil.example")]), Some(400));
        assert_eq!(status(&[host, local, ("origin", "https://evil.example")]), Some(400));
    }
}
