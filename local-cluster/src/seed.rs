//! What a cluster holds before anybody asks for anything.

use serde_json::{Value, json};

use crate::clock;
use crate::object::{Object, object};
use crate::options::{LocalClusterOptions, NodeSpec};
use crate::resources::fill_defaults;
use crate::rules::{FieldValidation, WriteOptions};
use crate::status::ApiError;
use crate::writer::Cluster;

const NAMESPACES: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

/// Creates namespaces, nodes and the API's own service.
pub(crate) async fn seed(cluster: &Cluster, options: &LocalClusterOptions) -> Result<(), ApiError> {
    for name in NAMESPACES {
        create(
            cluster,
            "namespaces",
            "",
            json!({"metadata": {"name": name}}),
        )
        .await?;
    }
    for node in &options.nodes {
        create(cluster, "nodes", "", node_object(node)).await?;
    }
    let service = json!({
        "metadata": {
            "name": "kubernetes",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {"ports": [{"name": "https", "port": 443, "targetPort": 6443}]},
    });
    create(cluster, "services", "default", service).await
}

async fn create(
    cluster: &Cluster,
    plural: &str,
    namespace: &str,
    body: Value,
) -> Result<(), ApiError> {
    let Some(kind) = cluster.registry.builtin("", plural) else {
        return Ok(());
    };
    let mut new: Object = kind.present_object(object(body));
    fill_defaults(&kind, &mut new);
    let options = WriteOptions {
        validation: FieldValidation::Ignore,
        ..WriteOptions::default()
    };
    cluster
        .create(&kind, namespace, new, &options)
        .await
        .map(|_| ())
}

fn node_object(node: &NodeSpec) -> Value {
    let now = clock::now();
    let capacity = json!({"cpu": "8", "memory": "16Gi", "pods": "110"});
    json!({
        "metadata": {
            "name": node.name,
            "labels": {
                "kubernetes.io/hostname": node.name, "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
            },
        },
        "spec": {},
        "status": {
            "addresses": [
                {"type": "InternalIP", "address": node.address},
                {"type": "Hostname", "address": node.name},
            ],
            "capacity": capacity, "allocatable": capacity,
            "conditions": [{
                "type": "Ready", "status": "True", "reason": "KubeletReady",
                "message": "the local cluster plays this node",
                "lastHeartbeatTime": now, "lastTransitionTime": now,
            }],
            "nodeInfo": {
                "machineID": "", "systemUUID": "", "bootID": "", "kernelVersion": "",
                "osImage": "Local cluster", "containerRuntimeVersion": "", "kubeletVersion": "v1.36.2",
                "kubeProxyVersion": "", "operatingSystem": "linux", "architecture": "amd64",
            },
        },
    })
}
