//! The state of the cloud, its differences from a cluster, and changes of it by hand.

use super::http::{self, EndpointError, Inspected, LIMIT_OF_STATE, shown};
use crate::by_hand::ChangeByHand;
use crate::cloud::Cloud;
use crate::differences::{self, Difference};
use crate::resources::LoadBalancerState;
use crate::strict;
use crate::traffic::LoadBalancerTraffic;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use lbcf_driver_sdk::webhook::StringMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) async fn state(State(cloud): State<Cloud>) -> Response {
    shown(&cloud.state())
}

pub(super) async fn restore(
    State(cloud): State<Cloud>,
    request: Request,
) -> Result<Response, EndpointError> {
    let given = strict::read(http::document(request, LIMIT_OF_STATE).await?);
    let restored = given.and_then(|given| cloud.restore(&given));
    restored.map_err(EndpointError::bad)?;
    Ok(state(State(cloud)).await)
}

/// Ends an outage, too, and returns the state.
pub(super) async fn reset(State(cloud): State<Cloud>) -> Response {
    cloud.reset();
    state(State(cloud)).await
}

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

pub(super) async fn load_balancers(State(cloud): State<Cloud>) -> Response {
    let load_balancers = all(&cloud).collect();
    shown(&LoadBalancers { load_balancers })
}

pub(super) async fn load_balancer(
    State(cloud): State<Cloud>,
    Path(id): Path<String>,
) -> Result<Response, EndpointError> {
    match all(&cloud).find(|it| it.state.id == id) {
        Some(found) => Ok(shown(&found)),
        None => Err(EndpointError::not_found(format!(
            "loadbalancers/{id}: there is no load balancer {id:?}"
        ))),
    }
}

fn all(cloud: &Cloud) -> impl Iterator<Item = LoadBalancer> + use<> {
    let mut traffic = cloud.traffic();
    let load_balancers = cloud.state().load_balancers.into_iter();
    load_balancers.map(move |state| LoadBalancer {
        traffic: traffic.remove(&state.id),
        state,
    })
}

/// Restores the initial state of one instance.
pub(super) async fn reset_load_balancer(
    State(cloud): State<Cloud>,
    Path(id): Path<String>,
) -> Result<Response, EndpointError> {
    if !cloud.reset_load_balancer(&id) {
        let message = format!("{id:?}: there is no load balancer with this id");
        return Err(EndpointError::not_found(message));
    }
    Ok(state(State(cloud)).await)
}

pub(super) async fn observe(State(cloud): State<Cloud>) -> Response {
    shown(&cloud.observe())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct BackendChange {
    lb_info: StringMap,
    addr: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AttributesChange {
    lb_info: StringMap,
    attributes: StringMap,
}

pub(super) async fn bind(
    State(cloud): State<Cloud>,
    request: Request,
) -> Result<Response, EndpointError> {
    let BackendChange { lb_info, addr } = backend(request).await?;
    if !changed(&cloud, &lb_info, ChangeByHand::Bind(addr.clone()))? {
        let message = format!("addr: {addr:?}: is bound already");
        return Err(EndpointError::new(StatusCode::CONFLICT, message));
    }
    Ok(observe(State(cloud)).await)
}

pub(super) async fn unbind(
    State(cloud): State<Cloud>,
    request: Request,
) -> Result<Response, EndpointError> {
    let BackendChange { lb_info, addr } = backend(request).await?;
    if !changed(&cloud, &lb_info, ChangeByHand::Unbind(addr.clone()))? {
        let message = format!("addr: {addr:?}: is not bound");
        return Err(EndpointError::not_found(message));
    }
    Ok(observe(State(cloud)).await)
}

pub(super) async fn attributes(
    State(cloud): State<Cloud>,
    request: Request,
) -> Result<Response, EndpointError> {
    let AttributesChange {
        lb_info,
        attributes,
    } = http::read(request).await?;
    changed(&cloud, &lb_info, ChangeByHand::Attributes(attributes))?;
    Ok(observe(State(cloud)).await)
}

/// Reads which backend of which load balancer to change.
async fn backend(request: Request) -> Result<BackendChange, EndpointError> {
    let change: BackendChange = http::read(request).await?;
    if change.addr.is_empty() {
        let message = "addr: \"\": an address is needed, such as 10.0.0.1:80";
        return Err(EndpointError::bad(message));
    }
    Ok(change)
}

fn changed(
    cloud: &Cloud,
    lb_info: &StringMap,
    change: ChangeByHand,
) -> Result<bool, EndpointError> {
    change
        .apply(cloud, lb_info)
        .map_err(|why| EndpointError::not_found(format!("lbInfo: names no load balancer: {why}")))
}

/// The differences; none, if cluster and cloud agree.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Differences {
    differences: Vec<Difference>,
}

pub(super) async fn differences(
    State(Inspected { cloud, cluster, .. }): State<Inspected>,
) -> Result<Response, EndpointError> {
    let cluster = cluster.ok_or_else(|| {
        let message = "differences: there is no cluster to compare with: start with --kubeconfig";
        EndpointError::not_found(message)
    })?;
    let view = cluster.read().map_err(|problem| {
        let message = format!("cannot read the cluster: {problem}");
        EndpointError::new(StatusCode::SERVICE_UNAVAILABLE, message)
    })?;
    let differences = differences::differences(&view, &cloud.state());
    Ok(shown(&Differences { differences }))
}
