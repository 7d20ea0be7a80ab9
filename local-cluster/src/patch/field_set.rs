//! Sets of fields, as in `managedFields`.
//!
//! A set is a tree. Its branches have the names of the API: `f:NAME` for a field, `k:{…}` for an
//! item of a keyed list, `v:…` for a member of a set. A member with members below it is written
//! with a `.`.

mod values;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::object::Object;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    Union,
    Intersection,
    Difference,
    Without,
}

/// A node of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldSet {
    /// The node itself is in the set.
    pub(super) member: bool,
    pub(super) children: BTreeMap<String, Self>,
}

impl FieldSet {
    /// The set of the node itself.
    pub(super) fn leaf() -> Self {
        Self {
            member: true,
            children: BTreeMap::new(),
        }
    }

    fn path(names: &[&str]) -> Self {
        let mut set = Self::leaf();
        for name in names.iter().rev() {
            let mut outer = Self::default();
            outer.children.insert(format!("f:{name}"), set);
            set = outer;
        }
        set
    }

    pub(super) fn of_paths(paths: &[&[&str]]) -> Self {
        let sets = paths.iter().map(|path| Self::path(path));
        sets.fold(Self::default(), |all, set| all.union(&set))
    }

    pub(super) fn is_empty(&self) -> bool {
        // There are no empty branches.
        !self.member && self.children.is_empty()
    }

    /// Inserts a branch, unless the set is empty.
    pub(super) fn put(&mut self, branch: String, set: Self) {
        if !set.is_empty() {
            self.children.insert(branch, set);
        }
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        self.combined(other, Operation::Union)
    }

    pub(super) fn intersection(&self, other: &Self) -> Self {
        self.combined(other, Operation::Intersection)
    }

    /// Removes the members of the other set, but not the members below them.
    pub(super) fn difference(&self, other: &Self) -> Self {
        self.combined(other, Operation::Difference)
    }

    /// Removes the members of the other set, and everything below them.
    pub(super) fn without(&self, other: &Self) -> Self {
        self.combined(other, Operation::Without)
    }

    fn combined(&self, other: &Self, operation: Operation) -> Self {
        use Operation::{Difference, Intersection, Union, Without};
        let mut result = Self {
            member: match operation {
                Union => self.member || other.member,
                Intersection => self.member && other.member,
                Difference | Without => self.member && !other.member,
            },
            children: BTreeMap::new(),
        };
        for (branch, own) in &self.children {
            match (other.children.get(branch), operation) {
                (Some(theirs), Without) if theirs.member => {}
                (Some(theirs), _) => result.put(branch.clone(), own.combined(theirs, operation)),
                (None, Intersection) => {}
                (None, _) => result.put(branch.clone(), own.clone()),
            }
        }
        if operation == Union {
            let theirs = other.children.iter();
            for (branch, theirs) in
                theirs.filter(|(branch, _)| !self.children.contains_key(*branch))
            {
                result.put(branch.clone(), theirs.clone());
            }
        }
        result
    }

    pub(super) fn from_json(set: &Object) -> Self {
        let mut read = Self::default();
        for (branch, below) in set {
            match below.as_object() {
                _ if branch == "." => read.member = true,
                Some(below) => {
                    let mut child = Self::from_json(below);
                    child.member |= below.is_empty();
                    read.put(sorted(branch), child);
                }
                None => {}
            }
        }
        read
    }

    pub(super) fn to_json(&self) -> Object {
        let mut written = Object::new();
        for (branch, child) in &self.children {
            let mut below = child.to_json();
            if child.member && !below.is_empty() {
                below.insert(".".to_owned(), Value::Object(Object::new()));
            }
            written.insert(branch.clone(), Value::Object(below));
        }
        written
    }

    /// The members as in messages: `.spec.ports[port=80,protocol="TCP"].name`.
    pub(super) fn paths(&self) -> Vec<String> {
        fn walk(set: &FieldSet, path: &str, paths: &mut Vec<String>) {
            for (branch, child) in &set.children {
                if child.member {
                    paths.push(format!("{path}{}", shown(branch)));
                }
            }
            for (branch, child) in &set.children {
                walk(child, &format!("{path}{}", shown(branch)), paths);
            }
        }
        let mut paths = Vec::new();
        walk(self, "", &mut paths);
        paths
    }
}

/// The branch with its keys in order.
fn sorted(branch: &str) -> String {
    let keys = branch
        .strip_prefix("k:")
        .and_then(|keys| serde_json::from_str::<Value>(keys).ok());
    match keys {
        Some(keys) => format!("k:{keys}"),
        None => branch.to_owned(),
    }
}

fn shown(branch: &str) -> String {
    if let Some(name) = branch.strip_prefix("f:") {
        return format!(".{name}");
    }
    if let Some(member) = branch.strip_prefix("v:") {
        return format!("[={member}]");
    }
    let keys = branch
        .strip_prefix("k:")
        .and_then(|keys| serde_json::from_str::<Object>(keys).ok())
        .unwrap_or_default();
    let pairs: Vec<String> = keys.iter().map(|(k, v)| format!("{k}={v}")).collect();
    format!("[{}]", pairs.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use serde_json::json;

    fn set(value: Value) -> FieldSet {
        FieldSet::from_json(&object(value))
    }

    fn json_of(set: &FieldSet) -> Value {
        Value::Object(set.to_json())
    }

    #[test]
    fn sets_combine_member_by_member() {
        let all = set(json!({"f:spec": {".": {}, "f:a": {}, "f:b": {"f:c": {}}}}));
        let some = set(json!({"f:spec": {"f:a": {}, "f:b": {}}}));
        assert_eq!(
            json_of(&all.difference(&some)),
            json!({"f:spec": {".": {}, "f:b": {"f:c": {}}}})
        );
        assert_eq!(json_of(&all.without(&some)), json!({"f:spec": {}}));
        assert_eq!(
            json_of(&all.intersection(&some)),
            json!({"f:spec": {"f:a": {}}})
        );
        assert!(all.difference(&all).is_empty());
        assert_eq!(
            json_of(&some.union(&all)),
            json!({"f:spec": {".": {}, "f:a": {}, "f:b": {".": {}, "f:c": {}}}})
        );
        assert_eq!(all.to_json()["f:spec"]["f:b"], json!({"f:c": {}}));
    }

    #[test]
    fn paths_read_like_kubernetes() {
        let ports = set(json!({"f:spec": {"f:ports": {
            "k:{\"protocol\":\"TCP\",\"port\":80}": {".": {}, "f:name": {}}},
            "f:finalizers": {"v:\"x\"": {}}}}));
        assert_eq!(
            ports.paths(),
            [
                ".spec.finalizers[=\"x\"]",
                ".spec.ports[port=80,protocol=\"TCP\"]",
                ".spec.ports[port=80,protocol=\"TCP\"].name"
            ]
        );
    }
}
