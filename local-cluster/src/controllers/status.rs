//! Counts in statuses.

use serde_json::Value;

use crate::object::Object;

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
