//! Compares pod templates and hashes them.

use serde_json::Value;

/// A template without empty fields and without its hash label. Two templates are the same if these are
/// equal.
pub(super) fn normalized(template: &Value, hash_label: &str) -> Value {
    let mut template = template.clone();
    if let Some(Value::Object(labels)) = template.pointer_mut("/metadata/labels") {
        labels.remove(hash_label);
    }
    prune(&mut template);
    template
}

fn prune(value: &mut Value) {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    };
    match value {
        Value::Object(map) => {
            map.values_mut().for_each(prune);
            map.retain(|_, value| !is_empty(value));
        }
        Value::Array(list) => list.iter_mut().for_each(prune),
        _ => {}
    }
}

/// The hash of a normalized template and a collision count.
pub(super) fn hash(template: &Value, collisions: Option<i64>) -> String {
    // Maps are sorted, so equal templates have equal texts.
    let mut text = template.to_string();
    if let Some(collisions) = collisions {
        text.push_str(&collisions.to_string());
    }
    let number = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    safe_encode(&number.to_string())
}

/// Replaces each character by one of those that spell no words.
fn safe_encode(text: &str) -> String {
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
    fn empty_fields_make_no_difference() {
        let one = json!({"metadata": {"labels": {"a": "b", "h": "x"}, "creationTimestamp": null},
            "spec": {"containers": [{"name": "c", "resources": {}}], "volumes": []}});
        let other =
            json!({"spec": {"containers": [{"name": "c"}]}, "metadata": {"labels": {"a": "b"}}});
        let (one, other) = (normalized(&one, "h"), normalized(&other, "h"));
        assert_eq!(one, other);
        assert_eq!(hash(&one, None), hash(&other, None));
        assert_ne!(hash(&one, None), hash(&one, Some(1)));
        let third = json!({"spec": {"containers": [{"name": "d"}]}});
        assert_ne!(hash(&one, None), hash(&normalized(&third, "h"), None));
    }

    #[test]
    fn a_hash_is_a_label_of_safe_letters() {
        let text = hash(&json!({"a": 1}), None);
        assert!(crate::names::is_label(&text), "{text}");
        assert!(!text.contains(['a', 'e', 'i', 'o', 'u', '0', '1', '3']));
        // It is the same in every process, because it is part of the names of ReplicaSets.
        assert_eq!(hash(&json!({}), None), hash(&json!({}), None));
    }
}
