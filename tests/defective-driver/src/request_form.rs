//! Valid requests that the driver does not accept.

use crate::Defect;
use crate::hook_request::HookRequest;
use crate::reply::Reply;
use axum::http::{HeaderValue, Method, StatusCode, header};
use lbcf_driver_sdk::webhook::Class;

/// The prefix to which [`Defect::RedirectAll`] has moved the webhooks.
const MOVED: &str = "/v1";
/// The limit of Express' `json()`, in bytes.
const EXPRESS_LIMIT: usize = 100 << 10;

pub(crate) fn before(defect: Defect, request: &mut HookRequest) -> Option<Reply> {
    match defect {
        Defect::EnsureLbMissing if request.is("ensureLoadBalancer") => {
            Some(Reply::error(StatusCode::NOT_FOUND, "no such path"))
        }
        Defect::Null500
            if request.is_null("lbAttributes")
                || request.is("ensureLoadBalancer") && request.is_null("attributes") =>
        {
            Some(Reply::crash("'NoneType' object has no attribute 'items'"))
        }
        Defect::NullParameters500
            if request.is("ensureBackend") && request.is_null("parameters") =>
        {
            Some(Reply::crash("'NoneType' object is not subscriptable"))
        }
        Defect::StrictUnknownFields if !request.name().is_empty() => {
            let mut fields = request.json()?.keys();
            let unknown = fields.find(|key| !KNOWN_FIELDS.contains(&key.as_str()))?;
            let message = format!("unknown field {unknown:?}");
            Some(Reply::error(StatusCode::BAD_REQUEST, &message))
        }
        Defect::RedirectSlash => {
            let path = request
                .path
                .strip_suffix('/')
                .filter(|path| !path.is_empty())?;
            Some(redirect(StatusCode::MOVED_PERMANENTLY, path))
        }
        Defect::RedirectAll if request.webhook_of_path().is_some() => Some(redirect(
            StatusCode::PERMANENT_REDIRECT,
            &format!("{MOVED}{}", request.path),
        )),
        Defect::RedirectAll => {
            let path = request.path.strip_prefix(MOVED)?.to_owned();
            request.set_path(&path);
            None
        }
        Defect::BodyLimit100k if request.raw().len() > EXPRESS_LIMIT => Some(Reply::error(
            StatusCode::PAYLOAD_TOO_LARGE,
            "request entity too large",
        )),
        Defect::CharsetRefused => {
            let media_type = request.headers.get(header::CONTENT_TYPE)?;
            let has_charset = media_type.as_bytes().contains(&b';');
            let message = "the media type must be application/json";
            has_charset.then(|| Reply::error(StatusCode::UNSUPPORTED_MEDIA_TYPE, message))
        }
        Defect::TraceRefused => {
            let trace = request.headers.get("traceparent")?;
            let is_read = trace.len() == 55;
            let message = "traceparent cannot be read";
            (!is_read).then(|| Reply::error(StatusCode::BAD_REQUEST, message))
        }
        Defect::Healthz404 if is_healthz(request) => {
            Some(Reply::error(StatusCode::NOT_FOUND, "no such path"))
        }
        Defect::HealthzNeedsBody
            if is_healthz(request)
                && request.method == Method::POST
                && request.raw().is_empty() =>
        {
            Some(Reply::error(
                StatusCode::BAD_REQUEST,
                "Unexpected end of JSON input",
            ))
        }
        _ => None,
    }
}

/// Whether the path is that of `healthz`, with any method.
pub(crate) fn is_healthz(request: &HookRequest) -> bool {
    let webhook = request.webhook_of_path();
    webhook.is_some_and(|webhook| webhook.class == Class::Health)
}

fn redirect(status: StatusCode, to: &str) -> Reply {
    let mut reply = Reply::error(status, "moved");
    if let Ok(to) = HeaderValue::from_str(to) {
        reply.headers.insert(header::LOCATION, to);
    }
    reply
}

/// The request fields that the author of a strict schema knew.
const KNOWN_FIELDS: [&str; 20] = [
    "attributes",
    "backendAddr",
    "backendType",
    "dryRun",
    "injectedInfo",
    "lbAttributes",
    "lbInfo",
    "lbSpec",
    "name",
    "namespace",
    "notReadyPods",
    "oldAttributes",
    "oldParameters",
    "OldParameters",
    "operation",
    "parameters",
    "podBackend",
    "recordID",
    "retryID",
    "serviceBackend",
];
