//! The observer for the conformance kit, served with `--observe-on` and never in production: what HAProxy
//! really has, asked from its socket, and changes behind the driver's back.

use crate::balancer::Member;
use crate::fields::LbInfo;
use crate::haproxy::{HaproxyError, Layout, config, master, runtime};
use crate::plan::{self, Admin};
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use lbcf_driver_sdk::fields;
use lbcf_driver_sdk::webhook::StringMap;
use serde::Deserialize;
use serde_json::{Value, json};
use std::net::SocketAddr;

/// `GET /observe`, and `POST` of `/observe/foreign`, `/observe/unbind` and `/observe/attributes`.
pub fn router(layout: Layout) -> Router {
    Router::new()
        .route("/observe", get(observe))
        .route("/observe/foreign", post(foreign))
        .route("/observe/unbind", post(unbind))
        .route("/observe/attributes", post(attributes))
        .with_state(layout)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Change {
    lb_info: StringMap,
    addr: SocketAddr,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OtherAttributes {
    lb_info: StringMap,
    attributes: StringMap,
}

type Failure = (StatusCode, String);

fn failure(error: impl ToString) -> Failure {
    (StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}

async fn observe(State(layout): State<Layout>) -> Result<Json<Value>, Failure> {
    let running = runtime::running(&layout, None).await.map_err(failure)?;
    let mut observed = Vec::new();
    // The sockets know neither owners nor drain limits, which are only in the files.
    for balancer in config::read_all(&layout).map_err(failure)? {
        let Some(running) = running.get(&balancer.spec.name()) else {
            continue;
        };
        let is_loaded = !plan::needs_reload(&balancer, Some(running));
        let servers = running
            .servers
            .iter()
            .filter(|(_, it)| it.admin == Admin::Ready);
        let backends = servers.map(|(address, server)| {
            let member = balancer.servers.get(address).cloned().unwrap_or_default();
            let mut parameters =
                fields::write("parameters", &member.parameters).unwrap_or_default();
            parameters.insert("weight".to_owned(), server.weight.to_string());
            json!({"addr": address, "parameters": parameters})
        });
        let attributes = fields::write("attributes", &balancer.attributes).map_err(failure)?;
        observed.push(json!({
            "lbInfo": fields::write("lbInfo", &balancer.info()).map_err(failure)?,
            "attributes": if is_loaded { attributes } else { StringMap::new() },
            "backends": backends.collect::<Vec<_>>(),
        }));
    }
    Ok(Json(json!({"loadBalancers": observed})))
}

async fn foreign(layout: State<Layout>, change: Json<Change>) -> Result<(), Failure> {
    let address = change.addr;
    let lb_info: LbInfo = fields::read("lbInfo", &change.0.lb_info).map_err(failure)?;
    let found = config::read(&layout, &lb_info.spec()).map_err(failure)?;
    let balancer = found.ok_or_else(|| failure("no such load balancer"))?;
    let commands = plan::register(&balancer, address, &Member::default(), None);
    runtime::execute(&layout, &commands).await.map_err(failure)
}

async fn unbind(layout: State<Layout>, change: Json<Change>) -> Result<(), Failure> {
    let lb_info: LbInfo = fields::read("lbInfo", &change.0.lb_info).map_err(failure)?;
    let commands = plan::remove(&lb_info.spec().name(), change.0.addr);
    runtime::execute(&layout, &commands).await.map_err(failure)
}

/// What a user does who edits the file and reloads HAProxy.
async fn attributes(layout: State<Layout>, change: Json<OtherAttributes>) -> Result<(), Failure> {
    let lb_info: LbInfo = fields::read("lbInfo", &change.lb_info).map_err(failure)?;
    let found = config::read(&layout, &lb_info.spec()).map_err(failure)?;
    let mut balancer = found.ok_or_else(|| failure("no such load balancer"))?;
    balancer.attributes = fields::read("attributes", &change.attributes).map_err(failure)?;
    config::write_balancer(&layout, &balancer)
        .await
        .map_err(failure)?;
    master::reload(&layout).await.map_err(failure)
}

/// Serves the observer until the program ends.
///
/// # Errors
/// When the address cannot be used.
pub async fn serve(layout: Layout, on: SocketAddr) -> Result<(), HaproxyError> {
    let address = on.to_string();
    let failed = |error: std::io::Error| HaproxyError::File {
        path: address.clone(),
        problem: error.to_string(),
    };
    let listener = tokio::net::TcpListener::bind(on).await.map_err(failed)?;
    axum::serve(listener, router(layout)).await.map_err(failed)
}
