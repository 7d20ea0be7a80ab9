//! The observer for the conformance kit, a program of its own: what HAProxy really has, asked from its
//! sockets, and changes behind the driver's back. It has no token: for tests only.

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use clap::Parser;
use haproxy_driver::balancer::{Balancer, Member, name, server_name};
use haproxy_driver::fields::LbInfo;
use haproxy_driver::haproxy::{Layout, master, runtime};
use haproxy_driver::plan::{self, Admin};
use lbcf_driver_sdk::fields;
use lbcf_driver_sdk::local::StateFiles;
use lbcf_driver_sdk::webhook::StringMap;
use serde::Deserialize;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use tokio::net::TcpListener;

/// The conformance kit's observer of the driver for HAProxy
#[derive(Debug, Parser)]
struct Args {
    /// Address to serve the observer on
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:19191")]
    listen: SocketAddr,

    /// Folder that the driver was started with
    #[arg(long, env = "HAPROXY_DIR", value_name = "FOLDER")]
    dir: PathBuf,
}

/// `GET /observe`, and `POST` of `/observe/foreign`, `/observe/unbind` and `/observe/attributes`.
#[tokio::main]
async fn main() -> std::io::Result<()> {
    let args = Args::parse();
    let router = Router::new()
        .route("/observe", get(observe))
        .route("/observe/foreign", post(foreign))
        .route("/observe/unbind", post(unbind))
        .route("/observe/attributes", post(attributes))
        .with_state(Layout::new(&args.dir, Path::new("haproxy")));
    axum::serve(TcpListener::bind(args.listen).await?, router).await
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

fn failure(error: impl std::fmt::Display) -> Failure {
    (StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}

async fn observe(State(layout): State<Layout>) -> Result<Json<Value>, Failure> {
    let running = runtime::balancers(&layout).await.map_err(failure)?;
    let mut observed = Vec::new();
    // The sockets know neither owners nor drain limits, which are only in the files.
    let balancers = files(&layout).read_all().await.map_err(failure)?;
    for balancer in balancers.into_values() {
        let Some(running) = running.get(&balancer.name()) else {
            continue;
        };
        let is_loaded = running.revision == balancer.revision();
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

fn files(layout: &Layout) -> StateFiles<Balancer> {
    StateFiles::without_lock(&layout.conf_d, "cfg")
}

async fn read(layout: &Layout, lb_info: &StringMap) -> Result<Balancer, Failure> {
    let lb_info: LbInfo = fields::read("lbInfo", lb_info).map_err(failure)?;
    let found = files(layout).read(&server_name(lb_info.listener)).await;
    found
        .map_err(failure)?
        .ok_or_else(|| failure("no such load balancer"))
}

/// Adds a server as a user would, and again if a reload has dropped it: HAProxy forgets servers that are
/// added while a reload is in progress.
async fn foreign(layout: State<Layout>, change: Json<Change>) -> Result<(), Failure> {
    let mut wanted = read(&layout, &change.lb_info).await?;
    wanted.servers = [(change.addr, Member::default())].into();
    loop {
        let before = master::processes(&layout).await.map_err(failure)?;
        let mut running = runtime::balancer(&layout, &wanted.name())
            .await
            .map_err(failure)?;
        // The server is added whether or not HAProxy has loaded the current file.
        if let Some(running) = &mut running {
            running.revision = wanted.revision();
        }
        let commands = plan::commands(&wanted, running.as_ref(), None)
            .ok_or_else(|| failure("HAProxy has not loaded the load balancer"))?;
        runtime::execute(&layout, &commands)
            .await
            .map_err(failure)?;
        let after = master::processes(&layout).await.map_err(failure)?;
        if commands.is_empty() && after == before {
            return Ok(());
        }
    }
}

async fn unbind(layout: State<Layout>, change: Json<Change>) -> Result<(), Failure> {
    let lb_info: LbInfo = fields::read("lbInfo", &change.lb_info).map_err(failure)?;
    let commands = plan::remove(&name(lb_info.listener), change.addr);
    let removed = runtime::execute(&layout, &commands).await;
    removed.map_err(failure)
}

/// What a user does who edits the file and reloads HAProxy.
async fn attributes(layout: State<Layout>, change: Json<OtherAttributes>) -> Result<(), Failure> {
    let mut balancer = read(&layout, &change.lb_info).await?;
    balancer.attributes = fields::read("attributes", &change.attributes).map_err(failure)?;
    let (key, directives) = (balancer.key(), balancer.directives());
    let written = files(&layout).write(&key, &balancer, &directives).await;
    written.map_err(failure)?;
    let loaded = master::reload(&layout).await;
    loaded.map(drop).map_err(failure)
}
