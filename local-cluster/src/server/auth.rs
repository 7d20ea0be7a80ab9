//! Which requests are admitted.

use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::token::Token;

/// The paths that Kubernetes serves without authentication: health and version.
const PUBLIC: [&str; 5] = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

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
}
