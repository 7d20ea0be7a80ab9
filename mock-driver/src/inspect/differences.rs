//! `GET /_mock/differences`: what differs between the cluster and the cloud.

use super::{EndpointError, pretty};
use crate::cloud::Cloud;
use crate::differences::{self, ClusterReader, Difference};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

/// What differs; nothing, if cluster and cloud agree.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Differences {
    differences: Vec<Difference>,
}

pub(super) async fn list(
    State((cloud, cluster)): State<(Cloud, Option<Arc<dyn ClusterReader>>)>,
) -> Result<Response, EndpointError> {
    let cluster = cluster.ok_or_else(|| {
        let message = "differences: there is no cluster to compare with: start with --kubeconfig";
        EndpointError::new(StatusCode::NOT_FOUND, message)
    })?;
    let view = cluster.read().map_err(|problem| {
        let message = format!("cannot read the cluster: {problem}");
        EndpointError::new(StatusCode::SERVICE_UNAVAILABLE, message)
    })?;
    let differences = differences::differences(&view, &cloud.state());
    Ok(pretty(StatusCode::OK, &Differences { differences }))
}
