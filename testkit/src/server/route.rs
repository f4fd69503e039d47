//! Which request goes where.

use super::answer::{Answer, Refusal};
use super::body::{self, Body};
use crate::TestCluster;
use hyper::Method;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

/// A request, taken apart.
#[derive(Debug)]
pub(super) struct Asked<'r> {
    pub(super) cluster: &'r TestCluster,
    /// What stands in the path's places, by their names.
    pub(super) places: BTreeMap<&'static str, String>,
    pub(super) query: BTreeMap<String, String>,
    pub(super) body: &'r [u8],
}
impl Asked<'_> {
    /// The body as JSON.
    pub(super) fn body<B: Body>(&self) -> Result<B, Refusal> {
        body::read(self.body)
    }
    /// What stands in one of the path's places.
    pub(super) fn place(&self, name: &str) -> &str {
        self.places.get(name).map_or("", String::as_str)
    }
    pub(super) fn number<T: FromStr>(&self, name: &str) -> Result<T, Refusal> {
        let text = self.place(name);
        text.parse().map_err(|_| Refusal::bad(format!("`{text}` is no number that {name} could be")))
    }
    /// A parameter of the query, if it is given.
    pub(super) fn query<T: FromStr>(&self, name: &str) -> Result<Option<T>, Refusal> {
        let Some(text) = self.query.get(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| Refusal::bad(format!("{name} cannot be `{text}`")))
    }
}

/// What serves a route.
pub(super) type Serve = fn(&Asked<'_>) -> Result<Answer, Refusal>;

/// One route.
pub(super) struct Route {
    pub(super) method: Method,
    /// As OpenAPI writes it: `/brokers/{id}/link`.
    pub(super) path: &'static str,
    /// The parameters that its query may have.
    parameters: &'static [&'static str],
    takes_body: TakesBody,
    pub(super) serve: Serve,
}
/// Whether a route reads a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TakesBody {
    Yes,
    No,
}
impl Route {
    pub(super) const fn new(method: Method, path: &'static str, serve: Serve) -> Self {
        Self { method, path, parameters: &[], takes_body: TakesBody::No, serve }
    }
    /// Reads a body.
    pub(super) const fn reading(mut self) -> Self {
        self.takes_body = TakesBody::Yes;
        self
    }
    /// Takes these parameters in its query.
    pub(super) const fn with(mut self, parameters: &'static [&'static str]) -> Self {
        self.parameters = parameters;
        self
    }
    /// The parameters of a query: those that it takes, each once.
    pub(super) fn query(&self, text: Option<&str>) -> Result<BTreeMap<String, String>, Refusal> {
        let mut query = BTreeMap::new();
        for (name, value) in pairs(text) {
            if !self.parameters.contains(&name.as_str()) {
                return Err(self.unknown(&name));
            }
            if query.contains_key(&name) {
                return Err(Refusal::bad(format!("the query has {name} twice: say it once")));
            }
            query.insert(name, value);
        }
        Ok(query)
    }
    /// A body that it reads, or none: what nobody reads its sender takes for done. `{}`, which some programs always send, says nothing.
    pub(super) fn body<'b>(&self, bytes: &'b [u8]) -> Result<&'b [u8], Refusal> {
        let says_nothing = matches!(bytes.trim_ascii(), b"" | b"{}");
        if self.takes_body == TakesBody::Yes || says_nothing {
            return Ok(bytes);
        }
        Err(Refusal::bad(format!("{} {} takes no body; send it without", self.method, self.path)))
    }
    fn unknown(&self, name: &str) -> Refusal {
        let known = match self.parameters {
            [] => "it takes none".to_owned(),
            known => format!("it takes {}", known.join(", ")),
        };
        Refusal::bad(format!("{} {} takes no `{name}` in its query; {known}", self.method, self.path))
    }
    /// What stands in its places, if a path is this route's.
    fn places(&self, path: &str) -> Option<BTreeMap<&'static str, String>> {
        let (mut own, mut asked) = (self.path.split('/'), path.split('/'));
        let mut places = BTreeMap::new();
        loop {
            match (own.next(), asked.next()) {
                (None, None) => return Some(places),
                (Some(own), Some(asked)) => match own.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
                    Some(name) if !asked.is_empty() => {
                        places.insert(name, decoded(asked));
                    }
                    None if own == asked => {}
                    _ => return None,
                },
                _ => return None,
            }
        }
    }
}

