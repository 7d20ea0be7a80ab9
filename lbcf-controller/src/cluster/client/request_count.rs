//! Counts the requests to the API server and their responses.

use crate::process::metrics::Metrics;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{Request, Response};
use std::task::{Context, Poll};
use tower::{Layer, Service};

#[derive(Debug, Clone)]
pub(super) struct RequestCount(pub(super) Metrics);

impl<S> Layer<S> for RequestCount {
    type Service = Counted<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Counted {
            inner,
            metrics: self.0.clone(),
        }
    }
}

#[derive(Debug)]
pub(super) struct Counted<S> {
    inner: S,
    metrics: Metrics,
}

impl<S, B, R> Service<Request<B>> for Counted<S>
where
    S: Service<Request<B>, Response = Response<R>, Future: Send + 'static>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (metrics, method) = (self.metrics.clone(), request.method().clone());
        let response = self.inner.call(request);
        async move {
            let response = response.await;
            let status = response.as_ref().ok().map(Response::status);
            metrics.requested(&method, status);
            response
        }
        .boxed()
    }
}
