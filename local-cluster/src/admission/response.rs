//! Reads and checks the response of a webhook, and applies the patch of a mutating one.
//!
//! The error messages are those of the API server, which users search for when a webhook fails.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use json_patch::PatchOperation;
use serde::Deserialize;
use serde_json::Value;

use super::webhook::Webhook;
use crate::object::Object;
use crate::patch::Patch;
use crate::status::{ApiError, Denial};

const KIND: (&str, &str) = ("admission.k8s.io/v1", "AdmissionReview");
/// The longest text of an error that a message repeats, in characters.
const MAX_TEXT: usize = 2048;

#[derive(Clone, Debug)]
pub(super) struct RawResponse {
    pub(super) code: u16,
    pub(super) content_type: String,
    pub(super) body: Bytes,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct WebhookResponse {
    /// The patch to apply, if any; or why the request is denied.
    pub(super) verdict: Result<Option<WebhookPatch>, Denial>,
    pub(super) warnings: Vec<String>,
}

/// The patch of a mutating webhook, not parsed yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WebhookPatch {
    pub(super) type_name: String,
    pub(super) body: Vec<u8>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AdmissionReview {
    api_version: Option<String>,
    kind: Option<String>,
    response: Option<AdmissionResponse>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AdmissionResponse {
    uid: Option<String>,
    allowed: Option<bool>,
    status: Option<Denial>,
    #[serde(default, deserialize_with = "bytes")]
    patch: Vec<u8>,
    patch_type: Option<String>,
    warnings: Option<Vec<String>>,
}

/// Reads the response to the review with this uid. The error is for the webhook's failure policy.
pub(super) fn read(
    reply: &RawResponse,
    uid: &str,
    mutating: bool,
) -> Result<WebhookResponse, String> {
    let review = decode(reply).map_err(|why| format!("failed to call webhook: {why}"))?;
    check(review, uid, mutating).map_err(|why| format!("received invalid webhook response: {why}"))
}

fn decode(reply: &RawResponse) -> Result<AdmissionReview, String> {
    if !(200..=206).contains(&reply.code) {
        return Err(http_error(reply));
    }
    if reply.body.is_empty() {
        return Err(format!(
            "0-length response with status code: {} and content type: {}",
            reply.code, reply.content_type
        ));
    }
    serde_json::from_slice(&reply.body)
        .map_err(|e| format!("couldn't get version/kind; json parse error: {e}"))
}

/// Reads base64, or the list of numbers that webhooks with kube-rs send: Go accepts both for bytes.
fn bytes<'de, D: serde::Deserializer<'de>>(json: D) -> Result<Vec<u8>, D::Error> {
    match Value::deserialize(json)? {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => STANDARD
            .decode(text)
            .map_err(|e| serde::de::Error::custom(format!("illegal base64 data: {e}"))),
        list => Vec::deserialize(list).map_err(serde::de::Error::custom),
    }
}

fn check(review: AdmissionReview, uid: &str, mutating: bool) -> Result<WebhookResponse, String> {
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
    let patch = match (response.patch.is_empty(), response.patch_type) {
        (true, None) => None,
        _ if !mutating => {
            return Err("validating webhook may not return response.patch or patchType".to_owned());
        }
        (false, Some(type_name)) if !type_name.is_empty() => Some(WebhookPatch {
            type_name,
            body: response.patch,
        }),
        _ => {
            let why =
                "webhook must return both or neither of response.patch and response.patchType";
            return Err(why.to_owned());
        }
    };
    let verdict = match response.allowed {
        Some(true) => Ok(patch),
        _ => Err(response.status.unwrap_or_default()),
    };
    Ok(WebhookResponse {
        verdict,
        warnings: response.warnings.unwrap_or_default(),
    })
}

/// The message for an HTTP status code that is not 2xx.
fn http_error(reply: &RawResponse) -> String {
    if let Ok(status) = serde_json::from_slice::<Denial>(&reply.body)
        && status.kind.as_deref() == Some("Status")
        && let Some(message) = status.message
    {
        return message;
    }
    let text = String::from_utf8_lossy(&reply.body);
    let text: String = text.trim().chars().take(MAX_TEXT).collect();
    format!(
        "the server responded with the status code {}: {text:?}",
        reply.code
    )
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum WebhookFailure {
    /// The call failed, or the response is invalid: the failure policy decides.
    CallFailed(String),
    /// The webhook denied the request, or its patch cannot be applied.
    Rejected(ApiError),
}

impl WebhookFailure {
    /// The error for the client; `None` if the failure policy ignores the failure.
    pub(super) fn resolve(self, webhook: &Webhook, out_of_time: bool) -> Option<ApiError> {
        let why = match self {
            Self::Rejected(error) => return Some(error),
            Self::CallFailed(why) => format!("failed calling webhook {:?}: {why}", webhook.name),
        };
        if !webhook.ignores_failure {
            return Some(ApiError::internal_because(&why));
        }
        tracing::warn!("ignoring a webhook failure, by its failure policy: {why}");
        out_of_time.then(ApiError::out_of_time)
    }
}

/// The object after the patch; `None` if the patch is empty.
pub(super) fn patched(
    mut object: Object,
    patch: &WebhookPatch,
) -> Result<Option<Object>, WebhookFailure> {
    let undecodable = |why: &str| {
        let text = format!("received undecodable patch in webhook response: {why}");
        WebhookFailure::CallFailed(text)
    };
    if patch.type_name != "JSONPatch" {
        let why = format!("unsupported patch type {:?}", patch.type_name);
        return Err(WebhookFailure::CallFailed(why));
    }
    let body = serde_json::from_slice(&patch.body).map_err(|e| undecodable(&e.to_string()))?;
    let operations = match Patch::json(body).map_err(|e| undecodable(e.message()))? {
        Patch::Json(operations) => operations.into_iter().collect::<Option<Vec<_>>>(),
        Patch::Merge(_) | Patch::Strategic(_) => return Ok(None),
    };
    let operations = operations.ok_or_else(|| undecodable("unexpected kind of operation"))?;
    if operations.is_empty() {
        return Ok(None);
    }
    for operation in operations {
        // One at a time, so that the error can name the operation.
        let why = operation_error(&operation);
        let applied = Patch::Json(vec![Some(operation)]).apply(object);
        object = applied.map_err(|_| WebhookFailure::Rejected(ApiError::internal_because(&why)))?;
    }
    Ok(Some(object))
}

/// The message for an operation that cannot be applied.
fn operation_error(operation: &PatchOperation) -> String {
    let path = operation.path().as_str();
    let what = match operation {
        PatchOperation::Test(_) => return format!("testing value {path} failed: test failed"),
        PatchOperation::Add(_) => "add",
        PatchOperation::Remove(_) => "remove",
        PatchOperation::Replace(_) => "replace",
        PatchOperation::Move(_) => "move",
        PatchOperation::Copy(_) => "copy",
    };
    format!("{what} operation does not apply: doc is missing path: {path:?}: missing value")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::webhook::webhooks_of;
    use crate::object::object;
    use crate::store::Stored;
    use serde_json::{Value, json};

    fn reply(code: u16, content_type: &str, body: impl Into<Bytes>) -> RawResponse {
        RawResponse {
            code,
            content_type: content_type.to_owned(),
            body: body.into(),
        }
    }

    fn read_response(response: Value, mutating: bool) -> Result<WebhookResponse, String> {
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
    fn a_decision_is_read() {
        let response = read_response(json!({"response": {"warnings": ["w"]}}), false).unwrap();
        assert_eq!(
            (response.verdict, response.warnings),
            (Ok(None), vec!["w".to_owned()])
        );
        let denied = json!({"response": {"allowed": false, "status": {
            "message": "m", "reason": "r", "code": 418, "details": {"name": "n"},
        }}});
        let denial = read_response(denied, false).unwrap().verdict.unwrap_err();
        let details = denial.details.map(Value::Object);
        assert_eq!(
            (denial.message.as_deref(), denial.reason.as_deref()),
            (Some("m"), Some("r"))
        );
        assert_eq!(
            (denial.code, details),
            (Some(418), Some(json!({"name": "n"})))
        );
        // Without `allowed` the request is denied.
        let silent = read_response(json!({"response": {"allowed": null}}), false).unwrap();
        assert_eq!(silent.verdict, Err(Denial::default()));
        for patch in [json!("W10="), json!([91, 93])] {
            let patch = json!({"response": {"patch": patch, "patchType": "JSONPatch"}});
            let patch = read_response(patch, true)
                .unwrap()
                .verdict
                .unwrap()
                .unwrap();
            assert_eq!(
                (patch.type_name.as_str(), patch.body.as_slice()),
                ("JSONPatch", b"[]".as_slice())
            );
        }
    }

    #[test]
    fn invalid_responses_are_rejected_with_the_reason() {
        let invalid = "received invalid webhook response: ";
        for (change, mutating, expected) in [
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
                "validating webhook may not return response.patch or patchType",
            ),
            (
                json!({"response": {"patchType": "JSONPatch"}}),
                false,
                "validating webhook may not return response.patch or patchType",
            ),
            (
                json!({"response": {"patch": "W10="}}),
                true,
                "webhook must return both or neither of response.patch and response.patchType",
            ),
            (
                json!({"response": {"patchType": "JSONPatch"}}),
                true,
                "webhook must return both or neither of response.patch and response.patchType",
            ),
            (
                json!({"response": {"patch": "W10=", "patchType": ""}}),
                true,
                "webhook must return both or neither of response.patch and response.patchType",
            ),
        ] {
            let error = read_response(change.clone(), mutating).unwrap_err();
            assert_eq!(error, format!("{invalid}{expected}"), "{change}");
        }
    }

    #[test]
    fn undecodable_responses_count_as_failed_calls() {
        let status = json!({"kind": "Status", "message": "busy"}).to_string();
        for (reply, expected) in [
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
                "couldn't get version/kind; json parse error: illegal base64 data: ",
            ),
            (
                reply(500, "text/plain", "it \"broke\"\n"),
                "the server responded with the status code 500: \"it \\\"broke\\\"\"",
            ),
            (reply(503, "application/json", status), "busy"),
        ] {
            let error = read(&reply, "u", true).unwrap_err();
            let expected = format!("failed to call webhook: {expected}");
            assert!(error.starts_with(&expected), "{error}");
        }
    }

    #[test]
    fn no_response_causes_a_panic() {
        let body = br#"{"apiVersion":"admission.k8s.io/v1","response":{"uid":"u","patch":"W10="}}"#;
        for end in 0..body.len() {
            let cut = Bytes::copy_from_slice(&body[..end]);
            assert!(read(&reply(200, "", cut), "u", true).is_err());
        }
        let deep = "[".repeat(100_000);
        assert!(read(&reply(200, "", deep), "u", true).is_err());
        assert!(read(&reply(200, "", vec![0xff; 9]), "u", true).is_err());
    }

    fn apply(body: &str, type_name: &str) -> Result<Option<Object>, WebhookFailure> {
        let before = object(json!({"metadata": {"name": "a"}, "spec": {"n": 1}}));
        let patch = WebhookPatch {
            type_name: type_name.to_owned(),
            body: body.as_bytes().to_vec(),
        };
        patched(before, &patch)
    }

    #[test]
    fn operations_change_the_object_in_order() {
        let after = apply(
            r#"[{"op":"replace","path":"/spec/n","value":2},{"op":"add","path":"/spec/m","value":3}]"#,
            "JSONPatch",
        );
        assert_eq!(after.unwrap().unwrap()["spec"], json!({"n": 2, "m": 3}));
        assert_eq!(apply("[]", "JSONPatch"), Ok(None));
    }

    #[test]
    fn operations_that_do_not_fit_are_named() {
        for (body, expected) in [
            (
                r#"[{"op":"add","path":"/metadata/labels/a","value":"b"}]"#,
                "add operation does not apply: doc is missing path: \"/metadata/labels/a\": missing value",
            ),
            (
                r#"[{"op":"remove","path":"/spec/x"}]"#,
                "remove operation does not apply: doc is missing path: \"/spec/x\": missing value",
            ),
            (
                r#"[{"op":"test","path":"/spec/n","value":2}]"#,
                "testing value /spec/n failed: test failed",
            ),
        ] {
            let error = apply(body, "JSONPatch").unwrap_err();
            assert_eq!(
                error,
                WebhookFailure::Rejected(ApiError::internal_because(expected))
            );
        }
    }

    #[test]
    fn invalid_patches_are_rejected() {
        for body in ["", "{", "{}", r#"[{"op":"grow"}]"#, "[1]"] {
            let error = apply(body, "JSONPatch").unwrap_err();
            let WebhookFailure::CallFailed(why) = error else {
                panic!("{body}")
            };
            assert!(why.starts_with("received undecodable patch in webhook response: "));
        }
        let error = apply("[]", "MergePatch").unwrap_err();
        assert_eq!(
            error,
            WebhookFailure::CallFailed("unsupported patch type \"MergePatch\"".to_owned())
        );
    }

    #[test]
    fn the_failure_policy_decides_only_about_calls_that_failed() {
        let webhooks = json!([
            {"name": "a.x.y", "failurePolicy": "Fail", "clientConfig": {"url": "https://h"}},
            {"name": "b.x.y", "failurePolicy": "Ignore", "clientConfig": {"url": "https://h"}},
        ]);
        let configuration = json!({"metadata": {"name": "c"}, "webhooks": webhooks});
        let webhooks = webhooks_of(&Stored::new(object(configuration), 1));
        let failed = || WebhookFailure::CallFailed("why".to_owned());
        let error = failed().resolve(&webhooks[0], false).unwrap();
        assert_eq!(
            error.message(),
            "Internal error occurred: failed calling webhook \"a.x.y\": why"
        );
        assert_eq!(failed().resolve(&webhooks[1], false), None);
        // The request has no time left for other webhooks.
        assert_eq!(failed().resolve(&webhooks[1], true).unwrap().code(), 504);
        let denied = ApiError::bad_request("no");
        let resolved = WebhookFailure::Rejected(denied.clone()).resolve(&webhooks[1], false);
        assert_eq!(resolved, Some(denied));
    }
}
