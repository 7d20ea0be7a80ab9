//! The merge of server-side apply.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::layout::{Layout, ListKind};

pub(super) fn merge(value: &mut Value, desired: &Value, layout: Layout<'_>) {
    match (value, desired) {
        (Value::Object(map), Value::Object(desired)) if !layout.is_atomic_map() => {
            for (name, inner) in desired {
                match map.get_mut(name) {
                    Some(slot) => merge(slot, inner, layout.of_field(name)),
                    None => {
                        map.insert(name.clone(), inner.clone());
                    }
                }
            }
        }
        (Value::Array(items), Value::Array(desired))
            if layout.list_kind() != ListKind::Atomic
                && !(items.is_empty() && desired.is_empty()) =>
        {
            *items = merge_items(std::mem::take(items), desired, layout);
        }
        // Nothing is applied to a map or to a list whose items have owners.
        (Value::Object(_), Value::Null) if !layout.is_atomic_map() => {}
        (Value::Array(_), Value::Null) if layout.list_kind() != ListKind::Atomic => {}
        (value, desired) => value.clone_from(desired),
    }
}

/// Merges items: applied ones in their order, the others at their positions among them.
fn merge_items(items: Vec<Value>, desired: &[Value], layout: Layout<'_>) -> Vec<Value> {
    let kind = layout.list_kind();
    let name = |item: &Value| layout.item_name(&kind, item).unwrap_or_default();
    let desired_names: Vec<String> = desired.iter().map(name).collect();
    let is_desired: HashSet<&str> = desired_names.iter().map(String::as_str).collect();
    // Of items with the same key, the first is merged.
    let mut found: HashMap<String, Value> = HashMap::new();
    // Items that are not applied; `None` is the position of an applied one.
    let mut places: Vec<(String, Option<Value>)> = Vec::new();
    for item in items {
        let name = name(&item);
        if is_desired.contains(name.as_str()) {
            found.entry(name.clone()).or_insert(item);
            places.push((name, None));
        } else {
            places.push((name, Some(item)));
        }
    }
    let shared: HashSet<String> = found.keys().cloned().collect();
    let merged = |name: &str, desired: &Value, found: &mut HashMap<String, Value>| match found
        .remove(name)
    {
        Some(mut item) if !layout.has_atomic_items() => {
            merge(&mut item, desired, layout.of_item());
            item
        }
        _ => desired.clone(),
    };
    let mut result = Vec::with_capacity(places.len() + desired.len());
    let shared_from = |start: usize| {
        let rest = desired_names.iter().enumerate().skip(start);
        let mut shared = rest.filter(|(_, name)| shared.contains(*name));
        shared.next().map(|(index, _)| index)
    };
    let mut done = 0;
    let mut next_shared = shared_from(0);
    for (name, other) in places {
        if let Some(other) = other {
            result.push(other);
            continue;
        }
        // Only the position of the next applied item that is in both lists counts, and new items
        // before it go there.
        let Some(index) = next_shared.filter(|index| desired_names.get(*index) == Some(&name))
        else {
            continue;
        };
        let turn = desired_names.iter().zip(desired).take(index + 1).skip(done);
        result.extend(turn.map(|(name, item)| merged(name, item, &mut found)));
        done = index + 1;
        next_shared = shared_from(done);
    }
    let rest = desired_names.iter().zip(desired).skip(done);
    result.extend(rest.map(|(name, item)| merged(name, item, &mut found)));
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn merged(value: Value, desired: Value) -> Value {
        let layout = Layout::Builtin {
            parent: "",
            field: "",
        };
        let wrap = |list: Value| json!({"spec": {"containers": list}});
        let mut object = wrap(value);
        merge(&mut object, &wrap(desired), layout);
        object["spec"]["containers"].take()
    }

    fn named(names: &str) -> Value {
        let items = names.chars().map(|n| json!({"name": n.to_string()}));
        Value::from(items.collect::<Vec<_>>())
    }

    #[test]
    fn items_have_the_applied_order() {
        for (live, desired, result) in [
            ("ab", "ba", "ba"),
            ("abc", "c", "abc"),
            ("axb", "ba", "xba"),
            ("xaybz", "anb", "xaynbz"),
            ("ab", "nab", "nab"),
            ("ab", "cd", "abcd"),
            ("", "ab", "ab"),
        ] {
            let out = merged(named(live), named(desired));
            assert_eq!(out, named(result), "{live} and {desired}");
        }
    }

    #[test]
    fn items_are_merged_field_by_field() {
        let out = merged(
            json!([{"name": "a", "image": "1", "env": [{"name": "E", "value": "x"}]}]),
            json!([{"name": "a", "image": "2"}]),
        );
        assert_eq!(
            out,
            json!([{"name": "a", "image": "2", "env": [{"name": "E", "value": "x"}]}])
        );
    }
}
