//! Sets of fields, as in `managedFields`.
//!
//! A set is a tree. Its branches have the names of the API: `f:NAME` for a field, `k:{…}` for an
//! item of a keyed list, `v:…` for a member of a set. A member with members below it is written
//! with a `.`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::layout::{Layout, ListKind};
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

    pub(super) fn of_paths(paths: &[&[&str]]) -> Self {
        let mut set = Self::default();
        for path in paths {
            let mut node = &mut set;
            for name in *path {
                node = node.children.entry(format!("f:{name}")).or_default();
            }
            node.member = true;
        }
        set
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

impl FieldSet {
    pub(in crate::patch) fn of(value: &Value, layout: Layout<'_>) -> Self {
        let mut set = Self::default();
        match value {
            Value::Object(map) if !layout.is_atomic_map() => {
                for (name, value) in map {
                    let mut inner = Self::of(value, layout.of_field(name));
                    let bare = value.is_null() || value.as_object().is_some_and(Object::is_empty);
                    inner.member |= bare || !layout.declares(name);
                    set.put(format!("f:{name}"), inner);
                }
            }
            Value::Array(items) => match layout.list_kind() {
                ListKind::Atomic => set.member = true,
                kind => {
                    for item in items {
                        let Some(branch) = layout.item_name(&kind, item) else {
                            continue;
                        };
                        let inner = if set.children.contains_key(&branch) {
                            // Items with the same key are owned together, atomically.
                            Self::leaf()
                        } else if layout.has_atomic_items() {
                            Self::leaf()
                        } else {
                            let mut inner = Self::of(item, layout.of_item());
                            inner.member = true;
                            inner
                        };
                        set.children.insert(branch, inner);
                    }
                }
            },
            _ => set.member = true,
        }
        set
    }

    pub(in crate::patch) fn remove_from(&self, value: &mut Value, layout: Layout<'_>) {
        match value {
            Value::Object(map) if !layout.is_atomic_map() => {
                for (branch, child) in &self.children {
                    let Some(name) = branch.strip_prefix("f:") else {
                        continue;
                    };
                    if child.member {
                        map.remove(name);
                    } else if let Some(inner) = map.get_mut(name) {
                        child.remove_from(inner, layout.of_field(name));
                    }
                }
            }
            Value::Array(items) => {
                let kind = layout.list_kind();
                items.retain_mut(|item| {
                    let branch = layout.item_name(&kind, item);
                    match branch.and_then(|branch| self.children.get(&branch)) {
                        Some(child) if child.member => false,
                        Some(child) => {
                            child.remove_from(item, layout.of_item());
                            true
                        }
                        None => true,
                    }
                });
            }
            _ => {}
        }
    }

    /// Adds the named fields on the paths of the members: the fields of types, and neither keys of
    /// maps nor items of lists.
    pub(in crate::patch) fn with_named_fields(&self, layout: Layout<'_>) -> Self {
        let mut all = Self {
            member: self.member,
            children: BTreeMap::new(),
        };
        for (branch, child) in &self.children {
            let inner = match branch.strip_prefix("f:") {
                Some(name) => {
                    let mut inner = child.with_named_fields(layout.of_field(name));
                    inner.member |= layout.declares(name);
                    inner
                }
                None => child.with_named_fields(layout.of_item()),
            };
            all.children.insert(branch.clone(), inner);
        }
        all
    }

    /// Reduces what the schema now declares atomic to one member: definitions may change.
    pub(in crate::patch) fn reconciled(&self, layout: Layout<'_>) -> Self {
        let mut reconciled = Self {
            member: self.member,
            children: BTreeMap::new(),
        };
        let below: Vec<&str> = self.children.keys().map(String::as_str).collect();
        let is_map = below.iter().any(|branch| branch.starts_with("f:"));
        let is_list = !is_map && !below.is_empty();
        if (is_map && layout.is_atomic_map())
            || (is_list && layout.list_kind() == ListKind::Atomic)
            || (is_map && is_whole_item(layout))
        {
            return Self::leaf();
        }
        for (branch, child) in &self.children {
            let inner = match branch.strip_prefix("f:") {
                Some(name) => layout.of_field(name),
                None => layout.of_item(),
            };
            reconciled
                .children
                .insert(branch.clone(), child.reconciled(inner));
        }
        reconciled
    }
}

fn is_whole_item(layout: Layout<'_>) -> bool {
    matches!(layout, Layout::Builtin { .. }) && layout.has_atomic_items()
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

    const POD: Layout<'_> = Layout::Builtin {
        parent: "",
        field: "",
    };

    #[test]
    fn fields_follow_the_schema() {
        let schema = json!({"properties": {
            "list": {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
            "set": {"x-kubernetes-list-type": "set"}, "plain": {}, "empty": {},
            "map": {"additionalProperties": {"properties": {"x": {}}}},
        }});
        let value = json!({
            "list": [{"type": "a", "v": 1}], "set": ["x"], "plain": [1], "empty": {},
            "map": {"key": {"x": 1}},
        });
        assert_eq!(
            json_of(&FieldSet::of(&value, Layout::Custom(Some(&schema)))),
            json!({
                "f:list": {"k:{\"type\":\"a\"}": {".": {}, "f:type": {}, "f:v": {}}},
                "f:set": {"v:\"x\"": {}}, "f:plain": {}, "f:empty": {},
                "f:map": {"f:key": {".": {}, "f:x": {}}},
            })
        );
    }

    #[test]
    fn fields_of_built_in_kinds_follow_the_table() {
        let pod = json!({
            "metadata": {"ownerReferences": [{"uid": "u", "name": "n"}], "finalizers": ["a/b"]},
            "spec": {"containers": [{"name": "c", "ports": [{"containerPort": 80}]}],
                     "tolerations": [{"key": "k"}], "nodeSelector": {"a": "b"}},
        });
        assert_eq!(
            json_of(&FieldSet::of(&pod, POD)),
            json!({
                "f:metadata": {"f:ownerReferences": {"k:{\"uid\":\"u\"}": {}},
                               "f:finalizers": {"v:\"a/b\"": {}}},
                "f:spec": {
                    "f:containers": {"k:{\"name\":\"c\"}": {".": {}, "f:name": {}, "f:ports": {
                        "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}}}}},
                    "f:tolerations": {}, "f:nodeSelector": {},
                },
            })
        );
    }

    #[test]
    fn a_set_is_removed_from_a_value() {
        let mut pod =
            json!({"spec": {"x": 1, "containers": [{"name": "a", "image": "i"}, {"name": "b"}]}});
        let removed = set(json!({"f:spec": {"f:x": {}, "f:containers": {
            "k:{\"name\":\"a\"}": {"f:image": {}}, "k:{\"name\":\"b\"}": {".": {}, "f:name": {}}}}}));
        removed.remove_from(&mut pod, POD);
        assert_eq!(pod, json!({"spec": {"containers": [{"name": "a"}]}}));
    }

    #[test]
    fn fields_that_became_atomic_are_one_member() {
        let schema = json!({"properties": {"a": {"x-kubernetes-map-type": "atomic"}, "b": {}}});
        let old = set(json!({"f:a": {"f:x": {}}, "f:b": {"f:y": {}}}));
        assert_eq!(
            json_of(&old.reconciled(Layout::Custom(Some(&schema)))),
            json!({"f:a": {}, "f:b": {"f:y": {}}})
        );
    }
}
