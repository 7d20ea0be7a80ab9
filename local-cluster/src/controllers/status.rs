//! Parts of statuses: conditions and counts.

use serde_json::Value;

use crate::object::{Object, child, items, string};

pub(super) fn find<'a>(conditions: &'a [Value], kind: &str) -> Option<&'a Value> {
    conditions.iter().find(|c| string(c, "type") == kind)
}

pub(super) fn conditions_of(object: &Object) -> Vec<Value> {
    items(object, &["status", "conditions"]).cloned().collect()
}

/// Sets a condition. `lastTransitionTime` changes with the condition's status only; a condition that
/// has the same status, reason and message is left as it is.
pub(super) fn set_condition(conditions: &mut Vec<Value>, mut condition: Value, now: &str) {
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
pub(super) fn change_conditions(object: &mut Object, change: impl FnOnce(&mut Vec<Value>)) {
    let status = child(object, "status");
    let mut conditions = match status.remove("conditions") {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    };
    change(&mut conditions);
    put_conditions(status, conditions);
}

/// Puts conditions into a status; an empty list is left out.
pub(super) fn put_conditions(status: &mut Object, conditions: Vec<Value>) {
    if !conditions.is_empty() {
        status.insert("conditions".to_owned(), conditions.into());
    }
}

/// Sets the counts of a status; those that are 0 are left out.
pub(super) fn set_counts<const N: usize>(status: &mut Object, counts: [(&str, i64); N]) {
    for (key, count) in counts {
        if count > 0 {
            status.insert(key.to_owned(), count.into());
        } else {
            status.remove(key);
        }
    }
}

/// The number of items, as the API writes counts.
pub(super) fn count(items: impl IntoIterator) -> i64 {
    i64::try_from(items.into_iter().count()).unwrap_or(i64::MAX)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounding {
    Up,
    Down,
}

/// An `IntOrString` such as `3` or `25%` of `total`; 0 for anything else.
pub(super) fn scaled_value(value: Option<&Value>, total: i64, rounding: Rounding) -> i64 {
    match value {
        Some(Value::Number(number)) => number.as_i64().unwrap_or(0),
        Some(Value::String(text)) => {
            let percent = text.strip_suffix('%').and_then(|p| p.parse::<i64>().ok());
            let product = percent.unwrap_or(0).saturating_mul(total);
            match rounding {
                Rounding::Up => product.saturating_add(99).div_euclid(100),
                Rounding::Down => product.div_euclid(100),
            }
        }
        _ => 0,
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

    #[test]
    fn percentages_are_rounded() {
        let (quarter, three) = (json!("25%"), json!(3));
        assert_eq!(scaled_value(Some(&quarter), 10, Rounding::Up), 3);
        assert_eq!(scaled_value(Some(&quarter), 10, Rounding::Down), 2);
        assert_eq!(scaled_value(Some(&three), 10, Rounding::Up), 3);
        assert_eq!(scaled_value(Some(&json!("nonsense")), 10, Rounding::Up), 0);
        assert_eq!(
            scaled_value(Some(&json!("100%")), i64::MAX, Rounding::Down),
            i64::MAX / 100
        );
        assert_eq!(scaled_value(None, 10, Rounding::Up), 0);
    }
}
