//! The objects that the rehearsed controller decides on.

use crate::manifests::MANAGER;
use kube::api::DynamicObject;
use lbcf_controller::ObjectKey;
use lbcf_controller::api::{DRIVER_TYPE, GROUP};
use lbcf_controller::names::{ANNOTATION_ADDRESS, ANNOTATION_SIGNATURE, resolve};
use lbcf_inspect::{Cluster, Kind, ObjectRef};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

type Object = Map<String, Value>;

/// The copies: each namespace before what is in it, and a driver for each that is in use and may not be seen.
pub(super) struct Copy {
    pub(super) objects: Vec<Object>,
    /// The drivers' URLs and whether they accept dry runs.
    pub(super) drivers: BTreeMap<ObjectKey, Object>,
    pub(super) notes: Vec<String>,
}

pub(super) fn copy(cluster: &Cluster, manifests: &[DynamicObject]) -> Copy {
    let unseen = cluster.unseen.iter();
    let mut notes: Vec<_> = unseen
        .map(|it| format!("not seen: {}: {}", it.what, it.why))
        .collect();
    let read = cluster.objects().filter_map(|(kind, mut object)| {
        let is_used = match kind {
            Kind::Deployment | Kind::Lease | Kind::Event => false,
            Kind::BackendRecord => unsigned(&mut object),
            _ => true,
        };
        is_used.then_some(())?;
        let metadata = object.get_mut("metadata")?.as_object_mut()?;
        take_over(metadata);
        Some(object)
    });
    let mut objects: Vec<Object> = read.collect();
    keep_owners_that_are_copied(&mut objects);
    // The garbage collector deletes what comes before its owner.
    objects.sort_by_key(|it| kind(it) != "Service");
    let written = manifests
        .iter()
        .filter_map(|it| match serde_json::to_value(it) {
            Ok(Value::Object(object)) => Some(object),
            _ => None,
        });
    let written: Vec<Object> = written.collect();
    for driver in missing(cluster, objects.iter().chain(&written)) {
        notes.push(format!(
            "LoadBalancerDriver {driver} may not be seen, and is assumed to exist"
        ));
        objects.insert(0, assumed_driver(&driver));
    }
    // What the cluster has is what is called.
    let all = written.iter().chain(&objects);
    let drivers = all.clone().filter(|it| kind(it) == "LoadBalancerDriver");
    let drivers = drivers.map(|it| (key(it), it.clone())).collect();
    let namespaces: BTreeSet<String> = all.map(|it| key(it).namespace.to_string()).collect();
    let namespaces = namespaces.into_iter().filter(|name| !name.is_empty());
    let namespaces = namespaces.map(|name| {
        fields(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "status": {"phase": "Active"}}))
    });
    objects.splice(..0, namespaces.collect::<Vec<_>>());
    Copy {
        objects,
        drivers,
        notes,
    }
}

/// The garbage collector would delete what lost its owner.
fn keep_owners_that_are_copied(objects: &mut [Object]) {
    let uid = |it: &Object| it.get("metadata").map(|it| it["uid"].clone());
    let uids: Vec<Value> = objects.iter().filter_map(uid).collect();
    let uids: BTreeSet<&str> = uids.iter().filter_map(Value::as_str).collect();
    for metadata in objects.iter_mut().filter_map(|it| it.get_mut("metadata")) {
        let owners = metadata.get_mut("ownerReferences");
        if let Some(owners) = owners.and_then(Value::as_array_mut) {
            owners.retain(|it| it["uid"].as_str().is_some_and(|uid| uids.contains(uid)));
        }
    }
}

/// Makes a record one of a controller from before records were signed, because the key may not be read. False for one that
/// registers nothing yet: it is created again.
fn unsigned(record: &mut Object) -> bool {
    let status = record
        .get("status")
        .and_then(|it| it["backendAddr"].as_str());
    let is_registered = status.is_some_and(|it| !it.is_empty());
    if let Some(metadata) = record.get_mut("metadata") {
        // Older than the key of the copy, whatever the clocks are.
        metadata["creationTimestamp"] = "1970-01-01T00:00:00Z".into();
        let annotations = metadata.get_mut("annotations");
        if let Some(annotations) = annotations.and_then(Value::as_object_mut) {
            let kept = |name: &str| ![ANNOTATION_SIGNATURE, ANNOTATION_ADDRESS].contains(&name);
            annotations.retain(|name, _| kept(name));
        }
    }
    is_registered
}

