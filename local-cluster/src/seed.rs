//! What a cluster holds before anybody asks for anything.
//!
//! A cluster that was there before is not set up again: what every Kubernetes cluster has comes back
//! when it was deleted, but a node that was deleted stays so.

use serde_json::{Value, json};

use crate::clock;
use crate::object::{Object, condition, meta, object};
use crate::options::{LocalClusterOptions, NodeSpec};
use crate::resources::fill_defaults;
use crate::resources::kinds_of;
use crate::rules::{FieldValidation, WriteOptions};
use crate::status::ApiError;
use crate::store::Resource;
use crate::writer::Cluster;

const CREATED: &str = "creationTimestamp";

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

/// Serves the definitions that were served before, so that nobody finds their kinds missing.
pub(crate) fn serve_definitions(cluster: &Cluster) {
    let definitions = Resource::new("apiextensions.k8s.io", "customresourcedefinitions");
    let (mut found, _) = cluster.store.list(&definitions, None);
    // Discovery lists kinds in the order in which their definitions came.
    found.sort_by(|a, b| meta(&a.object, CREATED).cmp(&meta(&b.object, CREATED)));
    for definition in found {
        let established = condition(&definition.object, "Established")
            .and_then(|condition| condition.get("status")?.as_str());
        if established == Some("True") {
            let kinds = kinds_of(&definition.object);
            cluster.registry.set_custom(&definition.name, kinds);
        }
    }
}

/// Creates an object, unless it is there.
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
        // After a restart it may be there, or its namespace may be on its way out.
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
