//! What the control port answers.

use hyper::StatusCode;
use serde::Serialize;

/// An answer that went well.
#[derive(Debug)]
pub(super) enum Answer {
    /// One line: in a terminal the next answer, or the prompt, begins on the next.
    Json(StatusCode, String),
    Text(&'static str, String),
    Nothing,
}
impl Answer {
    pub(super) fn json(value: &impl Serialize) -> Result<Self, Refusal> {
        Self::with_status(StatusCode::OK, value)
    }
    pub(super) fn created(value: &impl Serialize) -> Result<Self, Refusal> {
        Self::with_status(StatusCode::CREATED, value)
    }
    fn with_status(status: StatusCode, value: &impl Serialize) -> Result<Self, Refusal> {
        let text = serde_json::to_string(value);
        text.map(|text| Self::Json(status, text + "\n"))
            .map_err(|error| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error))
    }
}

/// Why something was not done: a status and a sentence.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) reason: String,
    /// The methods that there are, where another was asked for: HTTP's `Allow`.
    pub(super) allow: Option<String>,
}
impl Refusal {
    pub(super) fn new(status: StatusCode, reason: impl ToString) -> Self {
        Self { status, reason: reason.to_string(), allow: None }
    }
    /// As all refusals are told: an object with one field.
    pub(super) fn json(&self) -> String {
        serde_json::json!({ "error": self.reason }).to_string() + "\n"
    }
    /// The request itself is wrong.
    pub(super) fn bad(reason: impl ToString) -> Self {
        Self::new(StatusCode::BAD_REQUEST, reason)
    }
    /// What it is about is not there.
    pub(super) fn missing(reason: impl ToString) -> Self {
        Self::new(StatusCode::NOT_FOUND, reason)
    }
    /// There is such a path, but for other methods.
    pub(super) fn not_allowed(reason: impl ToString, allow: String) -> Self {
        Self { allow: Some(allow), ..Self::new(StatusCode::METHOD_NOT_ALLOWED, reason) }
    }
    /// It is right, but not now.
    pub(super) fn conflict(reason: impl ToString) -> Self {
        Self::new(StatusCode::CONFLICT, reason)
    }
}
