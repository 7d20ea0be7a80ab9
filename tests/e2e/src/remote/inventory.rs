//! The names of everything in a cluster.

use super::RemoteCluster;
use kube::api::{Api, DynamicObject, ListParams};
use kube::discovery::{Discovery, verbs};
use std::collections::BTreeSet;
use std::path::Path;

/// A line for each object of the cluster of a kubeconfig, of all kinds, so that a run can be checked to
/// leave nothing.
///
/// # Panics
/// If something cannot be read.
pub async fn inventory(kubeconfig: &Path) -> BTreeSet<String> {
    let client = RemoteCluster::connect(kubeconfig).client();
    let discovery = Discovery::new(client.clone()).run().await;
    let discovery = discovery.expect("the kinds can be read");
    let mut names = BTreeSet::new();
    for group in discovery.groups() {
        for (resource, capabilities) in group.recommended_resources() {
            if !capabilities.supports_operation(verbs::LIST) {
                continue;
            }
            let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
            let objects = api.list_metadata(&ListParams::default()).await;
            let objects = objects.unwrap_or_else(|error| panic!("{}: {error}", resource.plural));
            for object in objects.items {
                let namespace = object.metadata.namespace.unwrap_or_default();
                let name = object.metadata.name.unwrap_or_default();
                let (plural, group) = (&resource.plural, &resource.group);
                names.insert(format!("{plural}.{group} {namespace}/{name}"));
            }
        }
    }
    names
}
