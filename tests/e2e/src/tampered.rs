//! A client that reads one object with changes made by the test, a few times.

use crate::cluster::Cluster;
use axum::body::Body as ResponseBody;
use http::{Method, Request, Response};
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use local_cluster::InProcess;
use serde_json::Value;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use tower::Service;

/// A client of the controller's name. The first `times` responses to a GET of a path with this
/// suffix are changed by `tamper`: this is what a client reads while another writer changes the
/// object and changes it back.
#[must_use]
pub fn tampered(
    cluster: &Cluster,
    path: &'static str,
    times: usize,
    tamper: fn(&mut Value),
) -> Client {
    let service = TamperingService {
        inner: cluster.service().named(crate::CONTROLLER),
        path,
        left: Arc::new(AtomicUsize::new(times)),
        tamper,
    };
    Client::new(service, "default")
}

#[derive(Clone)]
struct TamperingService {
    inner: InProcess,
    path: &'static str,
    left: Arc<AtomicUsize>,
    tamper: fn(&mut Value),
}

impl Service<Request<Body>> for TamperingService {
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let is_read = request.method() == Method::GET && request.uri().path().ends_with(self.path);
        let decrement = |left: usize| left.checked_sub(1);
        let tampers = is_read
            && self
                .left
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, decrement)
                .is_ok();
        let (response, tamper) = (self.inner.call(request), self.tamper);
        Box::pin(async move {
            let response = response.await?;
            if !tampers {
                return Ok(response);
            }
            let (mut parts, body) = response.into_parts();
            parts.headers.remove(http::header::CONTENT_LENGTH);
            let body = body.collect().await.expect("a body").to_bytes();
            let mut object = serde_json::from_slice(&body).expect("JSON");
            tamper(&mut object);
            Ok(Response::from_parts(
                parts,
                ResponseBody::from(object.to_string()),
            ))
        })
    }
}
