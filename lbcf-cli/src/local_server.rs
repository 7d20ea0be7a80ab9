//! A server of webhooks on a loopback address, for the controller in this process.

use axum::Router;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use hyper_util::service::TowerToHyperService;
use lbcf_serving::listener::Listener;
use std::future::pending;
use tokio::task::JoinSet;

/// Serves until the result is dropped.
pub(crate) fn serve(listener: Listener, webhooks: Router) -> JoinSet<()> {
    let webhooks = TowerToHyperService::new(webhooks);
    let forbidden = |why| (StatusCode::FORBIDDEN, why).into_response();
    let mut server = JoinSet::new();
    server.spawn(async move {
        listener
            .serve(|_| webhooks.clone(), Some(forbidden), pending())
            .await;
    });
    server
}
