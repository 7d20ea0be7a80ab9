//! Events of a cloud and its driver: outages, faults, a restart, and the passing of time.

use super::http::{self, EndpointError, Inspected, LIMIT_OF_RULES, shown};
use crate::cloud::Cloud;
use crate::faults::{FaultRule, parse_rules};
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;

/// The limit of one step of the clock, in seconds: a year.
const LONGEST: f64 = 366.0 * 24.0 * 3600.0;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct Fault {
    on: bool,
}

pub(super) async fn outage(State(cloud): State<Cloud>) -> Response {
    let on = cloud.has_outage();
    shown(&Fault { on })
}

pub(super) async fn set_outage(
    State(cloud): State<Cloud>,
    request: Request,
) -> Result<Response, EndpointError> {
    let fault: Fault = http::read(request).await?;
    cloud.set_outage(fault.on);
    Ok(shown(&fault))
}

pub(super) async fn faults(State(cloud): State<Cloud>) -> Response {
    let faults = cloud.faults();
    shown(&json!({"seed": faults.seed(), "rules": faults.list()}))
}

/// Adds a rule, or several.
pub(super) async fn add_faults(
    State(cloud): State<Cloud>,
    request: Request,
) -> Result<Response, EndpointError> {
    for rule in rules(request).await? {
        let added = cloud.faults().add(rule);
        added.map_err(EndpointError::bad)?;
    }
    Ok(faults(State(cloud)).await)
}

pub(super) async fn replace_faults(
    State(cloud): State<Cloud>,
    request: Request,
) -> Result<Response, EndpointError> {
    let replaced = cloud.faults().replace(rules(request).await?);
    replaced.map_err(EndpointError::bad)?;
    Ok(faults(State(cloud)).await)
}

pub(super) async fn clear_faults(State(cloud): State<Cloud>) -> Response {
    cloud.faults().clear();
    faults(State(cloud)).await
}

pub(super) async fn remove_fault(
    State(cloud): State<Cloud>,
    Path(id): Path<String>,
) -> Result<Response, EndpointError> {
    if !id.parse().is_ok_and(|id| cloud.faults().remove(id)) {
        let message = format!("{id:?}: there is no fault rule with this id");
        return Err(EndpointError::not_found(message));
    }
    Ok(faults(State(cloud)).await)
}

async fn rules(request: Request) -> Result<Vec<FaultRule>, EndpointError> {
    let document = http::document(request, LIMIT_OF_RULES).await?;
    parse_rules(document).map_err(EndpointError::bad)
}

/// Which one; all by default.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Release {
    /// The recordID of `createLoadBalancer`.
    #[serde(rename = "recordID")]
    record_id: Option<String>,
    /// The ID of the instance, as the state shows it.
    #[serde(rename = "lbID")]
    load_balancer: Option<String>,
}

pub(super) async fn release_creations(
    State(cloud): State<Cloud>,
    request: Request,
) -> Result<Response, EndpointError> {
    let release: Release = http::read_strictly(request).await?;
    let which = release.load_balancer.or(release.record_id);
    let released = cloud.release_creations(which.as_deref());
    if let (Some(which), []) = (which, released.as_slice()) {
        let message = format!("{which:?}: no creation with this recordID or lbID is under way");
        return Err(EndpointError::not_found(message));
    }
    Ok(shown(&json!({ "released": released })))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Advance {
    seconds: f64,
}

pub(super) async fn clock(State(cloud): State<Cloud>) -> Response {
    let seconds = cloud.now().as_secs_f64();
    shown(&json!({ "seconds": seconds }))
}

pub(super) async fn advance_clock(
    State(cloud): State<Cloud>,
    request: Request,
) -> Result<Response, EndpointError> {
    let Advance { seconds } = http::read_strictly(request).await?;
    if !(0.0..=LONGEST).contains(&seconds) {
        let message = format!("seconds: {seconds}: not a number from 0 to {LONGEST}");
        return Err(EndpointError::bad(message));
    }
    cloud.clock().advance(Duration::from_secs_f64(seconds));
    Ok(clock(State(cloud)).await)
}

/// The largest rate, which leaves room on a small machine.
const MAX_RATE: u32 = 100;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LoadRate {
    /// The most requests in a second, to all listeners together, up to 100; 0 ends it.
    rate: u32,
}

pub(super) async fn set_load(
    State(cloud): State<Cloud>,
    request: Request,
) -> Result<Response, EndpointError> {
    let LoadRate { rate } = http::read_strictly(request).await?;
    let plane = cloud.data_plane().clone();
    let Some(plane) = plane.filter(|_| rate <= MAX_RATE) else {
        let message = format!("rate: {rate}: expected 0 to {MAX_RATE}, and --traffic");
        return Err(EndpointError::bad(message));
    };
    plane.set_load(rate);
    let (rate, requests) = plane.load();
    Ok(shown(&json!({ "rate": rate, "requests": requests })))
}

/// Kills the driver and starts it again; responds when the new one serves.
pub(super) async fn restart(
    State(Inspected { process, .. }): State<Inspected>,
) -> Result<Response, EndpointError> {
    // Detached, so that the restart completes even if the client disconnects.
    match tokio::spawn(async move { process.restart().await }).await {
        Ok(report) => Ok(shown(&report)),
        Err(panic) => Err(EndpointError::new(StatusCode::INTERNAL_SERVER_ERROR, panic)),
    }
}
