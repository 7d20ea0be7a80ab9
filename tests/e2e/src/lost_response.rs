//! A client that loses the response to one write, and whose watch does not report the change.

use crate::cluster::Cluster;
use crate::held::Release;
use axum::body::Body as ResponseBody;
use http::{Method, Request, Response, StatusCode};
use kube::Client;
use kube::client::Body;
use serde_json::json;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::watch;
use tower::Service;

/// A client of the controller's name whose write number `number` (from 0) to `resource` (its
/// plural) is stored but answered with status 500, and whose watch of the resource reports nothing
/// until it is released.
#[must_use]
pub fn lose_response(
    cluster: &Cluster,
    resource: &'static str,
    number: usize,
) -> (Client, Release) {
    let (release, released) = watch::channel(false);
    let inner = cluster.service().named(crate::CONTROLLER);
    let writes = Arc::new(AtomicUsize::new(0));
    let service = tower::service_fn(move |request: Request<Body>| {
        let uri = request.uri();
        let is_of_resource = uri.path().split('/').any(|part| part == resource);
        let is_watch = is_of_resource && uri.query().unwrap_or_default().contains("watch=");
        let is_lost = is_of_resource
            && request.method() != Method::GET
            && writes.fetch_add(1, Ordering::SeqCst) == number;
        let response = inner.clone().call(request);
        let mut released = released.clone();
        async move {
            if is_watch {
                // An error means that the test has ended.
                let _ = released.wait_for(|released| *released).await;
            }
            let response = response.await?;
            if !is_lost {
                return Ok::<_, Infallible>(response);
            }
            let body = json!({
                "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
                "code": 500, "reason": "InternalError", "message": "lost by the test",
            });
            let mut lost = Response::new(ResponseBody::from(body.to_string()));
            *lost.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            Ok(lost)
        }
    });
    (Client::new(service, "default"), Release::new(release))
}
