//! Serving: TLS, tokens, kubeconfigs, limits, the log.

mod limits;
mod log;
mod tls;
mod tokens;

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{ConfigMap, Node};
use kube::api::{Api, ListParams, WatchEvent, WatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use local_cluster::{LocalCluster, ServeOptions, ServerHandle, Tls, Token};
use serde_json::json;

use crate::fixture::{DEADLINE, eventually, quick, skip};
use crate::wire;

async fn served(options: ServeOptions) -> (LocalCluster, ServerHandle) {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let server = cluster.serve_with(options).await.unwrap();
    (cluster, server)
}

fn secured(token: &str) -> ServeOptions {
    ServeOptions {
        tls: Some(Tls::self_signed_ca()),
        token: Some(Token::new(token).unwrap()),
        ..ServeOptions::default()
    }
}

/// A client made of a kubeconfig, as every other program makes it.
async fn client_of(kubeconfig: &str) -> kube::Client {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig).unwrap();
    let options = KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options)
        .await
        .unwrap();
    config.try_into().unwrap()
}

#[tokio::test]
async fn on_a_wildcard_address_the_kubeconfig_has_a_concrete_one() {
    for (listen, wanted) in [
        ("0.0.0.0:0", "http://127.0.0.1:"),
        ("[::]:0", "http://[::1]:"),
    ] {
        let cluster = LocalCluster::start(quick()).await.unwrap();
        let Ok(server) = cluster.serve(listen.parse().unwrap()).await else {
            skip(&format!("there is no {listen} here"));
            continue;
        };
        assert!(server.url().starts_with(wanted), "{}", server.url());
        assert!(
            server
                .kubeconfig()
                .contains(&format!("server: {}\n", server.url()))
        );
        server.shutdown().await;
    }
}

#[tokio::test]
async fn a_server_that_ends_ends_its_watches_and_its_port() {
    let (cluster, server) = served(ServeOptions::default()).await;
    let address = server.addr();
    let client = client_of(&server.kubeconfig()).await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let mut watch = maps
        .watch(&WatchParams::default().disable_bookmarks(), "0")
        .await
        .unwrap()
        .boxed();
    let idle = wire::connect(address).await;
    let ended = tokio::time::timeout(DEADLINE, server.shutdown()).await;
    ended.expect("an endless watch does not delay the shutdown");
    let end = tokio::time::timeout(DEADLINE, watch.next()).await.unwrap();
    assert!(end.is_none(), "{end:?}");
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
    drop(idle);

    // Dropping is ending, too.
    let server = cluster.serve_with(ServeOptions::default()).await.unwrap();
    let address = server.addr();
    drop(server);
    let refused = || async { tokio::net::TcpStream::connect(address).await.err() };
    eventually("the port is closed", refused).await;
}

#[tokio::test]
async fn a_watch_over_tls_follows() {
    let (cluster, server) = served(secured("t")).await;
    let client = client_of(&server.kubeconfig()).await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let mut watch = maps
        .watch(&WatchParams::default().disable_bookmarks(), "0")
        .await
        .unwrap()
        .boxed();
    let map = serde_json::from_value(json!({"metadata": {"name": "m"}})).unwrap();
    let own: Api<ConfigMap> = Api::default_namespaced(cluster.client());
    own.create(&Default::default(), &map).await.unwrap();
    let event = tokio::time::timeout(DEADLINE, watch.next()).await.unwrap();
    let event = event.unwrap().unwrap();
    assert!(matches!(event, WatchEvent::Added(map) if map.metadata.name.as_deref() == Some("m")));
    server.shutdown().await;
}

async fn nodes(client: kube::Client) -> Result<usize, kube::Error> {
    let nodes: Api<Node> = Api::all(client);
    let found = nodes.list(&ListParams::default()).await?;
    Ok(found.items.len())
}
