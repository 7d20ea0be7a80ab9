//! Documents that clients keep: they are sent again only when they have changed.

use axum::body::Body;
use axum::response::Response;
use http::header::{ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, StatusCode};

use super::answer;
use crate::resources::Document;

/// A document, or `304 Not Modified` to who has it.
pub(super) fn answer(
    headers: &HeaderMap,
    document: &Document,
    content_type: &'static str,
) -> Response {
    let mut response = if is_known(headers, &document.tag) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        answer::bytes(StatusCode::OK, content_type, document.body.clone())
    };
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{}\"", document.tag)) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
}

/// Whether the client says that it has the document with this tag.
fn is_known(headers: &HeaderMap, tag: &str) -> bool {
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
    fn tags_are_known_in_all_their_spellings() {
        let knows = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(IF_NONE_MATCH, HeaderValue::from_static(value));
            is_known(&headers, "AB")
        };
        for value in ["\"AB\"", "W/\"AB\"", "\"CD\", \"AB\"", "*"] {
            assert!(knows(value), "{value}");
        }
        for value in ["\"A\"", "\"CD\"", "", "\"ABC\""] {
            assert!(!knows(value), "{value}");
        }
        assert!(!is_known(&HeaderMap::new(), "AB"));
    }
}
