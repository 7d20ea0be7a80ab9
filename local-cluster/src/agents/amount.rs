//! Numbers that may be parts of another: `25%`.

use serde_json::Value;

/// Which way a part of a whole is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    Up,
    Down,
}

/// A number, or a percentage of a whole; what is neither is nothing.
pub(super) fn resolve(value: Option<&Value>, whole: i64, round: Round) -> i64 {
    match value {
        Some(Value::Number(number)) => number.as_i64().unwrap_or(0),
        Some(Value::String(text)) => {
            let percent = text.strip_suffix('%').and_then(|p| p.parse::<i64>().ok());
            let product = percent.unwrap_or(0).saturating_mul(whole);
            match round {
                Round::Up => product.saturating_add(99).div_euclid(100),
                Round::Down => product.div_euclid(100),
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
        assert_eq!(resolve(Some(&quarter), 10, Round::Up), 3);
        assert_eq!(resolve(Some(&quarter), 10, Round::Down), 2);
        assert_eq!(resolve(Some(&three), 10, Round::Up), 3);
        assert_eq!(resolve(Some(&json!("nonsense")), 10, Round::Up), 0);
        assert_eq!(
            resolve(Some(&json!("100%")), i64::MAX, Round::Down),
            i64::MAX / 100
        );
        assert_eq!(resolve(None, 10, Round::Up), 0);
    }
}
