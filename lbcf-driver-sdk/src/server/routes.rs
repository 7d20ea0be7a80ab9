//! The table of webhooks as routes.

use super::context::Context;
use super::handlers;
use super::log::Trace;
use super::reject::{HookResponse, not_found, wrong_method};
use crate::Driver;
use crate::driver::calls;
use crate::webhook::{self, for_each_webhook};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Method, Uri};
use axum::routing::{MethodRouter, post};
use std::sync::Arc;

/// The handler of one row, by its class.
macro_rules! handler {
    (Health, $hook:ident, $method:ident) => {{
        let handler = handler!(health, $hook, $method, D);
        // Load balancers and the kubelet probe with GET.
        post(handler).get(handler)
    }};
    (Verdict, $hook:ident, $method:ident) => {
        post(handler!(verdict, $hook, $method, D))
    };
    (Operation, EnsureBackend, $method:ident) => {
        post(handler!(
            batched,
            EnsureBackend,
            $method,
            ensure_backends,
            D
        ))
    };
    (Operation, DeregisterBackend, $method:ident) => {
        post(handler!(
            batched,
            DeregisterBackend,
            $method,
            deregister_backends,
            D
        ))
    };
    (Operation, $hook:ident, $method:ident) => {
        post(handler!(operation, $hook, $method, D))
    };
    ($class:ident, $hook:ident, $method:ident, $of_many:ident, $driver:ident) => {
        |State(context): State<Arc<Context<$driver>>>, request: Request| {
            let trace = Trace::of(request.headers());
            let hook = |driver: Arc<$driver>, request: webhook::$hook| async move {
                calls::$method(&*driver, request).await
            };
            let batch_hook = |driver: Arc<$driver>, requests: Vec<webhook::$hook>| async move {
                calls::$of_many(&*driver, requests).await
            };
            handlers::$class(context, trace, request.into_body(), hook, batch_hook)
        }
    };
    ($class:ident, $hook:ident, $method:ident, $driver:ident) => {
        |State(context): State<Arc<Context<$driver>>>, request: Request| {
            let trace = Trace::of(request.headers());
            let hook = |driver: Arc<$driver>, request: webhook::$hook| async move {
                calls::$method(&*driver, request).await
            };
            handlers::$class(context, trace, request.into_body(), hook)
        }
    };
}

macro_rules! routes {
    ($($(#[$doc:meta])* $hook:ident($name:literal, $method:ident, $class:ident, $obligation:ident, $response:ident);)*) => {
        fn table<D: Driver>() -> Vec<(&'static str, MethodRouter<Arc<Context<D>>>)> {
            vec![$((concat!("/", $name), handler!($class, $hook, $method))),*]
        }
    };
}

for_each_webhook!(routes);

impl<D> Context<D> {
    fn count_rejection(&self, response: HookResponse) -> HookResponse {
        self.metrics.rejected(response.status());
        response
    }
}

/// The route of every webhook, and the responses to other calls.
pub(super) fn all<D: Driver>(context: Arc<Context<D>>) -> Router {
    table()
        .into_iter()
        .fold(Router::new(), |router, (path, method)| {
            router.route(path, method)
        })
        .fallback(
            |State(context): State<Arc<Context<D>>>, uri: Uri| async move {
                context.count_rejection(not_found(&uri))
            },
        )
        .method_not_allowed_fallback(
            |State(context): State<Arc<Context<D>>>, method: Method| async move {
                context.count_rejection(wrong_method(&method))
            },
        )
        .with_state(context)
}
