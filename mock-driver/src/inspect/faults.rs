//! `/_mock/faults`: the fault rules.

use super::{EndpointError, body, pretty};
use crate::cloud::Cloud;
use crate::faults::parse_rules;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

pub(super) async fn show(State(cloud): State<Cloud>) -> Response {
    let faults = cloud.faults();
    pretty(
        StatusCode::OK,
        &json!({"seed": faults.seed(), "rules": faults.list()}),
    )
}

/// Adds a rule, or several.
pub(super) async fn add(
    State(cloud): State<Cloud>,
    request: Request,
) -> Result<Response, EndpointError> {
    let rules = parse_rules(body::json(request).await?).map_err(bad)?;
    for rule in rules {
        cloud.faults().add(rule).map_err(bad)?;
    }
    Ok(show(State(cloud)).await)
}

pub(super) async fn replace(
    State(cloud): State<Cloud>,
    request: Request,
) -> Result<Response, EndpointError> {
    let rules = parse_rules(body::json(request).await?).map_err(bad)?;
    cloud.faults().replace(rules).map_err(bad)?;
    Ok(show(State(cloud)).await)
}

pub(super) async fn clear(State(cloud): State<Cloud>) -> Response {
    cloud.faults().clear();
    show(State(cloud)).await
}

pub(super) async fn remove(
    State(cloud): State<Cloud>,
    Path(id): Path<String>,
) -> Result<Response, EndpointError> {
    if !id.parse().is_ok_and(|id| cloud.faults().remove(id)) {
        let message = format!("{id:?}: there is no fault rule with this id");
        return Err(EndpointError::new(StatusCode::NOT_FOUND, message));
    }
    Ok(show(State(cloud)).await)
}

fn bad(problem: String) -> EndpointError {
    EndpointError::new(StatusCode::BAD_REQUEST, problem)
}
