//! Server-side apply: a manager says which fields it wants, and owns them from then on.
//!
//! Only managers that apply are remembered. A plain update takes no ownership here, so it never
//! causes a conflict; on a cluster it can.

use serde_json::{Value, json};

use super::fields::{Context, ListKind, difference, fields_of, is_leaf, item_key};
use crate::object::{Object, at, child};
use crate::resources::Kind;
use crate::status::ApiError;

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// A request to apply.
#[derive(Clone, Debug)]
pub(crate) struct Apply {
    pub(crate) manager: String,
    pub(crate) force: bool,
    /// `status`, or empty for the rest of the object.
    pub(crate) subresource: String,
    /// What the manager wants, in presented form.
    pub(crate) wanted: Object,
}

/// What an apply makes of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Applied {
    /// The object in presented form.
    pub(crate) object: Object,
    /// The managers of its fields from now on.
    pub(crate) managed: Vec<Value>,
}

impl Apply {
    /// Applies to the object as it is; an empty one is created.
    pub(crate) fn to(&self, kind: &Kind, live: &Object, now: &str) -> Result<Applied, ApiError> {
        let schema = kind.custom.as_ref().map(|custom| custom.schema.as_ref());
        let context = match schema {
            Some(schema) => Context::Schema(schema),
            None => Context::Builtin {
                parent: "",
                field: "",
            },
        };
        let wanted = self.own_part(kind);
        let mut set = fields_of(&wanted, context);
        trim_metadata(&mut set);
        let others: Vec<Value> = at(live, &["metadata", "managedFields"])
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let (mine, mut others): (Vec<Value>, Vec<Value>) = others
            .into_iter()
            .partition(|entry| self.is_own(kind, entry));

        let live_value = Value::Object(live.clone());
        let mut conflicts = Vec::new();
        for entry in &others {
            let mut paths = Vec::new();
            let owned = fields(entry);
            collide(
                &set,
                &owned,
                (&wanted, &live_value),
                context,
                "",
                &mut paths,
            );
            conflicts.extend(paths.into_iter().map(|path| (owner(entry), path)));
        }
        if !conflicts.is_empty() && !self.force {
            return Err(ApiError::apply_conflicts(&conflicts));
        }
        if !conflicts.is_empty() {
            for entry in &mut others {
                disown(entry, &set, (&wanted, &live_value), context);
            }
            others.retain(|entry| !fields(entry).is_empty());
        }

        let before = mine.first().map(fields).unwrap_or_default();
        let mut dropped = difference(&before, &set);
        for entry in &others {
            dropped = difference(&dropped, &fields(entry));
        }
        let mut object = live_value;
        remove(&mut object, &dropped, context);
        merge(&mut object, &wanted, context);
        self.remember_for_kubectl(&mut object);

        let time = mine
            .first()
            .filter(|_| before == set)
            .and_then(|entry| entry.get("time")?.as_str())
            .unwrap_or(now);
        if !set.is_empty() {
            let mut entry = json!({
                "apiVersion": kind.api_version(), "fieldsType": "FieldsV1", "fieldsV1": set,
                "manager": self.manager, "operation": "Apply", "time": time,
            });
            if !self.subresource.is_empty() {
                entry["subresource"] = Value::from(self.subresource.as_str());
            }
            others.push(entry);
        }
        others.sort_by_key(|entry| {
            let word = |key: &str| {
                let text = entry.get(key).and_then(Value::as_str);
                text.unwrap_or_default().to_owned()
            };
            (word("manager"), word("apiVersion"), word("subresource"))
        });
        Ok(Applied {
            object: crate::object::object(object),
            managed: others,
        })
    }

    /// Only what this address lets the manager write.
    fn own_part(&self, kind: &Kind) -> Value {
        let mut wanted = self.wanted.clone();
        if self.subresource.is_empty() {
            if kind.has_status {
                wanted.remove("status");
            }
        } else {
            wanted.retain(|key, _| matches!(key.as_str(), "apiVersion" | "kind" | "status"));
        }
        Value::Object(wanted)
    }

    /// `kubectl apply` compares with what was applied last: an annotation that says so is kept true.
    fn remember_for_kubectl(&self, object: &mut Value) {
        let annotation = object
            .get_mut("metadata")
            .and_then(|m| m.get_mut("annotations"))
            .and_then(|a| a.get_mut(LAST_APPLIED));
        if self.manager == "kubectl"
            && self.subresource.is_empty()
            && let Some(annotation) = annotation
        {
            let wanted = Value::Object(self.wanted.clone());
            *annotation = Value::from(format!("{wanted}\n"));
        }
    }

