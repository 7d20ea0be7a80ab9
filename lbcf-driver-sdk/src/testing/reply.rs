//! Replies to calls, and assertions about them.

use crate::webhook::{HealthzResponse, OperationResponse, Status, VerdictResponse, Webhook};
use serde_json::Value;
use std::fmt;

/// The reply to a webhook's call. Its text contains the request and the response in full, and so do the
/// panics of failed assertions.
#[must_use = "an unchecked reply tests nothing"]
pub struct DriverReply<W: Webhook> {
    http: HttpReply,
    sent: Value,
    response: Result<W::Response, String>,
}

/// A response with any status and body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpReply {
    /// The HTTP status code.
    pub status: u16,
    /// The body as text.
    pub body: String,
}

impl HttpReply {
    /// Asserts the status, and a text in the body.
    #[track_caller]
    pub fn assert_http(&self, status: u16, contains: &str) {
        assert!(
            self.status == status && self.body.contains(contains),
            "expected the HTTP status {status} with {contains:?}\n  reply:   {self}"
        );
    }
}

impl<W: Webhook> DriverReply<W> {
    pub(super) fn new(sent: Value, http: HttpReply) -> Self {
        let response = match http.status {
            200 => W::read_response(http.body.as_bytes()).map_err(|error| error.to_string()),
            _ => Err("a controller only accepts the status 200".into()),
        };
        Self {
            http,
            sent,
            response,
        }
    }

    /// The response; `None` if a controller would not accept it.
    pub fn response(&self) -> Option<&W::Response> {
        self.response.as_ref().ok()
    }

    /// The response as received.
    pub const fn http(&self) -> &HttpReply {
        &self.http
    }

    /// Asserts the status, such as 400 for an invalid call or 500 after a panic, and a text in the
    /// body.
    #[track_caller]
    pub fn assert_http(&self, status: u16, contains: &str) {
        assert!(
            self.http.status == status && self.http.body.contains(contains),
            "expected the HTTP status {status} with {contains:?}\n{self}"
        );
    }

    fn expect(
        self,
        expected: &str,
        is_expected: impl FnOnce(&W::Response) -> bool,
    ) -> Result<W::Response, String> {
        match &self.response {
            Ok(response) if is_expected(response) => {}
            Ok(_) => return Err(format!("expected {expected}\n{self}")),
            Err(problem) => return Err(format!("expected {expected}, but {problem}\n{self}")),
        }
        self.response
    }
}

impl<W: Webhook<Response: OperationResponse>> DriverReply<W> {
    /// Asserts `Succ`, and returns the response.
    #[track_caller]
    pub fn assert_succ(self) -> W::Response {
        or_panic(self.succ())
    }

    /// Asserts `Fail` and a text in the message, and returns the response.
    #[track_caller]
    pub fn assert_fail(self, contains: &str) -> W::Response {
        or_panic(self.fail(contains))
    }

    /// Asserts `Running`, and returns the response.
    #[track_caller]
    pub fn assert_running(self) -> W::Response {
        or_panic(self.expect("Running", |response| response.status() == Status::Running))
    }

    /// True if the status is `Running`, so that a controller calls again.
    pub fn is_running(&self) -> bool {
        self.response()
            .is_some_and(|response| response.status() == Status::Running)
    }

    pub(super) fn succ(self) -> Result<W::Response, String> {
        self.expect("Succ", |response| response.status() == Status::Succ)
    }

    pub(super) fn fail(self, contains: &str) -> Result<W::Response, String> {
        self.expect(&format!("Fail with {contains:?}"), |response| {
            response.status() == Status::Fail && response.message().contains(contains)
        })
    }
}

impl<W: Webhook<Response: VerdictResponse>> DriverReply<W> {
    /// Asserts a yes, and returns the response.
    #[track_caller]
    pub fn assert_accepted(self) -> W::Response {
        or_panic(self.accepted())
    }

    /// Asserts a no with a text in the reason, and returns the response.
    #[track_caller]
    pub fn assert_refused(self, contains: &str) -> W::Response {
        or_panic(self.refused(contains))
    }

    pub(super) fn accepted(self) -> Result<W::Response, String> {
        self.expect("a yes", W::Response::succ)
    }

    pub(super) fn refused(self, contains: &str) -> Result<W::Response, String> {
        self.expect(&format!("a no with {contains:?}"), |response| {
            !response.succ() && response.message().contains(contains)
        })
    }
}

impl<W: Webhook<Response = HealthzResponse>> DriverReply<W> {
    /// Asserts that the driver is healthy.
    #[track_caller]
    pub fn assert_healthy(self) {
        or_panic(self.expect("a healthy driver", |response| response.healthy));
    }

    /// Asserts that the driver is not healthy.
    #[track_caller]
    pub fn assert_not_healthy(self) {
        or_panic(self.expect("a driver that is not healthy", |response| !response.healthy));
    }
}

#[track_caller]
fn or_panic<T>(result: Result<T, String>) -> T {
    match result {
        Ok(response) => response,
        Err(problem) => panic!("{problem}"),
    }
}

impl fmt::Display for HttpReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.status, self.body)
    }
}

impl<W: Webhook> fmt::Display for DriverReply<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  reply:   {}", self.http)?;
        write!(f, "  request: {} {}", W::INFO.name, self.sent)
    }
}

impl<W: Webhook> fmt::Debug for DriverReply<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
