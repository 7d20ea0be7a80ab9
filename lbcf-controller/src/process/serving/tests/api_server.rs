//! API servers that refuse, hang, or answer nonsense.

use super::fixture::{Cluster, Log, Replica};
use super::replicas::before_a_new_ca;
use crate::process::serving::certificates::PUBLISH_GRACE;
use crate::process::serving::certificates::tests::NOW;
use axum::body::Body;
use axum::http::{Method, Request, Response, StatusCode};
use serde_json::json;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::Instant;
use tower::ServiceExt as _;

/// A replica whose requests of some kind are answered by us.
fn replica<F>(
    cluster: &Cluster,
    is_ours: impl Fn(&Request<kube::client::Body>) -> bool + Clone + Send + Sync + 'static,
    answer: impl Fn() -> F + Clone + Send + Sync + 'static,
) -> Replica
where
    F: Future<Output = Response<Body>> + Send,
{
    let service = cluster.0.service().named("replica");
    let service = tower::service_fn(move |request| {
        let (service, is_ours, answer) = (service.clone(), is_ours(&request), answer.clone());
        async move {
            if is_ours {
                return Ok::<_, Infallible>(answer().await);
            }
            service.oneshot(request).await
        }
    });
    Replica::new(kube::Client::new(service, "default"))
}

pub(super) fn status(code: StatusCode) -> Response<Body> {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code.as_u16(),
        "message": "not you", "reason": "Forbidden",
    });
    let body = Body::from(status.to_string());
    Response::builder().status(code).body(body).unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_api_server_that_hangs_is_not_waited_for() {
    let cluster = Cluster::new().await;
    let mut replica = replica(&cluster, |_| true, std::future::pending);
    let start = Instant::now();
    let error = replica.ca.rotate(NOW).await.unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(11));
    assert_eq!(
        error.to_string(),
        "reading Secret kube-system/certs: no response from the API server within 10s"
    );
}

#[tokio::test]
async fn u47_nothing_is_served_that_could_not_be_stored() {
    let cluster = Cluster::new().await;
    let is_creation = |request: &Request<_>| request.method() == Method::POST;
    let mut replica = replica(&cluster, is_creation, || async {
        status(StatusCode::FORBIDDEN)
    });
    let error = replica.ca.rotate(NOW).await.unwrap_err().to_string();
    assert!(
        error.starts_with("writing Secret kube-system/certs: "),
        "{error}"
    );
    assert!(error.contains("not you"), "{error}");
    assert!(replica.called(&[], NOW).await.is_err());
    assert_eq!(cluster.writes(), 0);
}

#[tokio::test]
async fn u47_what_is_stored_is_served_even_when_it_cannot_be_published() {
    let cluster = Cluster::new().await;
    let is_patch = |request: &Request<_>| {
        request.method() == Method::PATCH && request.uri().path().contains("/validating")
    };
    let mut replica = replica(&cluster, is_patch, || async {
        status(StatusCode::FORBIDDEN)
    });
    let error = replica.ca.rotate(NOW).await.unwrap_err().to_string();
    assert!(
        error.starts_with("publishing the CA certificates: ValidatingWebhookConfiguration lbcf: "),
        "{error}"
    );
    let ca_bundle = cluster.secret("ca.crt").await;
    replica.called(&ca_bundle, NOW).await.unwrap();
    // The one that fails holds up no other.
    assert_eq!(cluster.writes(), 2);
}

#[tokio::test]
async fn u47_a_new_ca_that_may_have_been_removed_meanwhile_starts_its_grace_period_again() {
    let cluster = Cluster::new().await;
    let start = before_a_new_ca(&cluster).await;
    let is_blind = Arc::new(AtomicBool::new(false));
    let blind = Arc::clone(&is_blind);
    let is_ours = move |request: &Request<_>| {
        blind.load(Ordering::Relaxed) && request.uri().path().contains("/validating")
    };
    let mut replica = replica(&cluster, is_ours, || async {
        status(StatusCode::FORBIDDEN)
    });
    replica.rotate(start).await;
    let trusted = cluster.trusted().await;
    let old = replica.called(&trusted, start).await.unwrap();
    is_blind.store(true, Ordering::Relaxed);
    let now = start + PUBLISH_GRACE / 2;
    replica.ca.rotate(now).await.unwrap_err();
    is_blind.store(false, Ordering::Relaxed);
    let now = start + PUBLISH_GRACE;
    replica.rotate(now).await;
    assert_eq!(replica.called(&trusted, now).await.unwrap(), old);
    let now = now + PUBLISH_GRACE;
    replica.rotate(now).await;
    assert_ne!(replica.called(&trusted, now).await.unwrap(), old);
}

#[tokio::test]
async fn u47_an_answer_that_cannot_be_read_is_not_logged() {
    let cluster = Cluster::new().await;
    let log = Log::new();
    let answer = || async { Response::new(Body::from(r#"{"data":{"tls.key":"%secret"}}"#)) };
    let mut replica = replica(&cluster, |_| true, answer);
    let error = replica.ca.rotate(NOW).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "reading Secret kube-system/certs: the API server's response is not such an object"
    );
    assert!(!log.text().contains("%secret"), "{}", log.text());
}
