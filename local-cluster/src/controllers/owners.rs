//! Owner references, and an index of objects by the workload that controls them; those without a controller
//! by their labels.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::indexes::{LabelIndex, MultiMap};
use crate::object::{Object, child, items, string};
use crate::resources::Kind;
use crate::selector::LabelSelector;
use crate::store::{Resource, Stored};

/// The uid of an object's controller.
pub(super) fn controller_uid(object: &Object) -> Option<&str> {
    items(object, &["metadata", "ownerReferences"])
        .find(|reference| reference.get("controller") == Some(&Value::Bool(true)))?
        .get("uid")?
        .as_str()
}

/// The reference that makes `owner` the controller of another object.
pub(super) fn controller_reference(kind: &Kind, owner: &Stored) -> Value {
    json!({
        "apiVersion": kind.api_version(), "kind": kind.kind, "name": owner.name,
        "uid": owner.uid(), "controller": true, "blockOwnerDeletion": true,
    })
}

pub(super) fn with_owner(object: &Object, reference: Value) -> Object {
    let mut next = object.clone();
    let references = child(&mut next, "metadata")
        .entry("ownerReferences")
        .or_insert_with(|| json!([]));
    match references {
        Value::Array(list) => list.push(reference),
        other => *other = json!([reference]),
    }
    next
}

pub(super) fn without_owners(object: &Object, uids: &[String]) -> Object {
    let mut next = object.clone();
    let meta = child(&mut next, "metadata");
    if let Some(Value::Array(list)) = meta.get_mut("ownerReferences") {
        list.retain(|reference| !uids.iter().any(|uid| uid == string(reference, "uid")));
        if list.is_empty() {
            meta.remove("ownerReferences");
        }
    }
    next
}

/// An object that may have a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IndexedObject {
    pub(super) resource: Resource,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) uid: String,
    controller: Option<String>,
}

/// All objects that may have a controller; keys are uids.
#[derive(Debug, Default)]
pub(super) struct OwnerIndex {
    objects: HashMap<String, IndexedObject>,
    controlled: MultiMap<String, String>,
    orphans: LabelIndex,
}

impl OwnerIndex {
    /// Applies the current state of an object. Returns the uids of its former and present controllers.
    pub(super) fn apply(
        &mut self,
        resource: &Resource,
        stored: &Stored,
        deleted: bool,
    ) -> Vec<String> {
        let uid = stored.uid();
        let before = self.objects.remove(uid).and_then(|o| o.controller);
        let controller = controller_uid(&stored.object).map(str::to_owned);
        if before != controller || deleted {
            if let Some(owner) = &before {
                self.controlled.remove(owner, uid);
            }
            self.orphans.remove(uid);
        }
        if !deleted {
            match &controller {
                Some(owner) => self.controlled.insert(owner.clone(), uid.to_owned()),
                None => self.orphans.insert(uid, &stored.namespace, &stored.object),
            }
            let object = IndexedObject {
                resource: resource.clone(),
                namespace: stored.namespace.clone(),
                name: stored.name.clone(),
                uid: uid.to_owned(),
                controller: controller.clone(),
            };
            self.objects.insert(uid.to_owned(), object);
        }
        let mut owners: Vec<String> = before.into_iter().chain(controller).collect();
        owners.dedup();
        owners
    }

    pub(super) fn controller_of(&self, uid: &str) -> Option<&str> {
        self.objects.get(uid)?.controller.as_deref()
    }

    pub(super) fn controlled_by(&self, uid: &str) -> Vec<IndexedObject> {
        self.objects(self.controlled.get(uid).into_iter().flatten())
    }

    pub(super) fn count(&self, uid: &str) -> usize {
        self.controlled.count(uid)
    }

    /// Objects without a controller, among them all that the selector matches.
    pub(super) fn orphans(&self, namespace: &str, selector: &LabelSelector) -> Vec<IndexedObject> {
        self.objects(&self.orphans.candidates(namespace, selector))
    }

    fn objects<'s>(&self, uids: impl IntoIterator<Item = &'s String>) -> Vec<IndexedObject> {
        uids.into_iter()
            .filter_map(|uid| self.objects.get(uid).cloned())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;

    fn pod(uid: &str, owner: Option<&str>, labels: Value) -> Stored {
        let mut pod = object(json!({"metadata": {
            "name": uid, "namespace": "d", "uid": uid, "labels": labels,
        }}));
        if let Some(owner) = owner {
            pod = with_owner(&pod, json!({"uid": owner, "controller": true}));
        }
        Stored::new(pod, 1)
    }

    #[test]
    fn objects_are_found_by_controller_or_label() {
        let pods = Resource::new("", "pods");
        let mut index = OwnerIndex::default();
        let web = json!({"app": "web"});
        let selector = LabelSelector::parse("app=web").unwrap();
        let names = |members: Vec<IndexedObject>| -> Vec<String> {
            members.into_iter().map(|m| m.name).collect()
        };
        assert_eq!(
            index.apply(&pods, &pod("a", None, web.clone()), false),
            [""; 0]
        );
        assert_eq!(names(index.orphans("d", &selector)), ["a"]);
        let adopted = pod("a", Some("o"), web.clone());
        assert_eq!(index.apply(&pods, &adopted, false), ["o"]);
        assert_eq!(index.apply(&pods, &adopted, false), ["o"]);
        assert_eq!(names(index.controlled_by("o")), ["a"]);
        assert_eq!(names(index.orphans("d", &selector)), [""; 0]);
        assert_eq!(index.controller_of("a"), Some("o"));
        let other = pod("a", Some("p"), web);
        assert_eq!(index.apply(&pods, &other, false), ["o", "p"]);
        assert_eq!(index.apply(&pods, &other, true), ["p"]);
        assert_eq!(names(index.controlled_by("p")), [""; 0]);
        assert!(index.objects.is_empty() && index.controlled.is_empty());
    }

    #[test]
    fn an_owner_that_is_not_the_controller_does_not_count() {
        let owned = object(json!({"metadata": {"ownerReferences": [{"uid": "o"}]}}));
        assert_eq!(controller_uid(&owned), None);
        let both = with_owner(&owned, json!({"uid": "p", "controller": true}));
        assert_eq!(controller_uid(&both), Some("p"));
    }
}