/// Lets the fields that kubectl has applied belong to whom applies them now, so that those which are not in the manifest any
/// more are removed.
fn take_over(metadata: &mut Object) {
    let managed = metadata
        .get_mut("managedFields")
        .and_then(Value::as_array_mut);
    let mut managers = managed.into_iter().flatten();
    let by_kubectl = managers.find(|it| {
        let (manager, operation) = (it["manager"].as_str(), it["operation"].as_str());
        manager == Some("kubectl-client-side-apply")
            || manager == Some("kubectl") && operation == Some("Apply")
    });
    if let Some(manager) = by_kubectl {
        manager["manager"] = MANAGER.into();
        manager["operation"] = "Apply".into();
    }
}

/// The drivers that load balancers name and that may exist without being seen.
fn missing<'a>(
    cluster: &Cluster,
    objects: impl Iterator<Item = &'a Object> + Clone,
) -> BTreeSet<ObjectKey> {
    let named = objects.clone().flat_map(|object| {
        let spec = object.get("spec").unwrap_or(&Value::Null);
        let names: Vec<&Value> = match kind(object) {
            "LoadBalancer" => vec![&spec["lbDriver"]],
            "Bind" => spec["loadBalancers"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|it| &it["driver"])
                .collect(),
            _ => Vec::new(),
        };
        let namespace = key(object).namespace;
        let names = names.into_iter().filter_map(Value::as_str);
        names
            .map(|name| resolve(&namespace, name))
            .collect::<Vec<_>>()
    });
    let there: BTreeSet<ObjectKey> = objects
        .filter(|it| kind(it) == "LoadBalancerDriver")
        .map(key)
        .collect();
    let may_exist = |driver: &ObjectKey| {
        let driver = ObjectRef::new(Kind::LoadBalancerDriver, driver.clone());
        !there.contains(&driver.key) && !cluster.sees(&driver)
    };
    named.filter(may_exist).collect()
}

fn assumed_driver(driver: &ObjectKey) -> Object {
    let ObjectKey { namespace, name } = driver;
    fields(json!({
        "apiVersion": format!("{GROUP}/v1beta1"), "kind": "LoadBalancerDriver",
        "metadata": {"name": &**name, "namespace": &**namespace, "uid": driver.to_string()},
        "spec": {"driverType": DRIVER_TYPE, "url": format!("http://{name}.{namespace}.invalid")},
    }))
}

fn fields(value: Value) -> Object {
    match value {
        Value::Object(fields) => fields,
        _ => Object::new(),
    }
}

fn kind(object: &Object) -> &str {
    object
        .get("kind")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn key(object: &Object) -> ObjectKey {
    let metadata = object.get("metadata").unwrap_or(&Value::Null);
    let text = |name: &str| metadata[name].as_str().unwrap_or_default().to_owned();
    ObjectKey::new(text("namespace"), text("name"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_kubectl_applied_is_taken_over_and_what_others_set_is_not() {
        for (manager, operation, expected) in [
            ("kubectl-client-side-apply", "Update", (MANAGER, "Apply")),
            ("kubectl", "Apply", (MANAGER, "Apply")),
            ("kubectl", "Update", ("kubectl", "Update")),
            ("helm", "Apply", ("helm", "Apply")),
        ] {
            let managed = json!([{"manager": manager, "operation": operation}]);
            let mut metadata = fields(json!({"managedFields": managed}));
            take_over(&mut metadata);
            let entry = &metadata["managedFields"][0];
            assert_eq!(
                (&entry["manager"], &entry["operation"]),
                (&json!(expected.0), &json!(expected.1))
            );
        }
    }

    #[test]
    fn owners_that_are_not_copied_are_forgotten() {
        let owners = json!([{"uid": "there"}, {"uid": "elsewhere"}]);
        let service = json!({"metadata": {"uid": "there"}});
        let slice = json!({"metadata": {"uid": "a", "ownerReferences": owners}});
        let mut objects = [service, slice].map(fields);
        keep_owners_that_are_copied(&mut objects);
        let kept = &objects[1]["metadata"]["ownerReferences"];
        assert_eq!(*kept, json!([{"uid": "there"}]));
    }

    #[test]
    fn a_record_is_copied_without_its_signature_once_it_has_an_address() {
        let annotations =
            json!({ANNOTATION_SIGNATURE: "s", ANNOTATION_ADDRESS: "a s", "other": "x"});
        for (address, is_copied) in [("10.0.0.1:80", true), ("", false)] {
            let mut record = fields(json!({
                "metadata": {"annotations": annotations}, "status": {"backendAddr": address},
            }));
            assert_eq!(unsigned(&mut record), is_copied);
            assert_eq!(record["metadata"]["annotations"], json!({"other": "x"}));
        }
        assert!(!unsigned(&mut fields(json!({"metadata": {}}))));
    }
}
