//! Sets of fields, as `managedFields` writes them.
//!
//! A set is a tree. Its branches have the names that the API uses: `f:NAME` for a field, `k:{…}` for
//! an item of a keyed list, `v:…` for a member of a set. A node that is itself in the set and has
//! more below says so with a `.`.

mod values;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::object::Object;

/// A node of a set of fields, or the whole set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldSet {
    /// Whether what this node stands for is itself in the set.
    pub(super) member: bool,
    pub(super) children: BTreeMap<String, Self>,
}

impl FieldSet {
    /// Only the place itself.
    pub(super) fn leaf() -> Self {
        Self {
            member: true,
            children: BTreeMap::new(),
        }
    }

    /// The set of one field.
    pub(super) fn path(names: &[&str]) -> Self {
        let mut set = Self::leaf();
        for name in names.iter().rev() {
            let mut outer = Self::default();
            outer.children.insert(format!("f:{name}"), set);
            set = outer;
        }
        set
    }

    pub(super) fn is_empty(&self) -> bool {
        // No branch is kept that leads nowhere.
        !self.member && self.children.is_empty()
    }

    /// Puts a set below a branch, unless it is empty.
    pub(super) fn put(&mut self, branch: String, set: Self) {
        if !set.is_empty() {
            self.children.insert(branch, set);
        }
    }

    /// Whether a field is in the set.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        match names.split_first() {
            None => self.member,
            Some((first, rest)) => self
                .children
                .get(&format!("f:{first}"))
                .is_some_and(|child| child.has(rest)),
        }
    }

    /// What is in either.
    pub(super) fn union(mut self, other: &Self) -> Self {
        self.member |= other.member;
        for (branch, theirs) in &other.children {
            let own = self.children.remove(branch).unwrap_or_default();
            self.children.insert(branch.clone(), own.union(theirs));
        }
        self
    }

    /// What is in both.
    pub(super) fn intersection(&self, other: &Self) -> Self {
        let mut both = Self {
            member: self.member && other.member,
            children: BTreeMap::new(),
        };
        for (branch, own) in &self.children {
            if let Some(theirs) = other.children.get(branch) {
                both.put(branch.clone(), own.intersection(theirs));
            }
        }
        both
    }

    /// What is in this set and not in the other. What is below a place stays when the place goes.
    pub(super) fn difference(&self, other: &Self) -> Self {
        let mut left = Self {
            member: self.member && !other.member,
            children: BTreeMap::new(),
        };
        for (branch, own) in &self.children {
            match other.children.get(branch) {
                Some(theirs) => left.put(branch.clone(), own.difference(theirs)),
                None => left.put(branch.clone(), own.clone()),
            }
        }
        left
    }

    /// Takes from the set what is in the other; says whether anything was.
    pub(super) fn lose(&mut self, other: &Self) -> bool {
        let mut lost = self.member && other.member;
        self.member &= !other.member;
        for (branch, theirs) in &other.children {
            let Some(own) = self.children.get_mut(branch) else {
                continue;
            };
            lost |= own.lose(theirs);
            if own.is_empty() {
                self.children.remove(branch);
            }
        }
        lost
    }

    /// What is in this set and neither in the other nor below anything that is.
    pub(super) fn without(&self, other: &Self) -> Self {
        let mut left = Self {
            member: self.member && !other.member,
            children: BTreeMap::new(),
        };
        for (branch, own) in &self.children {
            match other.children.get(branch) {
                Some(theirs) if theirs.member => {}
                Some(theirs) => left.put(branch.clone(), own.without(theirs)),
                None => left.put(branch.clone(), own.clone()),
            }
        }
        left
    }

    /// Reads a set as the API writes it.
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

    /// The set as the API writes it.
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

    /// The members as messages write them: `.spec.ports[port=80,protocol="TCP"].name`.
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

/// A branch with the keys of an item in order, as they are compared.
fn sorted(branch: &str) -> String {
    let keys = branch
        .strip_prefix("k:")
        .and_then(|keys| serde_json::from_str::<Value>(keys).ok());
    match keys {
        Some(keys) => format!("k:{keys}"),
        None => branch.to_owned(),
    }
}

/// A branch as messages write it.
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
        let mut left = all.clone();
        assert!(left.lose(&some) && !left.lose(&some));
        assert_eq!(left, all.difference(&some));
        assert_eq!(
            json_of(&some.union(&all)),
            json!({"f:spec": {".": {}, "f:a": {}, "f:b": {".": {}, "f:c": {}}}})
        );
        assert!(all.has(&["spec", "b", "c"]) && !all.has(&["spec", "b"]));
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
