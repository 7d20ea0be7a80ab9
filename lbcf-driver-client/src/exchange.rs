//! Responses whose head has been received, and their bodies.

use crate::error::CallError;
use ::http::{HeaderMap, Response, StatusCode, header};
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
        let media_type = media_type(self.response.headers());
        let is_unauthorized = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        Err(CallError::Status {
            status: status.as_u16(),
            body: shown(&beginning(self.response, timeout).await, &media_type),
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

/// The media type that a response declares, if it is one.
fn media_type(headers: &HeaderMap) -> String {
    let declared = headers.get(header::CONTENT_TYPE);
    let declared = declared.and_then(|value| value.to_str().ok()).unwrap_or("");
    let essence = declared.split(';').next().unwrap_or_default().trim();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/+.-_".contains(&byte);
    match !essence.is_empty() && essence.len() <= 64 && essence.bytes().all(is_plain) {
        true => essence.to_owned(),
        false => "no media type".to_owned(),
    }
}

/// The text of `{"error": "…"}`. Other pages are described and not quoted: they may be another server's, which the user
/// that wrote the driver's URL must not read.
fn shown(page: &[u8], media_type: &str) -> String {
    #[derive(Deserialize)]
    struct Plain {
        error: String,
    }
    let Ok(Plain { error }) = serde_json::from_slice(page) else {
        let more = if page.len() < ERROR_LIMIT {
            ""
        } else {
            " or more"
        };
        return format!("{media_type}, {} bytes{more}", page.len());
    };
    let mut shown = String::new();
    for character in error.trim().chars() {
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
    fn d106_the_text_of_a_plain_error_is_shown_and_other_pages_are_described() {
        for (page, expected) in [
            (
                r#"{"error": "no webhook has this path"}"#,
                "no webhook has this path",
            ),
            (r#"{"error": "a", "code": 1}"#, "a"),
            (r#"{"error": "a\nb\u001b[31m"}"#, "a b [31m"),
            (r#"{"error": 1}"#, "text/html, 12 bytes"),
            (r#"{"password": "x"}"#, "text/html, 17 bytes"),
            ("<h1>Away</h1>\n", "text/html, 14 bytes"),
            ("", "text/html, 0 bytes"),
        ] {
            assert_eq!(shown(page.as_bytes(), "text/html"), expected);
        }
        let long = vec![b'x'; ERROR_LIMIT];
        assert_eq!(shown(&long, "text/html"), "text/html, 16384 bytes or more");
    }

    #[test]
    fn d106_a_media_type_is_shown_without_its_parameters() {
        for (declared, expected) in [
            ("text/html", "text/html"),
            ("text/html; charset=secret", "text/html"),
            ("a secret", "no media type"),
            ("", "no media type"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, declared.parse().unwrap());
            assert_eq!(media_type(&headers), expected);
        }
        assert_eq!(media_type(&HeaderMap::new()), "no media type");
    }

    #[test]
    fn what_is_shown_is_cut_between_characters() {
        let shown_of = |text: &str| shown(format!(r#"{{"error": "{text}"}}"#).as_bytes(), "");
        assert_eq!(shown_of(&"\u{20ac}".repeat(1000)), "\u{20ac}".repeat(341));
        assert_eq!(shown_of(&"x".repeat(2000)).len(), 1024);
    }
}
