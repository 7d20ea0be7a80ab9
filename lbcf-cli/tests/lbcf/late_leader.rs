//! A leader that is stopped by a signal for longer than its lease, and then goes on.

use crate::conformance::get;
use crate::controller::Cluster;
use crate::process::{DEADLINE, Running};
use k8s_openapi::api::core::v1::Pod;
use kube::Client;
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use lbcf_controller::api::{
    BackendGroup, BackendRecord, LoadBalancer, LoadBalancerDriver, NamespacedKind,
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const PODS: usize = 120;

/// Waits until `probe` returns true.
async fn until(what: &str, mut probe: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !probe().await {
        assert!(Instant::now() < deadline, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn create<K: NamespacedKind>(client: &Client, namespace: &str, object: Value) {
    let object: K = serde_json::from_value(object).unwrap();
    let api: Api<K> = Api::namespaced(client.clone(), namespace);
    api.create(&PostParams::default(), &object).await.unwrap();
}

async fn apply(client: &Client, url: &str) {
    let driver = json!({
        "metadata": {"name": "lbcf-clb"},
        "spec": {"driverType": "Webhook", "url": url},
    });
    create::<LoadBalancerDriver>(client, "kube-system", driver).await;
    let lb = json!({
        "metadata": {"name": "lb"},
        "spec": {
            "lbDriver": "lbcf-clb",
            "lbSpec": {
                "lbVpcID": "vpc-12345678", "lbListenerPort": "80", "lbListenerProtocol": "TCP",
            },
        },
    });
    create::<LoadBalancer>(client, "default", lb).await;
    for number in 0..PODS {
        let pod = json!({
            "metadata": {"name": format!("web-{number}"), "labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "registry.example/web:1"}]},
        });
        create::<Pod>(client, "default", pod).await;
    }
    let group = json!({
        "metadata": {"name": "web"},
        "spec": {
            "loadBalancers": ["lb"],
            "pods": {
                "ports": [{"port": 80, "protocol": "TCP"}],
                "byLabel": {"selector": {"app": "web"}},
            },
        },
    });
    create::<BackendGroup>(client, "default", group).await;
}

/// The mock driver as a process.
struct Mock {
    _process: Running,
    url: String,
}

impl Mock {
    fn start() -> Self {
        let flags = ["--listen", "127.0.0.1:0", "--stage-duration", "0s"];
        let process = Running::start(&[&["mock-driver"], &flags[..]].concat());
        let url = process.line_with("http://").trim().to_owned();
        Self {
            _process: process,
            url,
        }
    }

    fn get(&self, path: &str) -> Value {
        let address = self.url.trim_start_matches("http://");
        let body = get(address, path).expect("the mock responds");
        serde_json::from_str(&body).unwrap()
    }

    fn backends(&self) -> usize {
        let cloud = self.get("/_mock/observe");
        let lbs = cloud["loadBalancers"].as_array().expect("a list");
        let backends = lbs.iter().map(|lb| lb["backends"].as_array().map(Vec::len));
        backends.map(Option::unwrap_or_default).sum()
    }
}

#[tokio::test]
async fn d38_a_leader_that_was_stopped_for_longer_than_its_lease_leaves_nothing_when_it_goes_on() {
    let cluster = Cluster::start();
    let mock = Mock::start();
    let client = cluster.client().await;
    let election = [
        "--leader-elect-lease-duration=6s",
        "--leader-elect-renew-deadline=5s",
        "--leader-elect-retry-period=200ms",
    ];
    let first = cluster.controller(&election);
    first.line_with("the index is complete; reconciling");
    let second = cluster.controller(&election);
    second.line_with("another process is the leader");
    apply(&client, &mock.url).await;
    until("some backends are registered", async || {
        mock.backends() >= 10
    })
    .await;
    first.signal("STOP");

    second.line_with("the index is complete; reconciling");
    let groups: Api<BackendGroup> = Api::namespaced(client.clone(), "default");
    groups
        .delete("web", &DeleteParams::default())
        .await
        .unwrap();
    let records: Api<BackendRecord> = Api::all(client);
    until("everything is deregistered", async || {
        let records = records.list(&ListParams::default()).await.unwrap();
        records.items.is_empty() && mock.backends() == 0
    })
    .await;
    first.signal("CONT");
    let (code, lines) = first.wait();

    assert_eq!(code, Some(1));
    let last = lines.last().unwrap();
    assert!(last.starts_with("lbcf: leadership lost"), "{last}");
    // A write that a connection had taken over before the stop may be sent now: the second one
    // removes what it created.
    until("nothing is left", async || {
        let records = records.list(&ListParams::default()).await.unwrap();
        records.items.is_empty() && mock.backends() == 0
    })
    .await;
}
