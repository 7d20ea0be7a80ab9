//! Which record a number of a history means, and the records that existed once.

use super::kind::Kind;
use crate::manifests::NAMESPACE;
use kube::Client;
use kube::api::{DynamicObject, ListParams};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The records of the test's namespace, in the order of their names.
pub(super) async fn list(client: &Client) -> Vec<DynamicObject> {
    let api = Kind::Record.api(client, NAMESPACE);
    let mut records = api.list(&ListParams::default()).await.map_or_else(
        |error| panic!("records cannot be listed: {error}"),
        |list| list.items,
    );
    records.sort_by_key(|record| record.metadata.name.clone());
    records
}

/// A backup of records.
#[derive(Debug, Default)]
pub(super) struct Backup(BTreeMap<String, Value>);

impl Backup {
    pub(super) async fn update(&mut self, client: &Client) {
        for record in list(client).await {
            let name = record.metadata.name.clone().unwrap_or_default();
            let meta = &record.metadata;
            let restored = json!({
                "metadata": {
                    "name": name, "namespace": meta.namespace, "labels": meta.labels,
                    "annotations": meta.annotations, "finalizers": meta.finalizers,
                    "ownerReferences": meta.owner_references,
                },
                "spec": record.data["spec"],
            });
            self.0.insert(name, restored);
        }
    }

    pub(super) fn nth(&self, number: usize) -> Option<&Value> {
        let count = self.0.len().max(1);
        self.0.values().nth(number % count)
    }
}
