//! A client that loses the answer to one write, and whose watch does not help it out.

use crate::held::Release;
use axum::body::Body as Answer;
use http::{Method, Request, Response, StatusCode};
use kube::Client;
use kube::client::Body;
use local_cluster::{InProcess, LocalCluster};
use serde_json::json;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use tokio::sync::watch;
use tower::Service;

/// A client of the controller's name that lists `resource` (its plural) and hears of no change of
/// it until it is released; and whose write number `number` (from 0) to it is done and answered
/// with an error.
#[must_use]
pub fn lose_answer(
    cluster: &LocalCluster,
    resource: &'static str,
    number: usize,
) -> (Client, Release) {
    let (release, released) = watch::channel(false);
    let service = Losing {
        inner: cluster.service().named("lbcf-controller"),
        resource,
        number,
        writes: Arc::default(),
        released,
    };
    (Client::new(service, "default"), Release::new(release))
}

#[derive(Clone)]
struct Losing {
    inner: InProcess,
    resource: &'static str,
    number: usize,
    writes: Arc<AtomicUsize>,
    released: watch::Receiver<bool>,
}

impl Service<Request<Body>> for Losing {
    type Response = Response<Answer>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let uri = request.uri();
        let is_about = uri.path().split('/').any(|part| part == self.resource);
        let is_watch = is_about && uri.query().unwrap_or_default().contains("watch=");
        let is_lost = is_about
            && request.method() != Method::GET
            && self.writes.fetch_add(1, Ordering::SeqCst) == self.number;
        let answer = self.inner.call(request);
        let mut released = self.released.clone();
        Box::pin(async move {
            if is_watch {
                // Whoever could release it is gone with the test.
                let _ = released.wait_for(|released| *released).await;
            }
            let answer = answer.await?;
            if !is_lost {
                return Ok(answer);
            }
            let body = json!({
                "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
                "code": 500, "reason": "InternalError", "message": "lost by the test",
            });
            let mut lost = Response::new(Answer::from(body.to_string()));
            *lost.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            Ok(lost)
        })
    }
}
