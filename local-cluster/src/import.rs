//! Copies of objects of another cluster.

use crate::LocalCluster;
use crate::error::Error;
use crate::object::{Object, child, name};
use crate::store::WriteError;
use serde_json::Value;

impl LocalCluster {
    /// Stores objects as another cluster has them: with their UIDs, times, statuses and managed fields. Nothing is checked or
    /// defaulted, admission is not asked, and an object that exists stays as it is. A namespace comes before what is in
    /// it; definitions have to be established.
    ///
    /// # Errors
    /// [`Error::Setup`] names the first object that cannot be stored.
    pub fn import(&self, objects: impl IntoIterator<Item = Object>) -> Result<(), Error> {
        let kinds = self.cluster.registry.all();
        for mut object in objects {
            let text = |field| {
                object
                    .get(field)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            let types = (text("apiVersion"), text("kind"));
            let kind = kinds
                .iter()
                .find(|it| (&*it.api_version(), &*it.kind) == types);
            let described = format!("{} {}", types.1, name(&object));
            let kind = kind.ok_or_else(|| Error::Setup(format!("{described}: no such kind")))?;
            child(&mut object, "metadata").remove("resourceVersion");
            let (new, store) = (kind.to_storage(object), &self.cluster.store);
            match store.insert(&kind.storage, new, kind.namespaced) {
                Ok(_) | Err(WriteError::Exists) => {}
                Err(error) => return Err(Error::Setup(format!("{described}: {error:?}"))),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{LocalCluster, LocalClusterOptions};
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::Api;
    use kube::api::ListParams;
    use serde_json::{Value, json};

    #[tokio::test]
    async fn objects_are_stored_as_another_cluster_has_them() {
        let cluster = LocalCluster::start(LocalClusterOptions::default())
            .await
            .unwrap();
        let map = |name: &str, namespace: &str| {
            let map = json!({
                "apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"},
                "metadata": {"name": name, "namespace": namespace, "uid": "u-1", "resourceVersion": "77",
                    "creationTimestamp": "2020-01-01T00:00:00Z", "finalizers": ["a.example/b"]},
            });
            let Value::Object(map) = map else {
                unreachable!()
            };
            map
        };
        cluster
            .import([map("a", "default"), map("a", "default")])
            .unwrap();
        let maps: Api<ConfigMap> = Api::namespaced(cluster.client(), "default");
        let stored = maps.list(&ListParams::default()).await.unwrap().items;
        assert_eq!(stored.len(), 1);
        let metadata = &stored[0].metadata;
        assert_eq!(metadata.uid.as_deref(), Some("u-1"));
        assert_ne!(metadata.resource_version.as_deref(), Some("77"));
        assert_eq!(
            metadata.creation_timestamp.as_ref().unwrap().0.to_string(),
            "2020-01-01T00:00:00Z"
        );
        let error = cluster
            .import([map("a", "missing")])
            .unwrap_err()
            .to_string();
        assert!(error.contains("ConfigMap a"), "{error}");
        let mut other = map("b", "default");
        other.insert("kind".into(), json!("Thing"));
        let error = cluster.import([other]).unwrap_err().to_string();
        assert!(error.contains("Thing b: no such kind"), "{error}");
    }
}
