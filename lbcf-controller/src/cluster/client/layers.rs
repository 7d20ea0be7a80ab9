//! Layers of the client: the rate of its requests, which a token bucket limits, and their number as a metric.
//!
//! The requests pass the bucket one after the other, so that they wait in order, and a request that is cancelled while
//! it waits takes no token.

use crate::process::metrics::Metrics;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{Request, Response};
use lbcf_serving::token_bucket::TokenBucket;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::time::{Instant, Sleep, sleep_until};
use tower::{Layer, Service};

/// A bucket of `burst` tokens that gets `per_second` new ones a second; each request takes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestRate {
    pub(crate) per_second: u32,
    pub(crate) burst: u32,
}

impl<S> Layer<S> for RequestRate {
    type Service = RateLimited<S>;

    fn layer(&self, inner: S) -> Self::Service {
        RateLimited {
            inner,
            bucket: TokenBucket::new(self.per_second, self.burst, Instant::now()),
            has_token: false,
            sleep: None,
        }
    }
}

#[derive(Debug)]
pub(crate) struct RateLimited<S> {
    inner: S,
    bucket: TokenBucket,
    has_token: bool,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl<S: Service<R>, R> Service<R> for RateLimited<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        while !self.has_token {
            if let Some(sleep) = &mut self.sleep {
                ready!(sleep.as_mut().poll(context));
                self.sleep = None;
            }
            match self.bucket.take(Instant::now()) {
                Ok(()) => self.has_token = true,
                Err(at) => self.sleep = Some(Box::pin(sleep_until(at))),
            }
        }
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: R) -> Self::Future {
        self.has_token = false;
        self.inner.call(request)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use futures::future::join_all;
    use k8s_openapi::api::core::v1::Namespace;
    use kube::api::Api;
    use kube::client::ClientBuilder;
    use local_cluster::{LocalCluster, LocalClusterOptions};
    use std::time::Duration;

    const RATE: RequestRate = RequestRate {
        per_second: 4,
        burst: 3,
    };

    #[tokio::test(start_paused = true)]
    async fn b147_a_clients_requests_wait_for_tokens() {
        let cluster = LocalCluster::start(LocalClusterOptions::default())
            .await
            .unwrap();
        let client = ClientBuilder::new(cluster.service(), "default")
            .with_layer(&RATE)
            .build();
        let namespaces: Api<Namespace> = Api::all(client);
        let began = Instant::now();
        // Cancelled requests take no token.
        let cancelled = tokio::time::timeout(
            Duration::from_millis(10),
            join_all((0..50).map(|_| namespaces.get("default"))),
        );
        assert!(cancelled.await.is_err());
        let responses = join_all((0..8).map(|_| namespaces.get("default"))).await;
        assert!(responses.iter().all(Result::is_ok));
        let took = began.elapsed();
        let range = Duration::from_millis(1900)..=Duration::from_millis(2400);
        assert!(range.contains(&took), "{took:?}");
    }
}
