//! The field sets of values.

use std::collections::BTreeMap;

use serde_json::Value;

use super::FieldSet;
use crate::object::Object;
use crate::patch::layout::{Layout, ListKind};

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
