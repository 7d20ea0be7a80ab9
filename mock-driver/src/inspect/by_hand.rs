//! `POST /_mock/observe/…`: changes of the cloud that the driver is not asked about, as somebody
//! makes them by hand in a provider's console.

use super::{Refused, body, pretty};
use crate::cloud::{Cloud, Endpoint};
use crate::driver::endpoint_of;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use lbcf_driver_sdk::webhook::StringMap;
use serde::Deserialize;
use std::fmt::Display;

/// A backend of a load balancer.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Backend {
    lb_info: StringMap,
    addr: String,
}

/// A load balancer's attributes.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attributes {
    lb_info: StringMap,
    attributes: StringMap,
}

/// Binds a backend that LBCF has not registered.
pub(super) async fn foreign(
    State(cloud): State<Cloud>,
    request: Request,
) -> Result<Response, Refused> {
    let (endpoint, addr) = backend(request).await?;
    if !cloud.bind_by_hand(&endpoint, &addr).map_err(unknown)? {
        let message = format!("addr: {addr:?}: is bound already");
        return Err(Refused::new(StatusCode::CONFLICT, message));
    }
    Ok(observation(&cloud))
}

/// Takes a backend away.
pub(super) async fn unbind(
    State(cloud): State<Cloud>,
    request: Request,
) -> Result<Response, Refused> {
    let (endpoint, addr) = backend(request).await?;
    if !cloud.unbind_by_hand(&endpoint, &addr).map_err(unknown)? {
        let message = format!("addr: {addr:?}: is not bound");
        return Err(Refused::new(StatusCode::NOT_FOUND, message));
    }
    Ok(observation(&cloud))
}

/// Replaces a load balancer's attributes.
pub(super) async fn attributes(
    State(cloud): State<Cloud>,
    request: Request,
) -> Result<Response, Refused> {
    let wanted: Attributes = body::read(request).await?;
    let endpoint = endpoint_of(&wanted.lb_info).map_err(unknown)?;
    let changed = cloud.set_attributes_by_hand(&endpoint, wanted.attributes);
    changed.map_err(unknown)?;
    Ok(observation(&cloud))
}

/// Which backend of which load balancer a request is about.
async fn backend(request: Request) -> Result<(Endpoint, String), Refused> {
    let Backend { lb_info, addr } = body::read(request).await?;
    if addr.is_empty() {
        let message = "addr: \"\": an address is needed, such as 10.0.0.1:80";
        return Err(Refused::new(StatusCode::BAD_REQUEST, message));
    }
    Ok((endpoint_of(&lb_info).map_err(unknown)?, addr))
}

/// Nothing is known by this identity.
fn unknown(why: impl Display) -> Refused {
    let message = format!("lbInfo: names no load balancer: {why}");
    Refused::new(StatusCode::NOT_FOUND, message)
}

/// What there is now.
fn observation(cloud: &Cloud) -> Response {
    pretty(StatusCode::OK, &cloud.observe())
}
