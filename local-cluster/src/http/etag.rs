//! Documents that clients cache and revalidate by entity tag.

use axum::body::Body;
use axum::response::Response;
use http::header::{ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, StatusCode};

use super::response;
use crate::resources::Document;

/// The document, or 304 if the client has it.
pub(super) fn respond(
    headers: &HeaderMap,
    document: &Document,
    content_type: &'static str,
) -> Response {
    let mut response = if etag_matches(headers, &document.tag) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        response::bytes(StatusCode::OK, content_type, document.body.clone())
    };
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{}\"", document.tag)) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
}

fn etag_matches(headers: &HeaderMap, tag: &str) -> bool {
    headers
        .get_all(IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|one| one.trim().trim_start_matches("W/"))
        .any(|one| one == "*" || one.trim_matches('"') == tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn etags_match_in_every_notation() {
        let matches = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(IF_NONE_MATCH, HeaderValue::from_static(value));
            etag_matches(&headers, "AB")
        };
        for value in ["\"AB\"", "W/\"AB\"", "\"CD\", \"AB\"", "*"] {
            assert!(matches(value), "{value}");
        }
        for value in ["\"A\"", "\"CD\"", "", "\"ABC\""] {
            assert!(!matches(value), "{value}");
        }
        assert!(!etag_matches(&HeaderMap::new(), "AB"));
    }
}
