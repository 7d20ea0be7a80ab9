//! Requests that are right and not taken.

use super::Defect;
use super::answer::Answer;
use super::call::Call;
use axum::http::{HeaderValue, Method, StatusCode, header};
use lbcf_driver_sdk::webhook::{ALL, Class};

/// Where the webhooks of [`Defect::RedirectAll`] really are.
const MOVED: &str = "/v1";
/// What Express' `json()` takes by default.
const EXPRESS_LIMIT: usize = 100 << 10;

pub(super) fn before(defect: Defect, call: &mut Call) -> Option<Answer> {
    match defect {
        Defect::EnsureLbMissing if call.is("ensureLoadBalancer") => {
            Some(Answer::error(StatusCode::NOT_FOUND, "no such path"))
        }
        Defect::Null500
            if call.is_null("lbAttributes")
                || call.is("ensureLoadBalancer") && call.is_null("attributes") =>
        {
            Some(Answer::crash("'NoneType' object has no attribute 'items'"))
        }
        Defect::NullParameters500 if call.is("ensureBackend") && call.is_null("parameters") => {
            Some(Answer::crash("'NoneType' object is not subscriptable"))
        }
        Defect::StrictUnknownFields => {
            let known = known_fields(call.name())?;
            let unknown = call
                .json()?
                .keys()
                .find(|key| !known.contains(&key.as_str()))?;
            let message = format!("unknown field {unknown:?}");
            Some(Answer::error(StatusCode::BAD_REQUEST, &message))
        }
        Defect::RedirectSlash => {
            let path = call
                .path
                .strip_suffix('/')
                .filter(|path| !path.is_empty())?;
            Some(redirect(StatusCode::MOVED_PERMANENTLY, path))
        }
        Defect::RedirectAll if call.webhook_of_path().is_some() => Some(redirect(
            StatusCode::PERMANENT_REDIRECT,
            &format!("{MOVED}{}", call.path),
        )),
        Defect::RedirectAll => {
            let path = call.path.strip_prefix(MOVED)?.to_owned();
            call.go_to(&path);
            None
        }
        Defect::BodyLimit100k if call.raw().len() > EXPRESS_LIMIT => Some(Answer::error(
            StatusCode::PAYLOAD_TOO_LARGE,
            "request entity too large",
        )),
        Defect::CharsetRefused => {
            let media_type = call.headers.get(header::CONTENT_TYPE)?;
            let has_charset = media_type.as_bytes().contains(&b';');
            let message = "the media type must be application/json";
            has_charset.then(|| Answer::error(StatusCode::UNSUPPORTED_MEDIA_TYPE, message))
        }
        Defect::Healthz404 if is_healthz(call) => {
            Some(Answer::error(StatusCode::NOT_FOUND, "no such path"))
        }
        Defect::HealthzNeedsBody
            if is_healthz(call) && call.method == Method::POST && call.raw().is_empty() =>
        {
            Some(Answer::error(
                StatusCode::BAD_REQUEST,
                "Unexpected end of JSON input",
            ))
        }
        _ => None,
    }
}

/// Whether it is for `healthz`, by whichever method.
pub(super) fn is_healthz(call: &Call) -> bool {
    let webhook = call.webhook_of_path();
    webhook.is_some_and(|webhook| webhook.class == Class::Health)
}

fn redirect(status: StatusCode, to: &str) -> Answer {
    let mut answer = Answer::error(status, "moved");
    if let Ok(to) = HeaderValue::from_str(to) {
        answer.headers.insert(header::LOCATION, to);
    }
    answer
}

/// The fields of each webhook's request, as somebody who wrote a strict schema knew them.
fn known_fields(webhook: &str) -> Option<&'static [&'static str]> {
    debug_assert!(webhook.is_empty() || ALL.iter().any(|it| it.name == webhook));
    Some(match webhook {
        "healthz" => &[],
        "validateLoadBalancer" => &[
            "dryRun",
            "lbSpec",
            "operation",
            "attributes",
            "oldAttributes",
        ],
        "createLoadBalancer" => &["dryRun", "recordID", "retryID", "lbSpec", "attributes"],
        "ensureLoadBalancer" | "deleteLoadBalancer" => {
            &["dryRun", "recordID", "retryID", "lbInfo", "attributes"]
        }
        "validateBackend" => &[
            "dryRun",
            "backendType",
            "lbInfo",
            "operation",
            "parameters",
            "oldParameters",
            "OldParameters",
        ],
        "generateBackendAddr" => &[
            "dryRun",
            "recordID",
            "retryID",
            "lbInfo",
            "lbAttributes",
            "parameters",
            "podBackend",
            "serviceBackend",
        ],
        "ensureBackend" | "deregisterBackend" => &[
            "dryRun",
            "recordID",
            "retryID",
            "lbInfo",
            "backendAddr",
            "parameters",
            "injectedInfo",
        ],
        "judgePodDeregister" => &["dryRun", "notReadyPods"],
        _ => return None,
    })
}
