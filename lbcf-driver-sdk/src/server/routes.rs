//! The table of webhooks as routes.

use super::answer;
use super::driver_router::Context;
use super::reject::{Answer, not_found, wrong_method};
use crate::RawDriver;
use crate::webhook::{self, for_each_webhook};
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Method, Uri};
use axum::routing::{MethodRouter, post};
use std::sync::Arc;

/// One row's handler, by its class.
macro_rules! handler {
    (Health, $hook:ident, $method:ident) => {{
        let handler = handler!(health, $hook, $method, D);
        // Probes of load balancers and of kubelet know GET only.
        post(handler).get(handler)
    }};
    (Verdict, $hook:ident, $method:ident) => {
        post(handler!(verdict, $hook, $method, D))
    };
    (Operation, $hook:ident, $method:ident) => {
        post(handler!(operation, $hook, $method, D))
    };
    ($answer:ident, $hook:ident, $method:ident, $driver:ident) => {
        |State(context): State<Arc<Context<$driver>>>, body: Body| {
            answer::$answer(
                webhook::$hook,
                context,
                body,
                |driver: Arc<$driver>, request| async move { driver.$method(request).await },
            )
        }
    };
}

macro_rules! routes {
    ($($(#[$doc:meta])* $hook:ident($name:literal, $method:ident, $class:ident, $obligation:ident, $request:ident, $response:ident);)*) => {
        fn table<D: RawDriver>() -> Vec<(&'static str, MethodRouter<Arc<Context<D>>>)> {
            vec![$((concat!("/", $name), handler!($class, $hook, $method))),*]
        }
    };
}

for_each_webhook!(routes);

impl<D> Context<D> {
    /// Counts a call that is none of a webhook's.
    fn reject(&self, answer: Answer) -> Answer {
        self.metrics.rejected(answer.status());
        answer
    }
}

/// Every webhook's route, and the answers to what is none.
pub(super) fn all<D: RawDriver>(context: Arc<Context<D>>) -> Router {
    table()
        .into_iter()
        .fold(Router::new(), |router, (path, method)| {
            router.route(path, method)
        })
        .fallback(
            |State(context): State<Arc<Context<D>>>, uri: Uri| async move {
                context.reject(not_found(&uri))
            },
        )
        .method_not_allowed_fallback(
            |State(context): State<Arc<Context<D>>>, method: Method| async move {
                context.reject(wrong_method(&method))
            },
        )
        .with_state(context)
}
