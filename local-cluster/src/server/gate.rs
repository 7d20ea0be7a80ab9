//! Who is let in.

use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::token::Token;

/// What Kubernetes tells everybody: whether it is well, and what it is.
const PUBLIC: [&str; 5] = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

/// Whether a request is let in. As on a cluster, who shows a wrong token is told so everywhere.
pub(super) fn admits(token: &Token, path: &str, headers: &HeaderMap) -> bool {
    match shown(headers) {
        Some(given) => token.is(given),
        None => PUBLIC.contains(&path),
    }
}

/// The token that a request shows.
fn shown(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?;
    // No header, a token of unreadable bytes, and another scheme are all one: nobody in particular.
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
    fn the_token_opens_all_and_nothing_opens_a_little() {
        for path in ["/api", "/livez", "/"] {
            assert!(admitted(path, Some("Bearer right")), "{path}");
            assert!(admitted(path, Some("bearer right")), "{path}");
            for wrong in ["Bearer wrong", "Bearer righ", "Bearer rightly"] {
                assert!(!admitted(path, Some(wrong)), "{path} {wrong}");
            }
        }
        for nobody in [
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
                assert!(admitted(path, nobody), "{path} {nobody:?}");
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
                assert!(!admitted(path, nobody), "{path} {nobody:?}");
            }
        }
    }
}