    fn is_own(&self, kind: &Kind, entry: &Value) -> bool {
        let word = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
        word("manager") == self.manager
            && word("subresource") == self.subresource
            && word("apiVersion") == kind.api_version()
    }
}

fn fields(entry: &Value) -> Object {
    entry
        .get("fieldsV1")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default()
}

fn owner(entry: &Value) -> String {
    let word = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
    let manager = Value::from(word("manager"));
    match word("subresource") {
        "" => manager.to_string(),
        subresource => format!("{manager} with subresource {}", Value::from(subresource)),
    }
}

/// Type and identity are nobody's to own.
fn trim_metadata(set: &mut Object) {
    set.remove("f:apiVersion");
    set.remove("f:kind");
    let metadata = child(set, "f:metadata");
    metadata.retain(|key, _| {
        matches!(
            key.as_str(),
            "f:labels" | "f:annotations" | "f:finalizers" | "f:ownerReferences"
        )
    });
    if metadata.is_empty() {
        set.remove("f:metadata");
    }
}

/// The part of a value that a key of a set names, and how messages write it.
fn part<'a>(value: &'a Value, key: &str, context: Context<'_>) -> (Option<&'a Value>, String) {
    if let Some(name) = key.strip_prefix("f:") {
        return (value.get(name), format!(".{name}"));
    }
    let keys = match context.list_kind() {
        ListKind::Keyed(keys) => keys,
        _ => Vec::new(),
    };
    let items = value.as_array();
    let found = items
        .into_iter()
        .flatten()
        .find(|item| match key.strip_prefix("v:") {
            Some(member) => serde_json::from_str(member).is_ok_and(|m: Value| m == **item),
            None => item_key(item, &keys) == key,
        });
    let shown = match key.strip_prefix("v:") {
        Some(member) => format!("[={member}]"),
        None => {
            let named: Value = key
                .strip_prefix("k:")
                .and_then(|k| serde_json::from_str(k).ok())
                .unwrap_or_default();
            let pairs: Vec<String> = named
                .as_object()
                .into_iter()
                .flatten()
                .map(|(k, v)| format!("{k}={v}"))
                .collect();
            format!("[{}]", pairs.join(","))
        }
    };
    (found, shown)
}

fn inside<'a>(context: Context<'a>, key: &'a str) -> Context<'a> {
    match key.strip_prefix("f:") {
        Some(name) => context.of_field(name),
        None => context.of_item(),
    }
}

/// The fields that both own and that would get another value.
fn collide(
    set: &Object,
    owned: &Object,
    (wanted, live): (&Value, &Value),
    context: Context<'_>,
    path: &str,
    paths: &mut Vec<String>,
) {
    for (key, mine) in set.iter().filter(|(key, _)| *key != ".") {
        let (Some(mine), Some(theirs)) =
            (mine.as_object(), owned.get(key).and_then(Value::as_object))
        else {
            continue;
        };
        let (wanted, shown) = part(wanted, key, context);
        let (live, _) = part(live, key, context);
        let here = format!("{path}{shown}");
        match (wanted, live) {
            _ if is_leaf(mine) && is_leaf(theirs) => {
                paths.extend((wanted != live).then_some(here));
            }
            (Some(wanted), Some(live)) => {
                collide(
                    mine,
                    theirs,
                    (wanted, live),
                    inside(context, key),
                    &here,
                    paths,
                );
            }
            _ => {}
        }
    }
}

/// Takes from a manager the fields that are being forced.
fn disown(entry: &mut Value, set: &Object, (wanted, live): (&Value, &Value), context: Context<'_>) {
    fn strip(
        owned: &mut Object,
        set: &Object,
        (wanted, live): (&Value, &Value),
        context: Context<'_>,
    ) {
        owned.retain(|key, theirs| {
            let (Some(mine), Value::Object(theirs)) =
                (set.get(key).and_then(Value::as_object), theirs)
            else {
                return true;
            };
            let (wanted, _) = part(wanted, key, context);
            let (live, _) = part(live, key, context);
            if is_leaf(mine) && is_leaf(theirs) {
                return wanted == live;
            }
            if let (Some(wanted), Some(live)) = (wanted, live) {
                let had = !theirs.is_empty();
                strip(theirs, mine, (wanted, live), inside(context, key));
                return !(had && theirs.is_empty());
            }
            true
        });
    }
    if let Some(Value::Object(owned)) = entry.get_mut("fieldsV1") {
        strip(owned, set, (wanted, live), context);
    }
}

