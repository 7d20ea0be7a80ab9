//! A client that is shown one object otherwise than it is, a few times.

use axum::body::Body as Answer;
use http::{Method, Request, Response};
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use local_cluster::{InProcess, LocalCluster};
use serde_json::Value;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use tower::Service;

/// A client of the controller's name. The first `times` answers to a GET of a path with this end
/// are doctored: so an object looks that somebody changes, and changes back, at that moment.
#[must_use]
pub fn doctored(
    cluster: &LocalCluster,
    path: &'static str,
    times: usize,
    doctor: fn(&mut Value),
) -> Client {
    let service = Doctored {
        inner: cluster.service().named("lbcf-controller"),
        path,
        left: Arc::new(AtomicUsize::new(times)),
        doctor,
    };
    Client::new(service, "default")
}

#[derive(Clone)]
struct Doctored {
    inner: InProcess,
    path: &'static str,
    left: Arc<AtomicUsize>,
    doctor: fn(&mut Value),
}

impl Service<Request<Body>> for Doctored {
    type Response = Response<Answer>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let is_meant = request.method() == Method::GET && request.uri().path().ends_with(self.path);
        let take_one = |left: usize| left.checked_sub(1);
        let is_doctored = is_meant
            && self
                .left
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, take_one)
                .is_ok();
        let (answer, doctor) = (self.inner.call(request), self.doctor);
        Box::pin(async move {
            let answer = answer.await?;
            if !is_doctored {
                return Ok(answer);
            }
            let (mut parts, body) = answer.into_parts();
            parts.headers.remove(http::header::CONTENT_LENGTH);
            let body = body.collect().await.expect("a body").to_bytes();
            let mut object = serde_json::from_slice(&body).expect("JSON");
            doctor(&mut object);
            Ok(Response::from_parts(
                parts,
                Answer::from(object.to_string()),
            ))
        })
    }
}
