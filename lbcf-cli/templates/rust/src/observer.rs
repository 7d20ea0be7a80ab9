//! The state of the cloud, whatever the driver responds: for `lbcf conformance`, with `--observe`.
//!
//! FILL-IN: read it from your load balancer's API. `POST /_observe/fault` makes the API fail for a while;
//! with a real one, remove the route and `fault` in `conformance.yaml`, or block the connection to it.

use crate::cloud::{Cloud, CloudError, LoadBalancer};
use crate::fields::{Attributes, LbInfo, Parameters};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use lbcf_driver_sdk::fields::{self, FieldError};
use lbcf_driver_sdk::webhook::StringMap;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// The routes, which everyone who can call the driver can use: not for production.
pub fn routes(cloud: Cloud) -> Router {
    Router::new()
        .route("/_observe", get(observe))
        .route("/_observe/foreign", post(register))
        .route("/_observe/unbind", post(deregister))
        .route("/_observe/attributes", post(set_attributes))
        .route("/_observe/fault", post(set_fault))
        .with_state(cloud)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Observation {
    load_balancers: Vec<ObservedLoadBalancer>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ObservedLoadBalancer {
    lb_info: StringMap,
    attributes: StringMap,
    backends: Vec<ObservedBackend>,
}

#[derive(Serialize)]
struct ObservedBackend {
    addr: String,
    parameters: StringMap,
}

async fn observe(State(cloud): State<Cloud>) -> Result<Json<Observation>, Problem> {
    let all = cloud.load_balancers().await;
    let observed = all.into_iter().map(|(id, it)| observed(id, it));
    let load_balancers = observed.collect::<Result<_, _>>()?;
    Ok(Json(Observation { load_balancers }))
}

/// With the maps that the driver would return or receive.
fn observed(lb_id: String, it: LoadBalancer) -> Result<ObservedLoadBalancer, FieldError> {
    let protocol = it.spec.protocol;
    let backend = |(addr, weight): (SocketAddr, u8)| {
        Ok(ObservedBackend {
            addr: addr.to_string(),
            parameters: fields::write("parameters", &Parameters { weight })?,
        })
    };
    let backends = it.backends.into_iter().map(backend);
    Ok(ObservedLoadBalancer {
        lb_info: fields::write("lbInfo", &LbInfo { lb_id, protocol })?,
        attributes: fields::write("attributes", &it.attributes)?,
        backends: backends.collect::<Result<_, _>>()?,
    })
}

/// A change that the driver does not know of, as by hand.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Change {
    lb_info: StringMap,
    addr: Option<SocketAddr>,
    #[serde(default)]
    attributes: StringMap,
}

impl Change {
    fn id(&self) -> Result<String, FieldError> {
        Ok(fields::read::<LbInfo>("lbInfo", &self.lb_info)?.lb_id)
    }

    fn at(&self) -> Result<SocketAddr, Problem> {
        let missing = || Problem("addr: is missing".to_owned());
        self.addr.ok_or_else(missing)
    }
}

async fn register(State(cloud): State<Cloud>, Json(it): Json<Change>) -> Result<(), Problem> {
    Ok(cloud.register(&it.id()?, it.at()?, 1).await?)
}

async fn deregister(State(cloud): State<Cloud>, Json(it): Json<Change>) -> Result<(), Problem> {
    Ok(cloud.deregister(&it.id()?, it.at()?).await?)
}

async fn set_attributes(State(cloud): State<Cloud>, Json(it): Json<Change>) -> Result<(), Problem> {
    let attributes: Attributes = fields::read("attributes", &it.attributes)?;
    Ok(cloud.set_attributes(&it.id()?, &attributes).await?)
}

#[derive(Deserialize)]
struct Fault {
    on: bool,
}

async fn set_fault(State(cloud): State<Cloud>, Json(fault): Json<Fault>) {
    cloud.set_outage(fault.on).await;
}

/// A problem that the kit reports.
struct Problem(String);

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (StatusCode::BAD_REQUEST, self.0).into_response()
    }
}

impl From<CloudError> for Problem {
    fn from(error: CloudError) -> Self {
        Self(error.to_string())
    }
}

impl From<FieldError> for Problem {
    fn from(error: FieldError) -> Self {
        Self(error.to_string())
    }
}
