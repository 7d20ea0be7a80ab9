//! A client that loses the response to one write, and whose watch does not report the change.

use crate::cluster::Cluster;
use crate::held::Release;
use axum::body::Body as ResponseBody;
use http::{Method, Request, Response, StatusCode};
use kube::Client;
use kube::client::Body;
use local_cluster::InProcess;
use serde_json::json;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
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
    let service = LosingService {
        inner: cluster.service().named(crate::CONTROLLER),
        resource,
        number,
        writes: Arc::default(),
        released,
    };
    (Client::new(service, "default"), Release::new(release))
}

#[derive(Clone)]
struct LosingService {
    inner: InProcess,
    resource: &'static str,
    number: usize,
    writes: Arc<AtomicUsize>,
    released: watch::Receiver<bool>,
}

impl Service<Request<Body>> for LosingService {
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let uri = request.uri();
        let is_of_resource = uri.path().split('/').any(|part| part == self.resource);
        let is_watch = is_of_resource && uri.query().unwrap_or_default().contains("watch=");
        let is_lost = is_of_resource
            && request.method() != Method::GET
            && self.writes.fetch_add(1, Ordering::SeqCst) == self.number;
        let response = self.inner.call(request);
        let mut released = self.released.clone();
        Box::pin(async move {
            if is_watch {
                // An error means that the test has ended.
                let _ = released.wait_for(|released| *released).await;
            }
            let response = response.await?;
            if !is_lost {
                return Ok(response);
            }
            let body = json!({
                "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
                "code": 500, "reason": "InternalError", "message": "lost by the test",
            });
            let mut lost = Response::new(ResponseBody::from(body.to_string()));
            *lost.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            Ok(lost)
        })
    }
}
