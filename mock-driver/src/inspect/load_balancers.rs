//! `GET /_mock/loadbalancers` and `…/{id}`: what the cloud holds and, with traffic, what it serves.

use super::{EndpointError, pretty};
use crate::cloud::{Cloud, LoadBalancerState};
use crate::traffic::LoadBalancerTraffic;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use serde::Serialize;

/// A load balancer, and what it serves.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ServedLoadBalancer")]
pub(super) struct LoadBalancer {
    #[serde(flatten)]
    state: LoadBalancerState,
    #[serde(skip_serializing_if = "Option::is_none")]
    traffic: Option<LoadBalancerTraffic>,
}

/// All load balancers, by ID.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ServedLoadBalancers")]
pub(super) struct LoadBalancers {
    load_balancers: Vec<LoadBalancer>,
}

pub(super) async fn list(State(cloud): State<Cloud>) -> Response {
    let load_balancers = all(&cloud).collect();
    pretty(StatusCode::OK, &LoadBalancers { load_balancers })
}

pub(super) async fn show(
    State(cloud): State<Cloud>,
    Path(id): Path<String>,
) -> Result<Response, EndpointError> {
    let found = all(&cloud).find(|it| it.state.id == id);
    let found = found.ok_or_else(|| {
        let message = format!("loadbalancers/{id}: there is no load balancer {id:?}");
        EndpointError::new(StatusCode::NOT_FOUND, message)
    })?;
    Ok(pretty(StatusCode::OK, &found))
}

fn all(cloud: &Cloud) -> impl Iterator<Item = LoadBalancer> + use<> {
    let mut traffic = cloud.traffic();
    let load_balancers = cloud.state().load_balancers.into_iter();
    load_balancers.map(move |state| LoadBalancer {
        traffic: traffic.remove(&state.id),
        state,
    })
}
