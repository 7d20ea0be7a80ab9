//! What a call came to, and assertions about it.

use crate::webhook::{HealthzResponse, OperationResponse, Status, VerdictResponse, Webhook};
use crate::wire;
use serde_json::Value;
use std::fmt;

/// What came back of a call of a webhook. Its text is the whole of it, and of what was sent.
#[must_use = "an answer that nobody looks at tests nothing"]
pub struct DriverReply<W: Webhook> {
    http: HttpReply,
    sent: Value,
    response: Result<W::Response, String>,
}

/// What came back of a call that may be no webhook's at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpReply {
    /// The status code.
    pub status: u16,
    /// The body.
    pub body: String,
}

impl HttpReply {
    /// It is refused as no proper call: this status, and a text in the error.
    ///
    /// # Panics
    /// If it is not.
    #[track_caller]
    pub fn assert_http(&self, status: u16, contains: &str) {
        assert!(
            self.status == status && self.body.contains(contains),
            "expected the HTTP status {status} with {contains:?}\n  answer:  {self}"
        );
    }
}

impl<W: Webhook> DriverReply<W> {
    pub(super) fn new(sent: Value, http: HttpReply) -> Self {
        let response = match http.status {
            200 => wire::from_slice(http.body.as_bytes()).map_err(|error| error.to_string()),
            _ => Err("it is no answer for a controller, which only takes the status 200".into()),
        };
        Self {
            http,
            sent,
            response,
        }
    }

    /// The response; none where a controller would take the answer for none.
    pub fn response(&self) -> Option<&W::Response> {
        self.response.as_ref().ok()
    }

    /// The status code and the body.
    pub const fn http(&self) -> &HttpReply {
        &self.http
    }

    /// The call was refused as no proper one, or its hook panicked (500): this status, and a text
    /// in the error.
    ///
    /// # Panics
    /// If it was not.
    #[track_caller]
    pub fn assert_http(&self, status: u16, contains: &str) {
        assert!(
            self.http.status == status && self.http.body.contains(contains),
            "expected the HTTP status {status} with {contains:?}\n{self}"
        );
    }

    /// The response if it is as expected, otherwise what is wrong.
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
    /// It is done. Gives the response.
    ///
    /// # Panics
    /// If it is not.
    #[track_caller]
    pub fn assert_succ(self) -> W::Response {
        or_panic(self.succ())
    }

    /// It failed, and the message for the user contains this. Gives the response.
    ///
    /// # Panics
    /// If it did not.
    #[track_caller]
    pub fn assert_fail(self, contains: &str) -> W::Response {
        or_panic(self.fail(contains))
    }

    /// It is under way. Gives the response.
    ///
    /// # Panics
    /// If it is not.
    #[track_caller]
    pub fn assert_running(self) -> W::Response {
        or_panic(self.expect("Running", |response| response.status() == Status::Running))
    }

    /// Whether it is under way: then a controller asks again.
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
    /// It is a yes. Gives the response.
    ///
    /// # Panics
    /// If it is not.
    #[track_caller]
    pub fn assert_accepted(self) -> W::Response {
        or_panic(self.accepted())
    }

    /// It is a no, and the reason for the user contains this. Gives the response.
    ///
    /// # Panics
    /// If it is not.
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
    /// The driver can work.
    ///
    /// # Panics
    /// If it cannot.
    #[track_caller]
    pub fn assert_healthy(self) {
        or_panic(self.expect("a healthy driver", |response| response.healthy));
    }

    /// The driver cannot work.
    ///
    /// # Panics
    /// If it can.
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
        writeln!(f, "  answer:  {}", self.http)?;
        write!(f, "  request: {} {}", W::INFO.name, self.sent)
    }
}

impl<W: Webhook> fmt::Debug for DriverReply<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
