//! Nodes, which are not namespaced.

use crate::World;
use crate::manifests;
use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

impl World {
    fn nodes(&self) -> Api<Node> {
        Api::all(self.client())
    }

    /// Creates a ready node with this address.
    pub async fn create_node(&self, name: &str, ip: &str) {
        self.create_node_bare(name).await;
        self.set_node(name, ip, true).await;
    }

    /// Creates a node that has an address and is not ready.
    pub async fn create_node_unready(&self, name: &str, ip: &str) {
        self.create_node_bare(name).await;
        self.set_node(name, ip, false).await;
    }

    /// Creates a node without addresses and conditions.
    pub async fn create_node_bare(&self, name: &str) {
        let mut node = serde_json::to_value(manifests::node(name)).expect("JSON");
        self.cluster.adapt("Node", &mut node);
        let node = serde_json::from_value(node).expect("it stays a node");
        self.nodes()
            .create(&PostParams::default(), &node)
            .await
            .expect("the node is accepted");
    }

    /// Sets a node's address and its Ready condition.
    pub async fn set_node(&self, name: &str, ip: &str, ready: bool) {
        let status = manifests::node_status(ip, ready);
        self.nodes()
            .patch_status(name, &PatchParams::default(), &Patch::Merge(status))
            .await
            .expect("the node's status is accepted");
    }

    /// Sets a node's Ready condition.
    pub async fn set_node_ready(&self, name: &str, ready: bool) {
        let mut status = manifests::node_status("", ready);
        status["status"]
            .as_object_mut()
            .expect("it is an object")
            .remove("addresses");
        self.nodes()
            .patch_status(name, &PatchParams::default(), &Patch::Merge(status))
            .await
            .expect("the node's status is accepted");
    }

    /// Changes a node by a merge patch.
    pub async fn patch_node(&self, name: &str, patch: Value) {
        self.nodes()
            .patch(name, &PatchParams::default(), &Patch::Merge(patch))
            .await
            .expect("the patch is accepted");
    }

    /// Sets or removes the label that keeps a node out of load balancers.
    pub async fn label_node_excluded(&self, name: &str, value: Option<&str>) {
        let labels = json!({manifests::EXCLUDED_FROM_LOAD_BALANCERS: value});
        self.patch_node(name, json!({"metadata": {"labels": labels}}))
            .await;
    }

    /// Deletes a node, which must exist.
    pub async fn delete_node(&self, name: &str) {
        self.nodes()
            .delete(name, &DeleteParams::default())
            .await
            .expect("the node is deleted");
    }
}
