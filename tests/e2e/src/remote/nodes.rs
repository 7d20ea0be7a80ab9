//! The nodes of the tests. No kubelet serves them, and nothing of others is scheduled there.

use super::owned::{LABEL, is_not_found};
use crate::manifests::{self, NODES};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::Client;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use std::time::Duration;

/// Where kubelets renew the leases of their nodes.
const LEASES: &str = "kube-node-lease";
/// Less than the time after which the node lifecycle controller takes a node for lost.
const HEARTBEAT: Duration = Duration::from_secs(8);

/// Keeps away pods that do not ask for these nodes.
pub(super) fn taint() -> Value {
    json!({"key": LABEL, "value": "true", "effect": "NoSchedule"})
}

/// Creates the nodes, ready.
pub(super) async fn create(client: &Client) -> kube::Result<()> {
    let api: Api<Node> = Api::all(client.clone());
    for (name, address) in NODES {
        let mut node = json!({"metadata": {"name": name}});
        super::adapt("Node", &mut node);
        let node = serde_json::from_value(node).map_err(kube::Error::SerdeError)?;
        api.create(&PostParams::default(), &node).await?;
        let status = Patch::Merge(manifests::node_status(address, true));
        api.patch_status(name, &PatchParams::default(), &status)
            .await?;
    }
    Ok(())
}

/// Renews the leases of the nodes until the task is aborted, as their kubelets would.
pub(super) async fn keep_alive(client: Client) {
    let api: Api<Lease> = Api::namespaced(client, LEASES);
    loop {
        for (name, _) in NODES {
            let now = k8s_openapi::jiff::Timestamp::now();
            let lease = json!({
                "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                "metadata": {"name": name, "labels": {LABEL: "true"}},
                "spec": {
                    "holderIdentity": name, "leaseDurationSeconds": 40,
                    "renewTime": format!("{now:.6}"),
                },
            });
            let params = PatchParams::apply("lbcf-e2e").force();
            // A cluster without this namespace has no controller that reads the leases.
            drop(api.patch(name, &params, &Patch::Apply(&lease)).await);
        }
        tokio::time::sleep(HEARTBEAT).await;
    }
}

/// Deletes all nodes of the tests, their leases, and the pods that controllers of the cluster have put
/// there: a DaemonSet tolerates every taint.
pub(super) async fn delete(client: &Client) -> kube::Result<()> {
    let nodes: Api<Node> = Api::all(client.clone());
    let leases: Api<Lease> = Api::namespaced(client.clone(), LEASES);
    let pods: Api<Pod> = Api::all(client.clone());
    let ours = ListParams::default().labels(LABEL);
    for node in nodes.list_metadata(&ours).await?.items {
        let name = node.metadata.name.unwrap_or_default();
        ignore_absent(nodes.delete(&name, &DeleteParams::default()).await)?;
        ignore_absent(leases.delete(&name, &DeleteParams::default()).await)?;
        let on_node = ListParams::default().fields(&format!("spec.nodeName={name}"));
        for pod in pods.list(&on_node).await?.items {
            let meta = pod.metadata;
            let namespace = meta.namespace.unwrap_or_default();
            let api: Api<Pod> = Api::namespaced(client.clone(), &namespace);
            let params = DeleteParams::default().grace_period(0);
            ignore_absent(api.delete(&meta.name.unwrap_or_default(), &params).await)?;
        }
    }
    Ok(())
}

fn ignore_absent<T>(result: kube::Result<T>) -> kube::Result<()> {
    match result {
        Err(error) if !is_not_found(&error) => Err(error),
        _ => Ok(()),
    }
}
