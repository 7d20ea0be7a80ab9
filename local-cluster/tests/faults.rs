//! Fault injection, in process and over TCP.

mod requests;
mod watches;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, PostParams};
use kube::{Client, Error};
use local_cluster::{LocalCluster, ServerHandle};
use serde_json::json;

use crate::fixture::quick;

/// A cluster with a client in process and one over TCP, which must have the same faults.
struct Two {
    cluster: LocalCluster,
    server: ServerHandle,
    clients: [(&'static str, Client); 2],
}

async fn two() -> Two {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let server = cluster.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let config = kube::Config::new(server.url().parse().unwrap());
    let tcp = Client::try_from(config).unwrap();
    let clients = [("in-process", cluster.client()), ("tcp", tcp)];
    Two {
        cluster,
        server,
        clients,
    }
}

fn maps(client: &Client) -> Api<ConfigMap> {
    Api::default_namespaced(client.clone())
}

fn map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}})).unwrap()
}

async fn create(client: &Client, name: &str) -> Result<ConfigMap, Error> {
    maps(client)
        .create(&PostParams::default(), &map(name))
        .await
}

/// The status code of a response; 0 if there was none.
fn code<T>(response: &Result<T, Error>) -> u16 {
    match response {
        Ok(_) => 200,
        Err(Error::Api(status)) => status.code,
        Err(_) => 0,
    }
}
