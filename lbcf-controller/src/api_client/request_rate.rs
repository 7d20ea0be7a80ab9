//! Limits the rate of requests to the API server with a token bucket in front of the client (b147).
//!
//! The client's requests pass one after the other, so that they wait in order, and a request that
//! is cancelled while it waits takes no token.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
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
            bucket: Bucket::new(*self, Instant::now()),
            has_token: false,
            sleep: None,
        }
    }
}

/// The rule, with the time as an argument. It stores when the bucket would be full instead of the
/// number of tokens.
#[derive(Debug)]
struct Bucket {
    interval: Duration,
    /// There is a token if `full_at` is at most this far ahead.
    tolerance: Duration,
    full_at: Instant,
}

impl Bucket {
    fn new(rate: RequestRate, now: Instant) -> Self {
        let interval = Duration::from_secs(1) / rate.per_second.max(1);
        Self {
            interval,
            tolerance: interval.saturating_mul(rate.burst.saturating_sub(1)),
            full_at: now,
        }
    }

    /// Takes a token, or returns when there will be one.
    fn take(&mut self, now: Instant) -> Result<(), Instant> {
        let ahead = self.full_at.saturating_duration_since(now);
        if ahead > self.tolerance {
            return Err(now + (ahead - self.tolerance));
        }
        self.full_at = self.full_at.max(now) + self.interval;
        Ok(())
    }
}

#[derive(Debug)]
pub(crate) struct RateLimited<S> {
    inner: S,
    bucket: Bucket,
    has_token: bool,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl<S: Service<Request>, Request> Service<Request> for RateLimited<S> {
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

    fn call(&mut self, request: Request) -> Self::Future {
        self.has_token = false;
        self.inner.call(request)
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

    const RATE: RequestRate = RequestRate {
        per_second: 4,
        burst: 3,
    };

    #[test]
    fn b147_a_burst_passes_and_then_so_many_requests_a_second() {
        let began = Instant::now();
        let at = |millis| began + Duration::from_millis(millis);
        let mut bucket = Bucket::new(RATE, began);
        for _ in 0..3 {
            assert_eq!(bucket.take(at(0)), Ok(()));
        }
        assert_eq!(bucket.take(at(0)), Err(at(250)));
        assert_eq!(bucket.take(at(100)), Err(at(250)), "waiting takes no token");
        assert_eq!(bucket.take(at(250)), Ok(()));
        assert_eq!(bucket.take(at(250)), Err(at(500)));
        for _ in 0..3 {
            assert_eq!(bucket.take(at(60_000)), Ok(()), "it never holds more");
        }
        assert_eq!(bucket.take(at(60_000)), Err(at(60_250)));
    }

    #[test]
    fn numbers_at_the_edge_do_not_overflow() {
        let now = Instant::now();
        for (per_second, burst) in [(0, 0), (1, u32::MAX), (u32::MAX, u32::MAX), (u32::MAX, 0)] {
            let mut bucket = Bucket::new(RequestRate { per_second, burst }, now);
            assert_eq!(bucket.take(now), Ok(()));
        }
    }

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
