//! Conditions in a status.

use serde_json::Value;

/// A condition by its type.
pub(super) fn find<'a>(conditions: &'a [Value], kind: &str) -> Option<&'a Value> {
    conditions
        .iter()
        .find(|c| c.get("type").and_then(Value::as_str) == Some(kind))
}

/// A string of a condition.
pub(super) fn said<'a>(condition: &'a Value, key: &str) -> &'a str {
    condition
        .get(key)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Sets a condition; its time of transition stays where its status does. One that says what is said
/// already is left as it is.
pub(super) fn set_condition(conditions: &mut Vec<Value>, mut condition: Value, now: &str) {
    let kind = said(&condition, "type").to_owned();
    let before = find(conditions, &kind);
    let time = match before {
        Some(before) if before.get("status") == condition.get("status") => {
            let same = |key| before.get(key) == condition.get(key);
            if same("reason") && same("message") {
                return;
            }
            before.get("lastTransitionTime").cloned()
        }
        _ => None,
    };
    if let Value::Object(map) = &mut condition {
        let time = time.unwrap_or_else(|| now.into());
        map.insert("lastTransitionTime".to_owned(), time);
    }
    match conditions.iter_mut().find(|c| said(c, "type") == kind) {
        Some(slot) => *slot = condition,
        None => conditions.push(condition),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_another_status_is_a_transition() {
        let mut conditions = Vec::new();
        let said =
            |status: &str, reason: &str| json!({"type": "A", "status": status, "reason": reason});
        set_condition(&mut conditions, said("True", "x"), "t1");
        set_condition(&mut conditions, said("True", "x"), "t2");
        assert_eq!(conditions[0]["lastTransitionTime"], "t1");
        set_condition(&mut conditions, said("True", "y"), "t3");
        assert_eq!(conditions[0]["reason"], "y");
        assert_eq!(conditions[0]["lastTransitionTime"], "t1");
        set_condition(&mut conditions, said("False", "y"), "t4");
        assert_eq!(conditions[0]["lastTransitionTime"], "t4");
        assert_eq!(conditions.len(), 1);
    }
}
