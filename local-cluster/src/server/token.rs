//! The bearer token, and the requests that are admitted with and without it.

use std::path::Path;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use lbcf_serving::secret;

use crate::error::Error;

/// The paths that Kubernetes serves without authentication: health and version.
const PUBLIC: [&str; 5] = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

/// A bearer token. `Debug` and errors do not show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token(secret::Token);

impl Token {
    /// A token of visible ASCII characters, as an HTTP header carries them.
    pub fn new(text: impl Into<String>) -> Result<Self, Error> {
        let token = secret::Token::new(text.into().as_bytes());
        token.map(Self).map_err(|why| Error::Token(why.to_owned()))
    }

    /// Reads a token from a file; white space around it is not part of it.
    pub fn from_file(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::File {
            path: path.to_owned(),
            source,
        })?;
        Self::new(text.trim())
    }

    pub(super) fn reveal(&self) -> &str {
        self.0.reveal()
    }

    pub(super) fn matches(&self, given: &str) -> bool {
        self.0.matches(given.as_bytes())
    }
}

/// As on a cluster, a wrong token is refused even on public paths.
pub(super) fn admits(token: &Token, path: &str, headers: &HeaderMap) -> bool {
    match bearer(headers) {
        Some(given) => token.matches(given),
        None => PUBLIC.contains(&path),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?;
    // Without a header, with unreadable bytes, and with another scheme the request is anonymous.
    let mut words = value.to_str().ok()?.trim().split(' ');
    let scheme = words.next()?;
    words
        .next()
        .filter(|token| scheme.eq_ignore_ascii_case("bearer") && !token.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn admitted(path: &str, authorization: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        if let Some(value) = authorization {
            headers.insert(
                AUTHORIZATION,
                HeaderValue::from_bytes(value.as_bytes()).unwrap(),
            );
        }
        admits(&Token::new("right").unwrap(), path, &headers)
    }

    #[test]
    fn the_token_admits_to_everything_and_no_token_to_public_paths() {
        for path in ["/api", "/livez", "/"] {
            assert!(admitted(path, Some("Bearer right")), "{path}");
            assert!(admitted(path, Some("bearer right")), "{path}");
            for wrong in ["Bearer wrong", "Bearer righ", "Bearer rightly"] {
                assert!(!admitted(path, Some(wrong)), "{path} {wrong}");
            }
        }
        for anonymous in [
            None,
            Some(""),
            Some("Bearer"),
            Some("Bearer "),
            Some("Basic right"),
            Some("right"),
            Some("Bearer\u{a0}right"),
            Some("Bearer  right"),
        ] {
            for path in PUBLIC {
                assert!(admitted(path, anonymous), "{path} {anonymous:?}");
            }
            for path in [
                "/",
                "/api",
                "/livez/ping",
                "/version/x",
                "/healthz/..",
                "//livez",
                "/metrics",
                "/openapi/v2",
            ] {
                assert!(!admitted(path, anonymous), "{path} {anonymous:?}");
            }
        }
    }

    #[test]
    fn an_error_does_not_show_the_token() {
        for wrong in ["a b", "a\nb", "ä", &"x".repeat(4097)] {
            let error = Token::new(wrong).unwrap_err().to_string();
            assert!(
                error.starts_with("the token cannot be used: it "),
                "{error}"
            );
            assert!(!error.contains(wrong), "{error}");
        }
    }
}
