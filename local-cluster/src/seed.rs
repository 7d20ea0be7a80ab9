//! Creates the initial objects of a cluster.
//!
//! After a restart, what every Kubernetes cluster has is created again if it was deleted, but nodes are
//! not.

use serde_json::{Value, json};

use crate::clock;
use crate::object::{Object, is_condition_true, meta, object};
use crate::options::{LocalClusterOptions, NodeSpec};
use crate::resources::{fill_defaults, kinds_of};
use crate::rules::{FieldValidation, WriteOptions};
use crate::status::ApiError;
use crate::store::Resource;
use crate::writer::Cluster;

const CREATED: &str = "creationTimestamp";

const NAMESPACES: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

/// Creates namespaces, nodes and the API's own service.
pub(crate) async fn seed(cluster: &Cluster, options: &LocalClusterOptions) -> Result<(), ApiError> {
    for name in NAMESPACES {
        let namespace = json!({"metadata": {"name": name}});
        create(cluster, "namespaces", "", namespace).await?;
    }
    for node in &options.nodes {
        let part = format!("nodes/{}", node.name);
        if !cluster.store.is_seeded(&part) {
            create(cluster, "nodes", "", node_object(node)).await?;
            cluster.store.set_seeded(&part)?;
        }
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

/// Serves the established definitions of an earlier process before the first request arrives.
pub(crate) fn serve_definitions(cluster: &Cluster) {
    let definitions = Resource::new("apiextensions.k8s.io", "customresourcedefinitions");
    let (mut found, _) = cluster.store.list(&definitions, None);
    // Discovery lists kinds in the order of their definitions' creation.
    found.sort_by(|a, b| meta(&a.object, CREATED).cmp(&meta(&b.object, CREATED)));
    for definition in found {
        if is_condition_true(&definition.object, "Established") {
            let kinds = kinds_of(&definition.object);
            cluster.registry.set_custom(&definition.name, kinds);
        }
    }
}

/// Creates an object, unless it exists.
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
    match cluster.create(&kind, namespace, new, &options).await {
        // After a restart it may exist, or its namespace may be terminating.
        Err(error) if !matches!(error.code(), 403 | 409) => Err(error),
        _ => Ok(()),
    }
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
                "message": "the local cluster simulates this node",
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
