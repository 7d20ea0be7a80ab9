//! What a webhook answered: read, checked, and taken for what it says.
//!
//! Every refusal is worded as the API server words it, since these words are what people look for
//! when a webhook of theirs does not work.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::Deserialize;

use crate::object::Object;
use crate::status::Denial;

const KIND: (&str, &str) = ("admission.k8s.io/v1", "AdmissionReview");
/// How much of an error's text is repeated.
const MAX_TEXT: usize = 2048;

/// The answer to a call, as it came.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    pub(super) code: u16,
    pub(super) content_type: String,
    pub(super) body: Bytes,
}

/// What a webhook says of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer {
    /// A patch to make, if any; or why the request is refused.
    pub(super) verdict: Result<Option<Patch>, Denial>,
    pub(super) warnings: Vec<String>,
}

/// A change that a mutating webhook asks for, not looked into yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Patch {
    pub(super) type_name: String,
    pub(super) body: Vec<u8>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review {
    api_version: Option<String>,
    kind: Option<String>,
    response: Option<Response>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    uid: Option<String>,
    allowed: Option<bool>,
    status: Option<Status>,
    patch: Option<String>,
    patch_type: Option<String>,
    warnings: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Status {
    kind: Option<String>,
    message: Option<String>,
    reason: Option<String>,
    code: Option<i64>,
    details: Option<Object>,
}

/// Reads the answer to the review of this uid; the error is why the webhook cannot be relied on.
pub(super) fn read(reply: &Reply, uid: &str, mutating: bool) -> Result<Answer, String> {
    let review = decode(reply).map_err(|why| format!("failed to call webhook: {why}"))?;
    check(review, uid, mutating).map_err(|why| format!("received invalid webhook response: {why}"))
}

fn decode(reply: &Reply) -> Result<Review, String> {
    if !(200..=206).contains(&reply.code) {
        return Err(refusal(reply));
    }
    if reply.body.is_empty() {
        return Err(format!(
            "0-length response with status code: {} and content type: {}",
            reply.code, reply.content_type
        ));
    }
    let mut review: Review = serde_json::from_slice(&reply.body)
        .map_err(|e| format!("couldn't get version/kind; json parse error: {e}"))?;
    if let Some(patch) = review.response.as_mut().and_then(|r| r.patch.as_mut()) {
        // Checked here, as it makes the whole answer unreadable.
        STANDARD
            .decode(patch.as_bytes())
            .map_err(|e| format!("illegal base64 data in response.patch: {e}"))?;
    }
    Ok(review)
}

fn check(review: Review, uid: &str, mutating: bool) -> Result<Answer, String> {
    let response = review.response.ok_or("webhook response was absent")?;
    let given = response.uid.unwrap_or_default();
    if given != uid {
        return Err(format!("expected response.uid={uid:?}, got {given:?}"));
    }
    let api_version = review.api_version.unwrap_or_default();
    let kind = review.kind.unwrap_or_default();
    if (api_version.as_str(), kind.as_str()) != KIND {
        let (group, version) = api_version
            .split_once('/')
            .unwrap_or(("", api_version.as_str()));
        return Err(format!(
            "expected webhook response of {}, Kind={}, got {group}/{version}, Kind={kind}",
            KIND.0, KIND.1
        ));
    }
    let patch = response.patch.unwrap_or_default();
    let patch = match (mutating, patch.is_empty(), response.patch_type) {
        (false, false, _) => Err("validating webhook may not return response.patch".to_owned()),
        (false, true, Some(_)) => {
            Err("validating webhook may not return response.patchType".to_owned())
        }
        (true, false, None) => {
            Err("webhook returned response.patch but not response.patchType".to_owned())
        }
        (true, true, Some(_)) => {
            Err("webhook returned response.patchType but not response.patch".to_owned())
        }
        (true, false, Some(empty)) if empty.is_empty() => {
            Err("webhook returned invalid response.patchType of \"\"".to_owned())
        }
        (true, false, Some(type_name)) => Ok(Some(Patch {
            type_name,
            body: STANDARD.decode(patch).unwrap_or_default(),
        })),
        (_, true, None) => Ok(None),
    }?;
    let verdict = match response.allowed {
        Some(true) => Ok(patch),
        _ => Err(response.status.map(Status::denial).unwrap_or_default()),
    };
    Ok(Answer {
        verdict,
        warnings: response.warnings.unwrap_or_default(),
    })
}

impl Status {
    fn denial(self) -> Denial {
        Denial {
            message: self.message.unwrap_or_default(),
            reason: self.reason.unwrap_or_default(),
            code: self.code.unwrap_or_default(),
            details: self.details,
        }
    }
}

/// An answer that is none: what its status code and its text say.
fn refusal(reply: &Reply) -> String {
    if let Ok(status) = serde_json::from_slice::<Status>(&reply.body)
        && status.kind.as_deref() == Some("Status")
        && let Some(message) = status.message
    {
        return message;
    }
    let plain = reply.content_type.is_empty() || reply.content_type.starts_with("text/");
    let text: String = if plain {
        let text = String::from_utf8_lossy(&reply.body);
        text.trim().chars().take(MAX_TEXT).collect()
    } else {
        "unknown".to_owned()
    };
    match reply.code {
        400 => "the server rejected our request for an unknown reason".to_owned(),
        401 => "the server has asked for the client to provide credentials".to_owned(),
        403 => text,
        404 => "the server could not find the requested resource".to_owned(),
        405 => "the server does not allow this method on the requested resource".to_owned(),
        409 => "the server reported a conflict".to_owned(),
        422 => "the server rejected our request due to an error in our request".to_owned(),
        429 => {
            "the server has received too many requests and has asked us to try again later"
                .to_owned()
        }
        503 => "the server is currently unable to handle the request".to_owned(),
        504 => "the server was unable to return a response in the time allotted, but may still be processing the request".to_owned(),
        500.. => {
            format!("an error on the server ({text:?}) has prevented the request from succeeding")
        }
        code => format!(
            "the server responded with the status code {code} but did not return more information"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn reply(code: u16, content_type: &str, body: impl Into<Bytes>) -> Reply {
        Reply {
            code,
            content_type: content_type.to_owned(),
            body: body.into(),
        }
    }

    fn answered(response: Value, mutating: bool) -> Result<Answer, String> {
        let mut review = json!({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "response": {"uid": "u", "allowed": true},
        });
        json_patch::merge(&mut review, &response);
        read(
            &reply(200, "application/json", review.to_string()),
            "u",
            mutating,
        )
    }

    #[test]
    fn a_verdict_is_read() {
        let answer = answered(json!({"response": {"warnings": ["w"]}}), false).unwrap();
        assert_eq!(
            (answer.verdict, answer.warnings),
            (Ok(None), vec!["w".to_owned()])
        );
        let denied = json!({"response": {"allowed": false, "status": {
            "message": "m", "reason": "r", "code": 418, "details": {"name": "n"},
        }}});
        let denial = answered(denied, false).unwrap().verdict.unwrap_err();
        assert_eq!(
            (
                denial.message.as_str(),
                denial.reason.as_str(),
                denial.code,
                denial.details.is_some()
            ),
            ("m", "r", 418, true)
        );
        // Who does not say yes says no.
        let silent = answered(json!({"response": {"allowed": null}}), false).unwrap();
        assert_eq!(silent.verdict, Err(Denial::default()));
        let patch = json!({"response": {"patch": "W10=", "patchType": "JSONPatch"}});
        let patch = answered(patch, true).unwrap().verdict.unwrap().unwrap();
        assert_eq!(
            (patch.type_name.as_str(), patch.body.as_slice()),
            ("JSONPatch", b"[]".as_slice())
        );
    }

    #[test]
    fn what_is_no_answer_is_refused_with_the_reason() {
        let invalid = "received invalid webhook response: ";
        for (change, mutating, wanted) in [
            (
                json!({"response": null}),
                false,
                "webhook response was absent",
            ),
            (
                json!({"response": {"uid": "v"}}),
                false,
                "expected response.uid=\"u\", got \"v\"",
            ),
            (
                json!({"response": {"uid": null}}),
                true,
                "expected response.uid=\"u\", got \"\"",
            ),
            (
                json!({"apiVersion": null, "kind": null}),
                false,
                "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=",
            ),
            (
                json!({"apiVersion": "admission.k8s.io/v1beta1"}),
                false,
                "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1beta1, Kind=AdmissionReview",
            ),
            (
                json!({"response": {"patch": "W10=", "patchType": "JSONPatch"}}),
                false,
                "validating webhook may not return response.patch",
            ),
            (
                json!({"response": {"patchType": "JSONPatch"}}),
                false,
                "validating webhook may not return response.patchType",
            ),
            (
                json!({"response": {"patch": "W10="}}),
                true,
                "webhook returned response.patch but not response.patchType",
            ),
            (
                json!({"response": {"patchType": "JSONPatch"}}),
                true,
                "webhook returned response.patchType but not response.patch",
            ),
            (
                json!({"response": {"patch": "W10=", "patchType": ""}}),
                true,
                "webhook returned invalid response.patchType of \"\"",
            ),
        ] {
            let refused = answered(change.clone(), mutating).unwrap_err();
            assert_eq!(refused, format!("{invalid}{wanted}"), "{change}");
        }
    }

    #[test]
    fn what_cannot_be_read_counts_as_a_failed_call() {
        let plain = "text/plain; charset=utf-8";
        let status = json!({"kind": "Status", "message": "busy"}).to_string();
        for (reply, wanted) in [
            (
                reply(200, "", ""),
                "0-length response with status code: 200 and content type: ",
            ),
            (
                reply(200, "", "{"),
                "couldn't get version/kind; json parse error: EOF while parsing",
            ),
            (reply(200, "", "[]"), "couldn't get version/kind; json"),
            (
                reply(200, "", r#"{"response": {"allowed": "yes"}}"#),
                "couldn't get version/kind; json parse error: invalid type: string \"yes\", expected a boolean",
            ),
            (
                reply(200, "", r#"{"response": {"patch": "?"}}"#),
                "illegal base64 data in response.patch",
            ),
            (
                reply(404, plain, "nothing here"),
                "the server could not find the requested resource",
            ),
            (
                reply(500, plain, "it \"broke\"\n"),
                "an error on the server (\"it \\\"broke\\\"\") has prevented the request from succeeding",
            ),
            (
                reply(502, "text/html", "gateway"),
                "an error on the server (\"gateway\") has prevented",
            ),
            (
                reply(500, "application/json", "{}"),
                "an error on the server (\"unknown\") has prevented",
            ),
            (reply(503, "application/json", status), "busy"),
            (
                reply(302, "", ""),
                "the server responded with the status code 302 but did not return more",
            ),
        ] {
            let refused = read(&reply, "u", true).unwrap_err();
            let wanted = format!("failed to call webhook: {wanted}");
            assert!(refused.starts_with(&wanted), "{refused}");
        }
    }

    #[test]
    fn nothing_that_is_answered_ends_the_process() {
        let body = br#"{"apiVersion":"admission.k8s.io/v1","response":{"uid":"u","patch":"W10="}}"#;
        for end in 0..body.len() {
            let cut = Bytes::copy_from_slice(&body[..end]);
            assert!(read(&reply(200, "", cut), "u", true).is_err());
        }
        let deep = "[".repeat(100_000);
        assert!(read(&reply(200, "", deep), "u", true).is_err());
        assert!(read(&reply(200, "", vec![0xff; 9]), "u", true).is_err());
    }
}