/// The route of a request, with what stands in its path.
pub(super) fn find<'r>(
    routes: &'r [Route],
    method: &Method,
    path: &str,
) -> Result<(&'r Route, BTreeMap<&'static str, String>), Refusal> {
    let of_path: Vec<_> = routes.iter().filter_map(|route| Some((route, route.places(path)?))).collect();
    if of_path.is_empty() {
        let near = near(routes, path);
        return Err(Refusal::missing(format!("there is no {path}; there are {near}, as GET /openapi.yaml says")));
    }
    let allow = of_path.iter().map(|(route, _)| route.method.as_str()).collect::<Vec<_>>().join(", ");
    let not_allowed =
        || Refusal::not_allowed(format!("{path} does not take {method}; it takes {allow}"), allow.clone());
    of_path.into_iter().find(|(route, _)| route.method == *method).ok_or_else(not_allowed)
}
/// The paths that begin as one that there is not; all of them, if none does.
fn near(routes: &[Route], path: &str) -> String {
    let first = |path: &str| path.split('/').nth(1).unwrap_or_default().to_owned();
    let all: BTreeSet<&str> = routes.iter().map(|route| route.path).collect();
    let alike: Vec<&str> = all.iter().copied().filter(|known| first(known) == first(path)).collect();
    if alike.is_empty() { all.into_iter().collect::<Vec<_>>().join(", ") } else { alike.join(", ") }
}

/// The parameters of a query.
fn pairs(text: Option<&str>) -> impl Iterator<Item = (String, String)> {
    let pairs = text.unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (decoded(name), decoded(&value.replace('+', " "))))
}
/// Without percent signs; what is no escape stays as it is.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escape = after.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match escape.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_paths_and_queries_are_unescaped() {
        let route = Route::new(Method::GET, "/topics/{name}/records", |_| Ok(Answer::Nothing));
        assert_eq!(route.places("/topics/a%20b%zz/records").unwrap()["name"], "a b%zz");
        assert_eq!((route.places("/topics//records"), route.places("/topics/a")), (None, None));
        let route = route.with(&["api", "x", "flag"]);
        let query = route.query(Some("api=Produce&x=a+b%26&flag")).expect("it takes them");
        assert_eq!((query["api"].as_str(), query["x"].as_str(), query["flag"].as_str()), ("Produce", "a b&", ""));
    }

    #[test]
    fn what_a_query_cannot_say_is_not_passed_over() {
        let route = Route::new(Method::GET, "/requests", |_| Ok(Answer::Nothing));
        let reason = |route: &Route, text| route.query(Some(text)).expect_err("refused").reason;
        assert_eq!(reason(&route, "apii=1"), "GET /requests takes no `apii` in its query; it takes none");
        let route = route.with(&["api", "node"]);
        assert_eq!(reason(&route, "apii=1"), "GET /requests takes no `apii` in its query; it takes api, node");
        assert_eq!(reason(&route, "node=1&node=2"), "the query has node twice: say it once");
    }

    /// `POST /markers/hold` with a transactional id held the markers of all, and said that it was done.
    #[test]
    fn what_a_body_says_is_not_passed_over() {
        let route = Route::new(Method::POST, "/markers/hold", |_| Ok(Answer::Nothing));
        let refused = route.body(br#"{"transactional_id": "t"}"#).map_err(|refusal| refusal.reason);
        assert_eq!(refused, Err("POST /markers/hold takes no body; send it without".to_owned()));
        for nothing in ["", "{}", " {}\n"] {
            assert!(route.body(nothing.as_bytes()).is_ok(), "{nothing:?}");
        }
        assert!(route.reading().body(b"{\"a\": 1}").is_ok(), "it reads it");
    }
}
