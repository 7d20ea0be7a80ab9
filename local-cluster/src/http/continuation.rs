//! Continue tokens: the key and the revision at which a list continues.

use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};
use serde_json::{Value, json};

use crate::status::ApiError;

/// As lenient as Go's decoder.
const URL_SAFE_NO_PAD: GeneralPurpose =
    GeneralPurpose::new(&URL_SAFE, NO_PAD.with_decode_allow_trailing_bits(true));
const FORM: &str = "meta.k8s.io/v1";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Continuation {
    /// The revision of the first page; `None` continues at the latest revision.
    pub(super) revision: Option<u64>,
    /// The first key of the page, relative to the namespace of a namespaced list.
    pub(super) start: String,
}

impl Continuation {
    /// Continues right after `key`.
    pub(super) fn behind(key: &str, revision: u64) -> Self {
        Self {
            revision: Some(revision),
            start: format!("{key}\0"),
        }
    }

    /// Encodes the token as the API server does; clients treat it as opaque.
    pub(super) fn encode(&self) -> String {
        let start = format!("/{}", self.start);
        let revision = self.revision.map_or(Value::from(-1), Value::from);
        let token = json!({"v": FORM, "rv": revision, "start": start});
        URL_SAFE_NO_PAD.encode(token.to_string())
    }

    pub(super) fn decode(token: &str) -> Result<Self, ApiError> {
        read(token).map_err(|why| {
            ApiError::bad_request(format!(
                "invalid continue token: continue key is not valid{why}"
            ))
        })
    }
}

/// Decodes a token; the error is what follows the common prefix of the messages.
fn read(token: &str) -> Result<Continuation, String> {
    let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|error| {
        let place = match error {
            base64::DecodeError::InvalidByte(place, _)
            | base64::DecodeError::InvalidLastSymbol(place, _) => place,
            _ => token.len() / 4 * 4,
        };
        format!(": illegal base64 data at input byte {place}")
    })?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| {
        if error.is_eof() {
            return ": unexpected end of JSON input".to_owned();
        }
        let first = bytes.first().map_or('?', |b| char::from(*b));
        format!(": invalid character '{first}' looking for beginning of value")
    })?;
    let form = value.get("v").and_then(Value::as_str).unwrap_or_default();
    if form != FORM {
        return Err(format!(
            ": server does not recognize this encoded version {form}"
        ));
    }
    let revision = value.get("rv").and_then(Value::as_i64).unwrap_or(0);
    if revision == 0 {
        return Err(format!(
            ": incorrect encoded start resourceVersion (version {FORM})"
        ));
    }
    let given = value
        .get("start")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if given.is_empty() {
        return Err(format!(": encoded start key empty (version {FORM})"));
    }
    let start = given.strip_prefix('/').unwrap_or(given);
    // A path traversal.
    if start.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(format!(": {given}"));
    }
    Ok(Continuation {
        revision: u64::try_from(revision).ok(),
        start: start.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_round_trip() {
        let place = Continuation::behind("ns/n", 7);
        assert_eq!(Continuation::decode(&place.encode()).unwrap(), place);
        let anytime = Continuation {
            revision: None,
            ..place
        };
        assert_eq!(Continuation::decode(&anytime.encode()).unwrap(), anytime);
    }

    #[test]
    fn a_token_has_the_form_of_the_api_server() {
        let recorded = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MjQ4LCJzdGFydCI6Ii9yYXctMVx1MDAwMCJ9";
        let place = Continuation::behind("raw-1", 248);
        assert_eq!(Continuation::decode(recorded).unwrap(), place);
    }

    #[test]
    fn junk_is_refused_in_kubernetes_words() {
        let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
        for (token, why) in [
            (
                "abc".to_owned(),
                ": invalid character 'i' looking for beginning of value",
            ),
            ("***".to_owned(), ": illegal base64 data at input byte 0"),
            (encode("{"), ": unexpected end of JSON input"),
            (
                encode("{}"),
                ": server does not recognize this encoded version ",
            ),
            (
                encode(r#"{"v":"v2"}"#),
                ": server does not recognize this encoded version v2",
            ),
            (
                encode(r#"{"v":"meta.k8s.io/v1","start":"/a"}"#),
                ": incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
            ),
            (
                encode(r#"{"v":"meta.k8s.io/v1","rv":3}"#),
                ": encoded start key empty (version meta.k8s.io/v1)",
            ),
            (
                encode(r#"{"v":"meta.k8s.io/v1","rv":3,"start":"/../secrets"}"#),
                ": /../secrets",
            ),
        ] {
            let error = Continuation::decode(&token).unwrap_err();
            let words = format!("invalid continue token: continue key is not valid{why}");
            assert_eq!((error.code(), error.message()), (400, words.as_str()));
        }
    }
}
