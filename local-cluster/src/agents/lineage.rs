//! Who owns whom, and what follows from it.
//!
//! The index is fed with every object; what is to be done about one of them is a question with a
//! pure answer, [`Lineage::decide`].

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use crate::object::{self, at, finalizers, is_deleting};
use crate::rules::{FOREGROUND, ORPHAN, Propagation};
use crate::store::{Resource, Stored};

/// What an object says about its family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) resource: Resource,
    pub(super) namespace: String,
    pub(super) name: String,
    owners: Vec<Owner>,
    deleting: bool,
    foreground: bool,
    orphaning: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Owner {
    uid: String,
    blocks: bool,
}

/// What is to be done about an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Its owners are gone, or wait for it to go.
    Delete(Propagation),
    /// Some of its owners are gone, others stay.
    Disown(Vec<String>),
    /// It waited for its dependents, and they are gone.
    Finish(&'static str),
    /// It wants its dependents to stay: they are disowned first.
    Orphan(Vec<String>),
}

/// All objects by uid, and the dependents of each.
#[derive(Debug, Default)]
pub(super) struct Lineage {
    members: HashMap<String, Member>,
    dependents: HashMap<String, BTreeSet<String>>,
}

impl Lineage {
    /// An object by its uid.
    pub(super) fn get(&self, uid: &str) -> Option<&Member> {
        self.members.get(uid)
    }

    /// Takes in an object as it is now. Returns the uids to decide about.
    pub(super) fn insert(&mut self, resource: &Resource, stored: &Stored) -> Vec<String> {
        let uid = stored.uid().to_owned();
        let member = Member {
            resource: resource.clone(),
            namespace: stored.namespace.clone(),
            name: stored.name.clone(),
            owners: owners(stored),
            deleting: is_deleting(&stored.object),
            foreground: finalizers(&stored.object).contains(&FOREGROUND),
            orphaning: finalizers(&stored.object).contains(&ORPHAN),
        };
        let mut affected = Vec::new();
        if let Some(before) = self.members.get(&uid) {
            if *before == member {
                return affected;
            }
            affected.extend(before.owners.iter().map(|o| o.uid.clone()));
            for owner in before.owners.clone() {
                self.unlink(&owner.uid, &uid);
            }
        }
        for owner in &member.owners {
            self.dependents
                .entry(owner.uid.clone())
                .or_default()
                .insert(uid.clone());
        }
        let waits = member.deleting;
        self.members.insert(uid.clone(), member);
        if waits {
            affected.extend(self.dependents_of(&uid));
        }
        affected.push(uid);
        affected
    }

    /// Forgets an object that is gone. Returns the uids to decide about.
    pub(super) fn remove(&mut self, uid: &str) -> Vec<String> {
        let mut affected = self.dependents_of(uid);
        if let Some(member) = self.members.remove(uid) {
            for owner in &member.owners {
                self.unlink(&owner.uid, uid);
                affected.push(owner.uid.clone());
            }
        }
        affected
    }

    fn unlink(&mut self, owner: &str, dependent: &str) {
        if let Some(set) = self.dependents.get_mut(owner) {
            set.remove(dependent);
            if set.is_empty() {
                self.dependents.remove(owner);
            }
        }
    }

    fn dependents_of(&self, uid: &str) -> Vec<String> {
        self.dependents
            .get(uid)
            .into_iter()
            .flatten()
            .cloned()
            .collect()
    }

    /// What is to be done about an object, if anything.
    pub(super) fn decide(&self, uid: &str) -> Option<Action> {
        let member = self.members.get(uid)?;
        let dependents = self.dependents_of(uid);
        if member.deleting {
            if member.orphaning {
                return Some(if dependents.is_empty() {
                    Action::Finish(ORPHAN)
                } else {
                    Action::Orphan(dependents)
                });
            }
            let blocked = dependents.iter().any(|dependent| {
                let owners = self.members.get(dependent).map(|d| &d.owners);
                owners
                    .into_iter()
                    .flatten()
                    .any(|o| o.uid == uid && o.blocks)
            });
            return (member.foreground && !blocked).then_some(Action::Finish(FOREGROUND));
        }
        if member.owners.is_empty() {
            return None;
        }
        let (mut solid, mut lost, mut waiting) = (0, Vec::new(), false);
        for owner in &member.owners {
            match self.members.get(&owner.uid) {
                // An owner must be cluster-wide or in the same namespace; others do not count.
                Some(found)
                    if found.namespace.is_empty() || found.namespace == member.namespace =>
                {
                    if found.deleting && found.foreground {
                        waiting = true;
                        lost.push(owner.uid.clone());
                    } else {
                        solid += 1;
                    }
                }
                _ => lost.push(owner.uid.clone()),
            }
        }
        match (solid, lost.is_empty()) {
            (_, true) => None,
            (0, false) if waiting && !dependents.is_empty() => {
                Some(Action::Delete(Propagation::Foreground))
            }
            (0, false) => Some(Action::Delete(Propagation::Background)),
            (_, false) => Some(Action::Disown(lost)),
        }
    }
}

