//! Durations on the command line: `500ms`, `8s`, `1m30s`.

use jiff::SignedDuration;
use std::time::Duration;

/// More than anybody waits for, and little enough to be added to any clock.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// Reads a duration, which needs a unit unless it is zero.
pub(super) fn parse(text: &str) -> Result<Duration, String> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    text.parse::<SignedDuration>()
        .ok()
        .and_then(|duration| Duration::try_from(duration).ok())
        .filter(|duration| *duration <= LONGEST)
        .ok_or_else(|| "not a duration up to 24h such as 500ms, 8s or 1m30s".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        assert_eq!(parse("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse("8s"), Ok(Duration::from_secs(8)));
        assert_eq!(parse("1m30s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse("24h"), Ok(LONGEST));
        assert_eq!(parse("0"), Ok(Duration::ZERO));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "5", "-1s", "soon", "24h 1ms", "9999999999999h"] {
            assert!(parse(text).unwrap_err().contains("1m30s"), "{text}");
        }
    }
}
