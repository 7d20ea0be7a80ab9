//! A client that reads one object with changes made by the test, a few times.

use crate::cluster::Cluster;
use axum::body::Body as ResponseBody;
use http::{Method, Request, Response};
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use serde_json::Value;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
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
    let inner = cluster.service().named(crate::CONTROLLER);
    let left = Arc::new(AtomicUsize::new(times));
    let service = tower::service_fn(move |request: Request<Body>| {
        let is_read = request.method() == Method::GET && request.uri().path().ends_with(path);
        let decrement = |left: usize| left.checked_sub(1);
        let tampers = is_read
            && left
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, decrement)
                .is_ok();
        let response = inner.clone().call(request);
        async move {
            let response = response.await?;
            if !tampers {
                return Ok::<_, Infallible>(response);
            }
            let (mut parts, body) = response.into_parts();
            parts.headers.remove(http::header::CONTENT_LENGTH);
            let body = body.collect().await.expect("a body").to_bytes();
            let mut object = serde_json::from_slice(&body).expect("JSON");
            tamper(&mut object);
            let body = ResponseBody::from(object.to_string());
            Ok(Response::from_parts(parts, body))
        }
    });
    Client::new(service, "default")
}
