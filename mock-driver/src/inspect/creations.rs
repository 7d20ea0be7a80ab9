//! `POST /_mock/creations/release`: completes creations that wait for it.

use super::{EndpointError, body, pretty};
use crate::cloud::Cloud;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;

/// Which one; all by default.
#[derive(Debug, Default, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Release {
    /// The recordID of `createLoadBalancer`.
    #[serde(rename = "recordID")]
    record_id: Option<String>,
    /// The ID of the instance, as the state shows it.
    #[serde(rename = "lbID")]
    load_balancer: Option<String>,
}

pub(super) async fn release(
    State(cloud): State<Cloud>,
    request: Request,
) -> Result<Response, EndpointError> {
    let Release {
        record_id,
        load_balancer,
    } = body::read_strictly(request).await?;
    let which = load_balancer.or(record_id);
    let released = cloud.release_creations(which.as_deref());
    if let (Some(which), []) = (which, released.as_slice()) {
        let message = format!("{which:?}: no creation with this recordID or lbID is under way");
        return Err(EndpointError::new(StatusCode::NOT_FOUND, message));
    }
    Ok(pretty(StatusCode::OK, &json!({ "released": released })))
}
