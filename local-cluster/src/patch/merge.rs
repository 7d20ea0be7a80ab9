//! Server-side apply's merge: what is wanted goes into what there is.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::layout::{Layout, ListKind};

/// Puts what is wanted into a value.
pub(super) fn merge(value: &mut Value, wanted: &Value, layout: Layout<'_>) {
    match (value, wanted) {
        (Value::Object(map), Value::Object(wanted)) if !layout.is_atomic_map() => {
            for (name, inner) in wanted {
                match map.get_mut(name) {
                    Some(slot) => merge(slot, inner, layout.of_field(name)),
                    None => {
                        map.insert(name.clone(), inner.clone());
                    }
                }
            }
        }
        (Value::Array(items), Value::Array(wanted))
            if layout.list_kind() != ListKind::Atomic
                && !(items.is_empty() && wanted.is_empty()) =>
        {
            *items = merge_items(std::mem::take(items), wanted, layout);
        }
        (value, wanted) => value.clone_from(wanted),
    }
}

/// The items of both: those that are wanted in the order in which they are wanted, the others where
/// they are among them.
fn merge_items(items: Vec<Value>, wanted: &[Value], layout: Layout<'_>) -> Vec<Value> {
    let kind = layout.list_kind();
    let name = |item: &Value| layout.item_name(&kind, item).unwrap_or_default();
    let wanted_names: Vec<String> = wanted.iter().map(name).collect();
    let is_wanted: HashSet<&str> = wanted_names.iter().map(String::as_str).collect();
    // The first of each name is merged; were there more, nobody could tell which is meant.
    let mut found: HashMap<String, Value> = HashMap::new();
    // The others stay: `None` is where one that is wanted was.
    let mut places: Vec<(String, Option<Value>)> = Vec::new();
    for item in items {
        let name = name(&item);
        if is_wanted.contains(name.as_str()) {
            found.entry(name.clone()).or_insert(item);
            places.push((name, None));
        } else {
            places.push((name, Some(item)));
        }
    }
    let shared: HashSet<String> = found.keys().cloned().collect();
    let merged =
        |name: &str, wanted: &Value, found: &mut HashMap<String, Value>| match found.remove(name) {
            Some(mut item) if !layout.has_atomic_items() => {
                merge(&mut item, wanted, layout.of_item());
                item
            }
            _ => wanted.clone(),
        };
    let mut result = Vec::with_capacity(places.len() + wanted.len());
    let shared_from = |start: usize| {
        let rest = wanted_names.iter().enumerate().skip(start);
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
        // The place counts for the wanted item that comes next of those that are in both, and for
        // what is new before it. At any other place that item's turn is past, or yet to come.
        let Some(index) = next_shared.filter(|index| wanted_names.get(*index) == Some(&name))
        else {
            continue;
        };
        let turn = wanted_names.iter().zip(wanted).take(index + 1).skip(done);
        result.extend(turn.map(|(name, item)| merged(name, item, &mut found)));
        done = index + 1;
        next_shared = shared_from(done);
    }
    let rest = wanted_names.iter().zip(wanted).skip(done);
    result.extend(rest.map(|(name, item)| merged(name, item, &mut found)));
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn merged(value: Value, wanted: Value) -> Value {
        let layout = Layout::Builtin {
            parent: "",
            field: "",
        };
        let wrap = |list: Value| json!({"spec": {"containers": list}});
        let mut object = wrap(value);
        merge(&mut object, &wrap(wanted), layout);
        object["spec"]["containers"].take()
    }

    fn named(names: &str) -> Value {
        let items = names.chars().map(|n| json!({"name": n.to_string()}));
        Value::from(items.collect::<Vec<_>>())
    }

    #[test]
    fn items_keep_the_order_that_is_wanted() {
        for (live, wanted, result) in [
            ("ab", "ba", "ba"),
            ("abc", "c", "abc"),
            ("axb", "ba", "xba"),
            ("xaybz", "anb", "xaynbz"),
            ("ab", "nab", "nab"),
            ("ab", "cd", "abcd"),
            ("", "ab", "ab"),
        ] {
            let out = merged(named(live), named(wanted));
            assert_eq!(out, named(result), "{live} and {wanted}");
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
