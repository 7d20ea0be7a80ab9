//! `POST /_mock/observe/…`: changes of the cloud behind the driver's back, as a user makes them in a
//! provider's console.

use super::{EndpointError, body, pretty};
use crate::azure::ByHand;
use crate::cloud::{Cloud, Endpoint};
use crate::fields::LbInfo;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use lbcf_driver_sdk::fields;
use lbcf_driver_sdk::webhook::StringMap;
use serde::Deserialize;
use std::fmt::Display;

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct BackendChange {
    lb_info: StringMap,
    addr: String,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AttributesChange {
    lb_info: StringMap,
    attributes: StringMap,
}

pub(super) async fn foreign(
    State(cloud): State<Cloud>,
    request: Request,
) -> Result<Response, EndpointError> {
    let (lb_info, addr) = backend(request).await?;
    let is_new = if cloud.is_azure() {
        ByHand::new(&cloud, &lb_info)
            .map_err(not_found)?
            .bind(&addr)
    } else {
        cloud
            .bind_by_hand(&endpoint(&lb_info)?, &addr)
            .map_err(not_found)?
    };
    if !is_new {
        let message = format!("addr: {addr:?}: is bound already");
        return Err(EndpointError::new(StatusCode::CONFLICT, message));
    }
    Ok(observation(&cloud))
}

pub(super) async fn unbind(
    State(cloud): State<Cloud>,
    request: Request,
) -> Result<Response, EndpointError> {
    let (lb_info, addr) = backend(request).await?;
    let was_bound = if cloud.is_azure() {
        ByHand::new(&cloud, &lb_info)
            .map_err(not_found)?
            .unbind(&addr)
    } else {
        cloud
            .unbind_by_hand(&endpoint(&lb_info)?, &addr)
            .map_err(not_found)?
    };
    if !was_bound {
        let message = format!("addr: {addr:?}: is not bound");
        return Err(EndpointError::new(StatusCode::NOT_FOUND, message));
    }
    Ok(observation(&cloud))
}

pub(super) async fn attributes(
    State(cloud): State<Cloud>,
    request: Request,
) -> Result<Response, EndpointError> {
    let change: AttributesChange = body::read(request).await?;
    if cloud.is_azure() {
        let by_hand = ByHand::new(&cloud, &change.lb_info).map_err(not_found)?;
        by_hand.set_attributes(change.attributes);
    } else {
        let endpoint = endpoint(&change.lb_info)?;
        let changed = cloud.set_attributes_by_hand(&endpoint, change.attributes);
        changed.map_err(not_found)?;
    }
    Ok(observation(&cloud))
}

/// Reads which backend of which load balancer to change.
async fn backend(request: Request) -> Result<(StringMap, String), EndpointError> {
    let BackendChange { lb_info, addr } = body::read(request).await?;
    if addr.is_empty() {
        let message = "addr: \"\": an address is needed, such as 10.0.0.1:80";
        return Err(EndpointError::new(StatusCode::BAD_REQUEST, message));
    }
    Ok((lb_info, addr))
}

fn endpoint(lb_info: &StringMap) -> Result<Endpoint, EndpointError> {
    let lb_info: LbInfo = fields::read("lbInfo", lb_info).map_err(not_found)?;
    Ok(lb_info.into())
}

fn not_found(why: impl Display) -> EndpointError {
    let message = format!("lbInfo: names no load balancer: {why}");
    EndpointError::new(StatusCode::NOT_FOUND, message)
}

fn observation(cloud: &Cloud) -> Response {
    pretty(StatusCode::OK, &cloud.observe())
}
