//! `/_mock/fault`: the cloud's API is temporarily unavailable, or is no longer.

use super::{Refused, body, pretty};
use crate::cloud::Cloud;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};

/// Whether the API is unavailable.
#[derive(Debug, Serialize, Deserialize)]
struct Fault {
    on: bool,
}

/// Tells whether it is.
pub(super) async fn show(State(cloud): State<Cloud>) -> Response {
    let on = cloud.has_outage();
    pretty(StatusCode::OK, &Fault { on })
}

/// Makes it so.
pub(super) async fn set(State(cloud): State<Cloud>, request: Request) -> Result<Response, Refused> {
    let fault: Fault = body::read(request).await?;
    cloud.set_outage(fault.on);
    Ok(pretty(StatusCode::OK, &fault))
}
