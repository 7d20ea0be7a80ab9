//! Continue tokens: where a list goes on, and as of when.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::status::ApiError;

/// A place in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Continuation {
    /// The revision of the list's first page.
    pub(super) revision: u64,
    /// The last object of the page before: namespace and name.
    pub(super) after: (String, String),
}

impl Continuation {
    /// The token. Its form is the API server's, but to clients it is opaque.
    pub(super) fn encode(&self) -> String {
        let start = format!("{}/{}\0", self.after.0, self.after.1);
        let token = json!({"v": "meta.k8s.io/v1", "rv": self.revision, "start": start});
        URL_SAFE_NO_PAD.encode(token.to_string())
    }

    /// Reads a token.
    pub(super) fn decode(token: &str) -> Result<Self, ApiError> {
        let refuse = |why: &str| {
            ApiError::bad_request(format!(
                "invalid continue token: continue key is not valid: {why}"
            ))
        };
        let bytes = URL_SAFE_NO_PAD
            .decode(token.trim_end_matches('='))
            .map_err(|_| refuse("illegal base64 data"))?;
        let value: Value = serde_json::from_slice(&bytes).map_err(|_| {
            let first = bytes.first().map_or('?', |b| char::from(*b));
            refuse(&format!(
                "invalid character '{first}' looking for beginning of value"
            ))
        })?;
        let start = value
            .get("start")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let start = start.strip_suffix('\0').unwrap_or(start);
        match (
            value.get("rv").and_then(Value::as_u64),
            start.split_once('/'),
        ) {
            (Some(revision), Some((namespace, name))) => Ok(Self {
                revision,
                after: (namespace.to_owned(), name.to_owned()),
            }),
            _ => Err(refuse("incorrect encoding")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_round_trip_and_junk_is_refused() {
        let place = Continuation {
            revision: 7,
            after: ("ns".into(), "n".into()),
        };
        assert_eq!(Continuation::decode(&place.encode()).unwrap(), place);
        for junk in ["abc", "***", "e30", ""] {
            assert_eq!(
                Continuation::decode(junk).unwrap_err().code(),
                400,
                "{junk}"
            );
        }
    }
}
