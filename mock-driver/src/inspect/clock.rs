//! `/_mock/clock`: the cloud's time, which can be moved forward.

use super::{EndpointError, body, pretty};
use crate::cloud::Cloud;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

/// The limit of one step, in seconds: a year.
const LONGEST: f64 = 366.0 * 24.0 * 3600.0;

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Advance {
    seconds: f64,
}

pub(super) async fn show(State(cloud): State<Cloud>) -> Response {
    let seconds = cloud.now().as_secs_f64();
    pretty(StatusCode::OK, &json!({ "seconds": seconds }))
}

pub(super) async fn advance(
    State(cloud): State<Cloud>,
    request: Request,
) -> Result<Response, EndpointError> {
    let Advance { seconds } = body::read_strictly(request).await?;
    if !(0.0..=LONGEST).contains(&seconds) {
        let message = format!("seconds: {seconds}: not a number from 0 to {LONGEST}");
        return Err(EndpointError::new(StatusCode::BAD_REQUEST, message));
    }
    cloud.clock().advance(Duration::from_secs_f64(seconds));
    Ok(show(State(cloud)).await)
}
