//! Which objects a controller's object controls, and which are free to be adopted.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};

use super::labels::Labelled;
use crate::object::{Object, at, child};
use crate::resources::Kind;
use crate::selector::LabelSelector;
use crate::store::{Resource, Stored};

/// Where an object is that may be controlled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) resource: Resource,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) uid: String,
    controller: Option<String>,
}

/// Objects by who controls them; all are named by uid.
#[derive(Debug, Default)]
pub(super) struct Kin {
    members: HashMap<String, Member>,
    controlled: HashMap<String, BTreeSet<String>>,
    free: Labelled,
}

impl Kin {
    /// Takes in an object as it is now; says whose it was and whose it is.
    pub(super) fn see(&mut self, resource: &Resource, stored: &Stored, gone: bool) -> Vec<String> {
        let uid = stored.uid();
        let before = self.members.remove(uid).and_then(|m| m.controller);
        let controller = controller(&stored.object).map(str::to_owned);
        if before != controller || gone {
            if let Some(owner) = &before
                && let Some(set) = self.controlled.get_mut(owner)
            {
                set.remove(uid);
                if set.is_empty() {
                    self.controlled.remove(owner);
                }
            }
            self.free.remove(uid);
        }
        if !gone {
            match &controller {
                Some(owner) => {
                    let set = self.controlled.entry(owner.clone()).or_default();
                    set.insert(uid.to_owned());
                }
                None => self.free.insert(uid, &stored.namespace, &stored.object),
            }
            let member = Member {
                resource: resource.clone(),
                namespace: stored.namespace.clone(),
                name: stored.name.clone(),
                uid: uid.to_owned(),
                controller: controller.clone(),
            };
            self.members.insert(uid.to_owned(), member);
        }
        let mut owners: Vec<String> = before.into_iter().chain(controller).collect();
        owners.dedup();
        owners
    }

    /// Who controls an object.
    pub(super) fn controller_of(&self, uid: &str) -> Option<&str> {
        self.members.get(uid)?.controller.as_deref()
    }

    /// What an object controls.
    pub(super) fn controlled_by(&self, uid: &str) -> Vec<Member> {
        let uids = self.controlled.get(uid).into_iter().flatten();
        uids.filter_map(|uid| self.members.get(uid).cloned())
            .collect()
    }

    /// How many objects one controls.
    pub(super) fn count(&self, uid: &str) -> usize {
        self.controlled.get(uid).map_or(0, BTreeSet::len)
    }

    /// Objects that nobody controls, among them all that a selector matches.
    pub(super) fn free(&self, namespace: &str, selector: &LabelSelector) -> Vec<Member> {
        let uids = self.free.candidates(namespace, selector);
        uids.iter()
            .filter_map(|uid| self.members.get(uid).cloned())
            .collect()
    }
}

/// The uid of who controls an object.
pub(super) fn controller(object: &Object) -> Option<&str> {
    at(object, &["metadata", "ownerReferences"])?
        .as_array()?
        .iter()
        .find(|reference| reference.get("controller") == Some(&Value::Bool(true)))?
        .get("uid")?
        .as_str()
}

/// What an object's metadata says about who controls it.
pub(super) fn reference(kind: &Kind, owner: &Stored) -> Value {
    json!({
        "apiVersion": kind.api_version(), "kind": kind.kind, "name": owner.name,
        "uid": owner.uid(), "controller": true, "blockOwnerDeletion": true,
    })
}

/// The object, adopted.
pub(super) fn adopted(object: &Object, reference: Value) -> Object {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;

    fn pod(uid: &str, owner: Option<&str>, labels: Value) -> Stored {
        let mut pod = object(json!({"metadata": {
            "name": uid, "namespace": "d", "uid": uid, "labels": labels,
        }}));
        if let Some(owner) = owner {
            pod = adopted(&pod, json!({"uid": owner, "controller": true}));
        }
        Stored::new(pod, 1)
    }

    #[test]
    fn objects_are_found_by_controller_or_label() {
        let pods = Resource::new("", "pods");
        let mut kin = Kin::default();
        let web = json!({"app": "web"});
        let selector = LabelSelector::parse("app=web").unwrap();
        let names =
            |members: Vec<Member>| -> Vec<String> { members.into_iter().map(|m| m.name).collect() };
        assert_eq!(kin.see(&pods, &pod("a", None, web.clone()), false), [""; 0]);
        assert_eq!(names(kin.free("d", &selector)), ["a"]);
        let adopted = pod("a", Some("o"), web.clone());
        assert_eq!(kin.see(&pods, &adopted, false), ["o"]);
        assert_eq!(kin.see(&pods, &adopted, false), ["o"]);
        assert_eq!(names(kin.controlled_by("o")), ["a"]);
        assert_eq!(names(kin.free("d", &selector)), [""; 0]);
        assert_eq!(kin.controller_of("a"), Some("o"));
        let other = pod("a", Some("p"), web);
        assert_eq!(kin.see(&pods, &other, false), ["o", "p"]);
        assert_eq!(kin.see(&pods, &other, true), ["p"]);
        assert_eq!(names(kin.controlled_by("p")), [""; 0]);
        assert!(kin.members.is_empty() && kin.controlled.is_empty());
    }

    #[test]
    fn an_owner_that_does_not_control_does_not_count() {
        let owned = object(json!({"metadata": {"ownerReferences": [{"uid": "o"}]}}));
        assert_eq!(controller(&owned), None);
        let both = adopted(&owned, json!({"uid": "p", "controller": true}));
        assert_eq!(controller(&both), Some("p"));
    }
}
