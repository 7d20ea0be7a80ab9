use super::*;
use crate::manifests::apply_crds;
use kube::api::PostParams;
use lbcf_controller::api::LoadBalancer;
use local_cluster::{LocalCluster, LocalClusterOptions};
use serde_json::json;
use tokio::time::Instant;

/// What the cluster declares, or why that is not known, as soon as it is as wanted.
async fn until(
    cluster: &WatchedCluster,
    holds: impl Fn(&Result<ClusterView, String>) -> bool,
) -> Result<ClusterView, String> {
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let read = cluster.read();
        if holds(&read) {
            return read;
        }
        assert!(Instant::now() < deadline, "{read:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn d81_a_cluster_is_read_as_soon_as_it_can_be() {
    let local = LocalCluster::start(LocalClusterOptions::default()).await;
    let local = local.unwrap();
    let client = local.client_as("test");
    let cluster = WatchedCluster::follow(&client, None);
    let uninstalled = |read: &Result<_, String>| {
        let problem = read.as_ref().err();
        problem.is_some_and(|it| it.contains("lbcf crds"))
    };
    until(&cluster, uninstalled).await.unwrap_err();
    apply_crds(&client).await.unwrap();
    let view = until(&cluster, Result::is_ok).await;
    assert_eq!(view, Ok(ClusterView::default()));

    let api: Api<LoadBalancer> = Api::namespaced(client.clone(), "default");
    let spec = json!({"lbDriver": "mock", "lbSpec": {"lbID": "lb-1"}});
    let object = json!({"metadata": {"name": "web"}, "spec": spec});
    let object = serde_json::from_value(object).unwrap();
    api.create(&PostParams::default(), &object).await.unwrap();
    let declares = |count: usize| {
        move |read: &Result<ClusterView, String>| {
            let view = read.as_ref();
            view.is_ok_and(|view| view.load_balancers.len() == count)
        }
    };
    let view = until(&cluster, declares(1)).await.unwrap();
    let named = view.load_balancers[0].object.to_string();
    assert_eq!(named, "LoadBalancer default/web");
    let of_another = WatchedCluster::follow(&client, Some("another".into()));
    let view = until(&of_another, Result::is_ok).await;
    assert_eq!(view, Ok(ClusterView::default()));

    api.delete("web", &kube::api::DeleteParams::default())
        .await
        .unwrap();
    until(&cluster, declares(0)).await.unwrap();
    local.shutdown().await;
}

#[tokio::test]
async fn d81_a_cluster_that_cannot_be_reached_is_a_problem() {
    // Bound, but not listening: connections are refused, and no other process gets the port.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let url = format!("http://{}", socket.local_addr().unwrap());
    let client = WatchedCluster::client(Config::new(url.parse().unwrap())).unwrap();
    let cluster = WatchedCluster::follow(&client, None);
    let refused = |read: &Result<_, String>| {
        let problem = read.as_ref().err();
        problem.is_some_and(|it| it.starts_with("loadbalancers: ") && it.contains("refused"))
    };
    until(&cluster, refused).await.unwrap_err();
}
