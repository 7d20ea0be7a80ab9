//! The conditions of a status.

use serde_json::Value;

use crate::object::{Object, child, items, string};

pub(crate) fn find<'a>(conditions: &'a [Value], kind: &str) -> Option<&'a Value> {
    conditions.iter().find(|c| string(c, "type") == kind)
}

pub(crate) fn conditions_of(object: &Object) -> Vec<Value> {
    items(object, &["status", "conditions"]).cloned().collect()
}

/// Sets a condition. `lastTransitionTime` changes with the condition's status only; a condition that
/// has the same status, reason and message is left as it is.
pub(crate) fn set_condition(conditions: &mut Vec<Value>, mut condition: Value, now: &str) {
    let kind = string(&condition, "type").to_owned();
    let mut time = None;
    if let Some(before) = find(conditions, &kind) {
        let same = |key| before.get(key) == condition.get(key);
        if same("status") {
            if same("reason") && same("message") {
                return;
            }
            time = before.get("lastTransitionTime").cloned();
        }
    }
    condition["lastTransitionTime"] = time.unwrap_or_else(|| now.into());
    match conditions.iter_mut().find(|c| string(c, "type") == kind) {
        Some(slot) => *slot = condition,
        None => conditions.push(condition),
    }
}

/// Changes the conditions of an object's status in place.
pub(crate) fn change_conditions(object: &mut Object, change: impl FnOnce(&mut Vec<Value>)) {
    let status = child(object, "status");
    let mut conditions = match status.remove("conditions") {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    };
    change(&mut conditions);
    put_conditions(status, conditions);
}

/// Puts conditions into a status; an empty list is left out.
pub(crate) fn put_conditions(status: &mut Object, conditions: Vec<Value>) {
    if !conditions.is_empty() {
        status.insert("conditions".to_owned(), conditions.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_another_status_is_a_transition() {
        let mut conditions = Vec::new();
        let condition =
            |status: &str, reason: &str| json!({"type": "A", "status": status, "reason": reason});
        set_condition(&mut conditions, condition("True", "x"), "t1");
        set_condition(&mut conditions, condition("True", "x"), "t2");
        assert_eq!(conditions[0]["lastTransitionTime"], "t1");
        set_condition(&mut conditions, condition("True", "y"), "t3");
        assert_eq!(conditions[0]["reason"], "y");
        assert_eq!(conditions[0]["lastTransitionTime"], "t1");
        set_condition(&mut conditions, condition("False", "y"), "t4");
        assert_eq!(conditions[0]["lastTransitionTime"], "t4");
        assert_eq!(conditions.len(), 1);
    }
}
