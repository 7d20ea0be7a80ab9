//! An answer whose head is there, and its body, which may be anything.

use super::Body;
use super::error::CallError;
use ::http::{HeaderMap, Response, StatusCode};
use bytes::Bytes;
use http_body_util::BodyExt;
use serde::Deserialize;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// How much of an error page is worth quoting.
const EXCERPT_LIMIT: usize = 1 << 10;
/// How much of it is read, to find the text in it.
const ERROR_LIMIT: usize = 16 << 10;
/// How long an error page is waited for: the status says enough.
const ERROR_PATIENCE: Duration = Duration::from_secs(1);

/// What a driver answered, whatever it is.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RawAnswer {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
    /// How long it took until the head of the answer was there, connecting included.
    pub head_after: Duration,
    /// How long it took until the whole answer was there.
    pub body_after: Duration,
}

/// An answer whose head is there, within a time for the whole call.
pub(super) struct Answer {
    response: Response<Body>,
    limit: Limit,
    head_after: Duration,
}

/// How long a call may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    began: Instant,
    timeout: Duration,
}

impl Limit {
    pub(super) fn new(timeout: Duration) -> Self {
        Self {
            began: Instant::now(),
            timeout,
        }
    }

    fn remaining(self) -> Duration {
        self.timeout.saturating_sub(self.began.elapsed())
    }

    /// What comes of a part of the call, if it comes in time.
    pub(super) async fn keep<T>(
        self,
        part: impl Future<Output = Result<T, CallError>>,
    ) -> Result<T, CallError> {
        let after = self.timeout;
        timeout(self.remaining(), part)
            .await
            .unwrap_or(Err(CallError::Timeout { after }))
    }
}

impl Answer {
    pub(super) fn new(response: Response<Body>, limit: Limit) -> Self {
        Self {
            response,
            limit,
            head_after: limit.began.elapsed(),
        }
    }

    /// The body of an answer with status 200. `hint` is added to the error about a rejection.
    pub(super) async fn accepted(
        self,
        size_limit: usize,
        hint: Option<&'static str>,
    ) -> Result<Bytes, CallError> {
        let status = self.response.status();
        if status == StatusCode::OK {
            return self.limit.keep(whole(self.response, size_limit)).await;
        }
        let patience = self.limit.remaining().min(ERROR_PATIENCE);
        let is_refusal = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        Err(CallError::Status {
            status: status.as_u16(),
            body: shown(&beginning(self.response, patience).await),
            hint: hint.filter(|_| is_refusal),
        })
    }

    /// The answer as it is.
    pub(super) async fn raw(self, size_limit: usize) -> Result<RawAnswer, CallError> {
        let status = self.response.status().as_u16();
        let headers = self.response.headers().clone();
        let body = self.limit.keep(whole(self.response, size_limit)).await?;
        Ok(RawAnswer {
            status,
            headers,
            body,
            head_after: self.head_after,
            body_after: self.limit.began.elapsed(),
        })
    }
}

async fn whole(response: Response<Body>, limit: usize) -> Result<Bytes, CallError> {
    let mut body = response.into_body();
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.map_err(CallError::broken)?.into_data() {
            if data.len() > limit - whole.len() {
                return Err(CallError::TooLarge { limit });
            }
            whole.extend_from_slice(&data);
        }
    }
    Ok(whole.into())
}

/// The beginning of an error page, as far as it comes soon.
async fn beginning(response: Response<Body>, patience: Duration) -> Vec<u8> {
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
    // Whether it ended or was cut off, what is there is there.
    let _ = timeout(patience, reading).await;
    beginning
}

/// What people read of an error page: the text of `{"error": "…"}`, or else its beginning.
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
        // A line in a log stays one line.
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
