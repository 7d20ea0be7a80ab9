//! The table of webhooks as routes.

use super::reject::{not_found, wrong_method};
use super::{Shared as Server, answer};
use crate::RawDriver;
use crate::webhook::{self, for_each_webhook};
use axum::Router;
use axum::body::Body;
use axum::extract::State;
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
        |State(server): State<Arc<Server<$driver>>>, body: Body| {
            answer::$answer(
                webhook::$hook,
                server,
                body,
                |driver: Arc<$driver>, request| async move { driver.$method(request).await },
            )
        }
    };
}

macro_rules! routes {
    ($($(#[$doc:meta])* $hook:ident($name:literal, $method:ident, $class:ident, $obligation:ident, $request:ident, $response:ident);)*) => {
        fn table<D: RawDriver>() -> Vec<(&'static str, MethodRouter<Arc<Server<D>>>)> {
            vec![$((concat!("/", $name), handler!($class, $hook, $method))),*]
        }
    };
}

for_each_webhook!(routes);

/// Every webhook's route, and the answers to what is none.
pub(super) fn all<D: RawDriver>(server: Arc<Server<D>>) -> Router {
    table()
        .into_iter()
        .fold(Router::new(), |router, (path, method)| {
            router.route(path, method)
        })
        .fallback(not_found)
        .method_not_allowed_fallback(wrong_method)
        .with_state(server)
}
