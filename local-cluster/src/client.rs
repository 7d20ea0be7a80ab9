//! In-process access to the API.

use std::convert::Infallible;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use axum::routing::future::RouteFuture;
use http::header::USER_AGENT;
use http::{HeaderValue, Request, Response};
use tower::Service;

/// The API as a tower service for [`kube::Client::new`], to which tests can add layers.
#[derive(Clone, Debug)]
pub struct InProcess {
    router: Router,
    user_agent: HeaderValue,
}

impl InProcess {
    pub(crate) fn new(router: Router, user_agent: &str) -> Self {
        Self {
            router,
            user_agent: HeaderValue::from_str(user_agent)
                .unwrap_or_else(|_| HeaderValue::from_static("in-process")),
        }
    }

    /// The service with another `User-Agent`, by which requests are counted.
    #[must_use]
    pub fn named(self, user_agent: &str) -> Self {
        Self::new(self.router, user_agent)
    }
}

impl Service<Request<kube::client::Body>> for InProcess {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = RouteFuture<Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        // A router is always ready.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<kube::client::Body>) -> Self::Future {
        request
            .headers_mut()
            .entry(USER_AGENT)
            .or_insert_with(|| self.user_agent.clone());
        self.router.call(request.map(Body::new))
    }
}