/// Removes the fields of a set.
fn remove(value: &mut Value, set: &Object, context: Context<'_>) {
    match value {
        Value::Object(map) => {
            for (key, gone) in set {
                let (Some(name), Value::Object(gone)) = (key.strip_prefix("f:"), gone) else {
                    continue;
                };
                if is_leaf(gone) {
                    map.remove(name);
                } else if let Some(inner) = map.get_mut(name) {
                    remove(inner, gone, context.of_field(name));
                }
            }
        }
        Value::Array(items) => {
            let keys = match context.list_kind() {
                ListKind::Keyed(keys) => keys,
                _ => Vec::new(),
            };
            items.retain_mut(|item| {
                if set.contains_key(&format!("v:{item}")) {
                    return false;
                }
                match set.get(&item_key(item, &keys)).and_then(Value::as_object) {
                    // An item that was only this manager's goes as a whole.
                    Some(gone) if gone.contains_key(".") => false,
                    Some(gone) => {
                        remove(item, gone, context.of_item());
                        true
                    }
                    None => true,
                }
            });
        }
        _ => {}
    }
}

/// Puts what is wanted into the value.
fn merge(value: &mut Value, wanted: &Value, context: Context<'_>) {
    match (value, wanted) {
        (Value::Object(map), Value::Object(wanted)) => {
            for (name, inner) in wanted {
                match map.get_mut(name) {
                    Some(slot) => merge(slot, inner, context.of_field(name)),
                    None => {
                        map.insert(name.clone(), inner.clone());
                    }
                }
            }
        }
        (Value::Array(items), Value::Array(wanted)) => match context.list_kind() {
            ListKind::Atomic => items.clone_from(wanted),
            ListKind::Set => {
                for item in wanted {
                    if !items.contains(item) {
                        items.push(item.clone());
                    }
                }
            }
            ListKind::Keyed(keys) => {
                for item in wanted {
                    let key = item_key(item, &keys);
                    match items.iter_mut().find(|i| item_key(i, &keys) == key) {
                        Some(found) => merge(found, item, context.of_item()),
                        None => items.push(item.clone()),
                    }
                }
            }
        },
        (value, wanted) => value.clone_from(wanted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use crate::resources::Registry;

    fn apply(live: &Object, manager: &str, force: bool, wanted: Value) -> Result<Object, ApiError> {
        let kind = Registry::new().builtin("", "configmaps").unwrap();
        let request = Apply {
            manager: manager.to_owned(),
            force,
            subresource: String::new(),
            wanted: object(wanted),
        };
        let applied = request.to(&kind, live, "now")?;
        let mut object = applied.object;
        child(&mut object, "metadata").insert("managedFields".to_owned(), applied.managed.into());
        Ok(object)
    }

    fn managed(object: &Object) -> Vec<Value> {
        at(object, &["metadata", "managedFields"])
            .unwrap()
            .as_array()
            .unwrap()
            .clone()
    }

    #[test]
    fn a_manager_takes_back_what_it_no_longer_wants() {
        let first = apply(
            &Object::new(),
            "m",
            false,
            json!({"data": {"a": "1", "b": "2"}}),
        )
        .unwrap();
        let second = apply(&first, "m", false, json!({"data": {"a": "1"}})).unwrap();
        assert_eq!(second["data"], json!({"a": "1"}));
        assert_eq!(
            managed(&second)[0]["fieldsV1"],
            json!({"f:data": {"f:a": {}}})
        );
        assert_eq!(
            apply(&second, "m", false, json!({"data": {"a": "1"}})).unwrap(),
            second
        );
    }

    #[test]
    fn other_managers_conflict_unless_they_agree_or_force() {
        let first = apply(
            &Object::new(),
            "m",
            false,
            json!({"data": {"a": "1", "b": "2"}}),
        )
        .unwrap();
        let agreed = apply(&first, "n", false, json!({"data": {"a": "1"}})).unwrap();
        assert_eq!(managed(&agreed).len(), 2);
        let refused = apply(&first, "n", false, json!({"data": {"a": "9"}})).unwrap_err();
        assert_eq!(
            refused.message(),
            "Apply failed with 1 conflict: conflict with \"m\": .data.a"
        );
        let forced = apply(&first, "n", true, json!({"data": {"a": "9"}})).unwrap();
        assert_eq!(forced["data"], json!({"a": "9", "b": "2"}));
        let of_m = managed(&forced).remove(0);
        assert_eq!(of_m["fieldsV1"], json!({"f:data": {"f:b": {}}}));
    }
}
