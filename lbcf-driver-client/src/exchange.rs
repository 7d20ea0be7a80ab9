//! Responses whose head has been received, and their bodies.

use crate::error::CallError;
use ::http::{HeaderMap, Response, StatusCode};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use lbcf_serving::body::{self, BodyBudget, BodyLimits, ReadBodyError, ReceivedBody};
use serde::Deserialize;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// The limit of an error page in a message, in bytes.
const EXCERPT_LIMIT: usize = 1 << 10;
/// The limit of an error page to read, in bytes.
const ERROR_LIMIT: usize = 16 << 10;
/// More than any call takes, and little enough to be added to any clock.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);
/// The timeout of reading an error page.
const ERROR_TIMEOUT: Duration = Duration::from_secs(1);

/// Any response of a driver.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RawResponse {
    /// The HTTP status code.
    pub status: u16,
    /// The headers; a repeated header has several values.
    pub headers: HeaderMap,
    /// The complete body, as bytes.
    pub body: Bytes,
    /// The time until the response's head, including connecting.
    pub head_after: Duration,
    /// The time until the end of the response's body.
    pub body_after: Duration,
}

/// The most bytes of one response, and of all large ones of a pool together.
#[derive(Clone, Copy)]
pub(crate) struct ResponseLimits<'a> {
    pub(crate) bytes: usize,
    pub(crate) all: usize,
    pub(crate) budget: &'a BodyBudget,
}

/// A response whose body has not been read.
pub(crate) struct PendingResponse {
    response: Response<Incoming>,
    deadline: CallDeadline,
    head_after: Duration,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct CallDeadline {
    began: Instant,
    timeout: Duration,
}

impl CallDeadline {
    pub(crate) fn new(timeout: Duration) -> Self {
        Self {
            began: Instant::now(),
            timeout,
        }
    }

    fn remaining(self) -> Duration {
        self.timeout.saturating_sub(self.began.elapsed())
    }

    fn until(self) -> Instant {
        let longest = self.began + LONGEST;
        let until = self.began.checked_add(self.timeout);
        until.map_or(longest, |until| until.min(longest))
    }

    /// Runs a part of the call within the remaining time.
    pub(crate) async fn limit<T>(
        self,
        part: impl Future<Output = Result<T, CallError>>,
    ) -> Result<T, CallError> {
        timeout(self.remaining(), part)
            .await
            .unwrap_or_else(|_| Err(self.missed()))
    }

    fn missed(self) -> CallError {
        let after = self.timeout;
        CallError::Timeout { after }
    }
}

impl PendingResponse {
    pub(crate) fn new(response: Response<Incoming>, deadline: CallDeadline) -> Self {
        Self {
            response,
            deadline,
            head_after: deadline.began.elapsed(),
        }
    }

    /// The body of a response with status 200. `hint` is added to the error of a 401 or 403.
    pub(crate) async fn accepted(
        self,
        limits: ResponseLimits<'_>,
        hint: Option<&'static str>,
    ) -> Result<ReceivedBody, CallError> {
        let status = self.response.status();
        if status == StatusCode::OK {
            return whole(self.response, limits, self.deadline).await;
        }
        let timeout = self.deadline.remaining().min(ERROR_TIMEOUT);
        let is_unauthorized = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        Err(CallError::Status {
            status: status.as_u16(),
            body: shown(&beginning(self.response, timeout).await),
            hint: hint.filter(|_| is_unauthorized),
        })
    }

    pub(crate) async fn raw(self, limits: ResponseLimits<'_>) -> Result<RawResponse, CallError> {
        let status = self.response.status().as_u16();
        let headers = self.response.headers().clone();
        let body = whole(self.response, limits, self.deadline).await?.bytes;
        Ok(RawResponse {
            status,
            headers,
            body,
            head_after: self.head_after,
            body_after: self.deadline.began.elapsed(),
        })
    }
}

async fn whole(
    response: Response<Incoming>,
    limits: ResponseLimits<'_>,
    deadline: CallDeadline,
) -> Result<ReceivedBody, CallError> {
    let body = BodyLimits {
        bytes: limits.bytes,
        discarded: 0,
        until: deadline.until(),
    };
    let received = body::read(response.into_body(), body, Some(limits.budget)).await;
    received.map_err(|error| match error {
        ReadBodyError::TooLarge => CallError::TooLarge {
            limit: limits.bytes,
        },
        ReadBodyError::NoMemory => CallError::NoMemory { limit: limits.all },
        ReadBodyError::OutOfTime => deadline.missed(),
        ReadBodyError::Broken(error) => CallError::broken(error),
    })
}

/// The beginning of an error page.
async fn beginning(response: Response<Incoming>, limit: Duration) -> Vec<u8> {
    let mut body = response.into_body();
    let mut beginning = Vec::new();
    let reading = async {
        while beginning.len() < ERROR_LIMIT
            && let Some(Ok(frame)) = body.frame().await
        {
            if let Ok(data) = frame.into_data() {
                beginning.extend_from_slice(&data);
            }
        }
    };
    // An incomplete page is used as well.
    let _ = timeout(limit, reading).await;
    beginning
}

/// The text of `{"error": "…"}`, or else the beginning of the page.
fn shown(page: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Plain {
        error: String,
    }
    let text = match serde_json::from_slice::<Plain>(page) {
        Ok(plain) => plain.error,
        Err(_) => String::from_utf8_lossy(page).into_owned(),
    };
    let mut shown = String::new();
    for character in text.trim().chars() {
        // Keeps the message on one line.
        let character = if character.is_control() {
            ' '
        } else {
            character
        };
        if shown.len() + character.len_utf8() > EXCERPT_LIMIT {
            break;
        }
        shown.push(character);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_plain_error_is_shown_and_other_pages_as_they_are() {
        for (page, expected) in [
            (
                r#"{"error": "no webhook has this path"}"#,
                "no webhook has this path",
            ),
            (r#"{"error": "a", "code": 1}"#, "a"),
            (r#"{"error": 1}"#, r#"{"error": 1}"#),
            ("<h1>Away</h1>\n", "<h1>Away</h1>"),
            (r#"{"error": "a\nb\u001b[31m"}"#, "a b [31m"),
            ("a\r\nb", "a  b"),
            ("", ""),
        ] {
            assert_eq!(shown(page.as_bytes()), expected);
        }
        assert_eq!(shown(b"\xff"), "\u{fffd}");
    }

    #[test]
    fn what_is_shown_is_cut_between_characters() {
        let text = "\u{20ac}".repeat(1000);
        let page = format!(r#"{{"error": "{text}"}}"#);
        assert_eq!(shown(page.as_bytes()), "\u{20ac}".repeat(341));
        assert_eq!(shown("x".repeat(2000).as_bytes()).len(), 1024);
    }
}
