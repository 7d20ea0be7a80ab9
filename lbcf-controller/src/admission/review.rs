//! AdmissionReview of admission.k8s.io/v1, in and out.
//!
//! Decoding is lenient: objects stay JSON, so that one with the wrong shape can be denied with the
//! field that is wrong, and an unknown operation can be allowed. kube's types do neither, and they
//! write the patch as a list of numbers.

use super::denial::{Denial, DenialStatus};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use json_patch::Patch;
use kube::core::ApiResource;
use serde::{Deserialize, Serialize};
use serde_json::Value;

const API_VERSION: &str = "admission.k8s.io/v1";
const KIND: &str = "AdmissionReview";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReviewRequest {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    request: Option<Request>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    pub(super) uid: String,
    kind: GroupVersionKind,
    pub(super) sub_resource: Option<String>,
    pub(super) namespace: Option<String>,
    pub(super) operation: String,
    pub(super) object: Option<Value>,
    pub(super) old_object: Option<Value>,
    pub(super) dry_run: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct GroupVersionKind {
    #[serde(default)]
    group: String,
    version: String,
    kind: String,
}

/// Reads a review of objects of one kind.
///
/// # Errors
/// A message for the sender, if the body is not such a review.
pub(super) fn read(body: &[u8], expected: &ApiResource) -> Result<Request, String> {
    let mut json = serde_json::Deserializer::from_slice(body);
    let invalid = |error: &dyn std::fmt::Display| format!("not an {KIND}: {error}");
    let review: ReviewRequest =
        serde_path_to_error::deserialize(&mut json).map_err(|error| invalid(&error))?;
    json.end().map_err(|error| invalid(&error))?;
    if review.kind != KIND || review.api_version != API_VERSION {
        return Err(format!(
            "apiVersion {:?}, kind {:?}: must be {API_VERSION} and {KIND}; admissionReviewVersions in the webhook configuration must be [v1]",
            review.api_version, review.kind
        ));
    }
    let request = review
        .request
        .ok_or_else(|| "request: missing".to_owned())?;
    let GroupVersionKind {
        group,
        version,
        kind,
    } = &request.kind;
    if *group != expected.group || *version != expected.version || *kind != expected.kind {
        return Err(format!(
            "request.kind: {kind} of {group}/{version}: this path is for {} of {}",
            expected.kind, expected.api_version
        ));
    }
    Ok(request)
}

/// The namespace of a review, which is read before the rest, so that one that waits takes no more memory; empty if there is
/// none.
pub(super) fn namespace(body: &[u8]) -> String {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Review {
        request: Namespaced,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Namespaced {
        namespace: String,
    }
    let review = serde_json::from_slice::<Review>(body);
    review.unwrap_or_default().request.namespace
}

#[derive(Debug)]
pub(super) enum AdmissionDecision {
    Allowed,
    Patched(Patch),
    Denied(Denial),
}

impl From<Result<(), Denial>> for AdmissionDecision {
    fn from(result: Result<(), Denial>) -> Self {
        match result {
            Ok(()) => Self::Allowed,
            Err(denial) => Self::Denied(denial),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReviewResponse<'a> {
    api_version: &'static str,
    kind: &'static str,
    response: Response<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Response<'a> {
    uid: &'a str,
    allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<DenialStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<String>,
}

/// The response to the request with this UID, as JSON.
///
/// # Errors
/// If the patch cannot be written as JSON, which does not happen.
pub(super) fn write(uid: &str, decision: &AdmissionDecision) -> serde_json::Result<Vec<u8>> {
    let (patch, denial) = match decision {
        AdmissionDecision::Allowed => (None, None),
        AdmissionDecision::Patched(patch) => (
            Some(BASE64_STANDARD.encode(serde_json::to_vec(patch)?)),
            None,
        ),
        AdmissionDecision::Denied(denial) => (None, Some(denial)),
    };
    serde_json::to_vec(&ReviewResponse {
        api_version: API_VERSION,
        kind: KIND,
        response: Response {
            uid,
            allowed: denial.is_none(),
            status: denial.map(Denial::status),
            patch_type: patch.is_some().then_some("JSONPatch"),
            patch,
        },
    })
}