fn owners(stored: &Stored) -> Vec<Owner> {
    at(&stored.object, &["metadata", "ownerReferences"])
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|reference| {
            Some(Owner {
                uid: reference.get("uid")?.as_str()?.to_owned(),
                blocks: reference.get("blockOwnerDeletion") == Some(&Value::Bool(true)),
            })
        })
        .collect()
}

/// The object without these owners.
pub(super) fn disowned(object: &object::Object, uids: &[String]) -> object::Object {
    let mut next = object.clone();
    let meta = object::child(&mut next, "metadata");
    if let Some(Value::Array(list)) = meta.get_mut("ownerReferences") {
        list.retain(|reference| {
            let uid = reference
                .get("uid")
                .and_then(Value::as_str)
                .unwrap_or_default();
            !uids.iter().any(|u| u == uid)
        });
        if list.is_empty() {
            meta.remove("ownerReferences");
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use serde_json::json;

    fn stored(uid: &str, owners: &[&str], extra: Value) -> Stored {
        let references: Vec<Value> = owners
            .iter()
            .map(|o| json!({"uid": o, "blockOwnerDeletion": true}))
            .collect();
        let mut meta =
            json!({"name": uid, "namespace": "d", "uid": uid, "ownerReferences": references});
        json_patch::merge(&mut meta, &extra);
        Stored::new(object(json!({"metadata": meta})), 1)
    }

    fn lineage(objects: &[Stored]) -> Lineage {
        let mut lineage = Lineage::default();
        for object in objects {
            lineage.insert(&Resource::new("g", "things"), object);
        }
        lineage
    }

    #[test]
    fn dependents_follow_their_last_owner() {
        let mut family = lineage(&[
            stored("a", &[], json!({})),
            stored("b", &[], json!({})),
            stored("c", &["a", "b"], json!({})),
        ]);
        assert_eq!(family.decide("c"), None);
        assert_eq!(family.remove("a"), ["c"]);
        assert_eq!(family.decide("c"), Some(Action::Disown(vec!["a".into()])));
        family.remove("b");
        assert_eq!(
            family.decide("c"),
            Some(Action::Delete(Propagation::Background))
        );
    }

    #[test]
    fn foreground_deletion_goes_from_the_leaves_up() {
        let foreground = json!({"deletionTimestamp": "t", "finalizers": [FOREGROUND]});
        let mut family = lineage(&[
            stored("root", &[], foreground),
            stored("branch", &["root"], json!({})),
            stored("leaf", &["branch"], json!({})),
        ]);
        assert_eq!(family.decide("root"), None);
        assert_eq!(
            family.decide("branch"),
            Some(Action::Delete(Propagation::Foreground))
        );
        family.remove("leaf");
        assert_eq!(
            family.decide("branch"),
            Some(Action::Delete(Propagation::Background))
        );
        assert_eq!(family.remove("branch"), ["root"]);
        assert_eq!(family.decide("root"), Some(Action::Finish(FOREGROUND)));
    }

    #[test]
    fn orphans_are_disowned_before_their_owner_goes() {
        let orphaning = json!({"deletionTimestamp": "t", "finalizers": [ORPHAN]});
        let mut family = lineage(&[stored("a", &[], orphaning), stored("b", &["a"], json!({}))]);
        assert_eq!(family.decide("a"), Some(Action::Orphan(vec!["b".into()])));
        assert_eq!(family.decide("b"), None);
        let freed = family.insert(&Resource::new("g", "things"), &stored("b", &[], json!({})));
        assert_eq!(freed, ["a", "b"]);
        assert_eq!(family.decide("a"), Some(Action::Finish(ORPHAN)));
    }

    #[test]
    fn an_owner_elsewhere_does_not_count() {
        let family = lineage(&[
            stored("a", &[], json!({"namespace": "other"})),
            stored("b", &["a"], json!({})),
        ]);
        assert_eq!(
            family.decide("b"),
            Some(Action::Delete(Propagation::Background))
        );
    }
}
