//! `/_mock/fault`: starts, ends and shows an outage of the cloud's API.

use super::{EndpointError, body, pretty};
use crate::cloud::Cloud;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub(super) struct Fault {
    on: bool,
}

pub(super) async fn show(State(cloud): State<Cloud>) -> Response {
    let on = cloud.has_outage();
    pretty(StatusCode::OK, &Fault { on })
}

pub(super) async fn set(
    State(cloud): State<Cloud>,
    request: Request,
) -> Result<Response, EndpointError> {
    let fault: Fault = body::read(request).await?;
    cloud.set_outage(fault.on);
    Ok(pretty(StatusCode::OK, &fault))
}
