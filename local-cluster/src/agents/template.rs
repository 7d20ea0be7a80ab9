//! Pod templates as versions: whether two are the same, and a short name for one.

use serde_json::Value;

/// A template without what the server shows of nothing, and without the label that names it.
///
/// Two templates mean the same when these are equal.
pub(super) fn essence(template: &Value, hash_label: &str) -> Value {
    let mut essence = template.clone();
    let labels = essence
        .get_mut("metadata")
        .and_then(|meta| meta.get_mut("labels"))
        .and_then(Value::as_object_mut);
    if let Some(labels) = labels {
        labels.remove(hash_label);
    }
    prune(&mut essence);
    essence
}

fn prune(value: &mut Value) {
    let is_nothing = |value: &Value| match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    };
    match value {
        Value::Object(map) => {
            map.values_mut().for_each(prune);
            map.retain(|_, value| !is_nothing(value));
        }
        Value::Array(list) => list.iter_mut().for_each(prune),
        _ => {}
    }
}

/// A short name for a template. A count of collisions gives it another.
pub(super) fn hash(essence: &Value, collisions: Option<i64>) -> String {
    // Maps are sorted, so equal templates are equal texts.
    let mut text = essence.to_string();
    if let Some(collisions) = collisions {
        text.push_str(&collisions.to_string());
    }
    let number = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    safe(&number.to_string())
}

/// Letters that spell no words, in place of any others.
fn safe(text: &str) -> String {
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    text.bytes()
        .filter_map(|byte| LETTERS.get(usize::from(byte) % LETTERS.len()))
        .map(|letter| char::from(*letter))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_makes_no_difference() {
        let one = json!({"metadata": {"labels": {"a": "b", "h": "x"}, "creationTimestamp": null},
            "spec": {"containers": [{"name": "c", "resources": {}}], "volumes": []}});
        let other =
            json!({"spec": {"containers": [{"name": "c"}]}, "metadata": {"labels": {"a": "b"}}});
        let (one, other) = (essence(&one, "h"), essence(&other, "h"));
        assert_eq!(one, other);
        assert_eq!(hash(&one, None), hash(&other, None));
        assert_ne!(hash(&one, None), hash(&one, Some(1)));
        let third = json!({"spec": {"containers": [{"name": "d"}]}});
        assert_ne!(hash(&one, None), hash(&essence(&third, "h"), None));
    }

    #[test]
    fn a_hash_is_a_label_of_safe_letters() {
        let text = hash(&json!({"a": 1}), None);
        assert!(crate::names::is_label(&text), "{text}");
        assert!(!text.contains(['a', 'e', 'i', 'o', 'u', '0', '1', '3']));
        // It is the same in every process: names of ReplicaSets are made of it.
        assert_eq!(hash(&json!({}), None), hash(&json!({}), None));
    }
}
