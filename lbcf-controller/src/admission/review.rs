//! AdmissionReview of admission.k8s.io/v1, in and out (b65, d25).
//!
//! Read leniently: objects stay JSON, so that one that is not what its kind should be can be
//! answered with what is wrong with it, and an operation that we do not know can be let pass.
//! kube's own types do neither, and write the patch as a list of numbers.

use super::refusal::Denial;
use super::table::KindNames;
use crate::api::GROUP;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use json_patch::Patch;
use serde::{Deserialize, Serialize};
use serde_json::Value;

const API_VERSION: &str = "admission.k8s.io/v1";
const KIND: &str = "AdmissionReview";

/// A question as the API server sends it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Question {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    request: Option<Request>,
}

/// What somebody wants to do.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    pub(super) uid: String,
    kind: GroupVersionKind,
    pub(super) sub_resource: Option<String>,
    pub(super) namespace: Option<String>,
    pub(super) operation: String,
    #[serde(default)]
    pub(super) user_info: UserInfo,
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

/// Who wants to do it.
#[derive(Debug, Default, Deserialize)]
pub(super) struct UserInfo {
    #[serde(default)]
    pub(super) username: String,
}

/// Reads a question about objects of one kind.
///
/// # Errors
/// What is wrong with the body, for whoever sent it: nobody but an API server does.
pub(super) fn read(body: &[u8], asked_about: &KindNames) -> Result<Request, String> {
    let mut json = serde_json::Deserializer::from_slice(body);
    let question: Question = serde_path_to_error::deserialize(&mut json)
        .map_err(|error| format!("not an {KIND}: {error}"))?;
    json.end()
        .map_err(|error| format!("not an {KIND}: {error}"))?;
    if question.kind != KIND || question.api_version != API_VERSION {
        return Err(format!(
            "apiVersion {:?}, kind {:?}: must be {API_VERSION} and {KIND}; admissionReviewVersions in the webhook configuration must be [v1]",
            question.api_version, question.kind
        ));
    }
    let request = question
        .request
        .ok_or_else(|| "request: missing".to_owned())?;
    let GroupVersionKind {
        group,
        version,
        kind,
    } = &request.kind;
    if group != GROUP || *version != asked_about.version || *kind != asked_about.kind {
        return Err(format!(
            "request.kind: {kind} of {group}/{version}: this path is for {} of {GROUP}/{}",
            asked_about.kind, asked_about.version
        ));
    }
    Ok(request)
}

/// What is answered.
#[derive(Debug)]
pub(super) enum Answer {
    /// It may happen as it is.
    Allowed,
    /// It may happen with these changes.
    Patched(Patch),
    /// It may not happen.
    Denied(Denial),
}

impl From<Result<(), Denial>> for Answer {
    fn from(result: Result<(), Denial>) -> Self {
        match result {
            Ok(()) => Self::Allowed,
            Err(denial) => Self::Denied(denial),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Reply<'a> {
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
    status: Option<Status>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<String>,
}

#[derive(Serialize)]
struct Status {
    message: String,
    reason: &'static str,
    code: u16,
}

/// The answer to the question with this uid, as JSON.
///
/// # Errors
/// None that are known of.
pub(super) fn write(uid: &str, answer: &Answer) -> serde_json::Result<Vec<u8>> {
    let (patch, denial) = match answer {
        Answer::Allowed => (None, None),
        Answer::Patched(patch) => (
            Some(BASE64_STANDARD.encode(serde_json::to_vec(patch)?)),
            None,
        ),
        Answer::Denied(denial) => (None, Some(denial)),
    };
    serde_json::to_vec(&Reply {
        api_version: API_VERSION,
        kind: KIND,
        response: Response {
            uid,
            allowed: denial.is_none(),
            status: denial.map(|denial| Status {
                message: denial.told(),
                reason: denial.reason(),
                code: denial.code(),
            }),
            patch_type: patch.is_some().then_some("JSONPatch"),
            patch,
        },
    })
}
