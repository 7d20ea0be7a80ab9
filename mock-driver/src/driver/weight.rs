//! The one backend parameter that this load balancer understands: `weight`, a whole number from 0
//! to 100, and 100 where it is not given. Other parameters are kept as they are.

use lbcf_driver_sdk::webhook::StringMap;

const DEFAULT: u8 = 100;

/// A weight that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("parameters.weight: {0:?}: not a whole number from 0 to 100")]
pub(super) struct NotAWeight(String);

/// The weight in a backend's parameters.
pub(super) fn weight(parameters: &StringMap) -> Result<u8, NotAWeight> {
    let Some(text) = parameters.get("weight") else {
        return Ok(DEFAULT);
    };
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(weight @ 0..=100) if digits => Ok(weight),
        _ => Err(NotAWeight(text.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<u8, NotAWeight> {
        weight(&StringMap::from([("weight".to_owned(), text.to_owned())]))
    }

    #[test]
    fn vbe_01_whole_numbers_from_0_to_100_are_weights() {
        assert_eq!(
            [read("0"), read("50"), read("100")],
            [Ok(0), Ok(50), Ok(100)]
        );
        assert_eq!(weight(&StringMap::new()), Ok(100));
    }

    #[test]
    fn vbe_02_other_texts_are_refused_by_name_and_value() {
        for text in ["-1", "101", "+5", "1.5", "", " 5", "many", "300"] {
            let message = read(text).unwrap_err().to_string();
            assert_eq!(
                message,
                format!("parameters.weight: {text:?}: not a whole number from 0 to 100")
            );
        }
    }
}
