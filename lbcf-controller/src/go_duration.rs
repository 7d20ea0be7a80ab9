//! Durations as Go writes them: `1h2m3.5s`, `300ms` (b6).

use std::fmt;
use std::time::Duration;

/// A text that is no duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?}: not a duration such as 10s, 1m30s or 500ms (units h, m, s, ms, us, ns)")]
pub struct NotADuration(String);

/// Reads a duration that is not negative.
///
/// # Errors
/// [`NotADuration`], which names the text.
pub fn parse(text: &str) -> Result<Duration, NotADuration> {
    let wrong = || NotADuration(text.to_owned());
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    if rest.is_empty() {
        return Err(wrong());
    }
    let mut seconds = 0.0_f64;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .ok_or_else(wrong)?;
        let number: f64 = rest[..digits].parse().map_err(|_| wrong())?;
        rest = &rest[digits..];
        let letters = rest
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(rest.len());
        let unit = match &rest[..letters] {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" | "μs" => 1e-6,
            "ns" => 1e-9,
            _ => return Err(wrong()),
        };
        rest = &rest[letters..];
        seconds += number * unit;
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

/// A duration in the shortest of these units that is exact: for flags and messages.
#[must_use]
pub fn display(duration: Duration) -> impl fmt::Display {
    let millis = duration.as_millis();
    if millis.is_multiple_of(1000) {
        format!("{}s", millis / 1000)
    } else {
        format!("{millis}ms")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b6_go_durations_are_read() {
        for (text, millis) in [
            ("10s", 10_000),
            ("1m0s", 60_000),
            ("1h2m3.5s", 3_723_500),
            ("300ms", 300),
            ("1500us", 1),
            ("0", 0),
            (".5s", 500),
        ] {
            assert_eq!(parse(text).unwrap().as_millis(), millis, "{text}");
        }
    }

    #[test]
    fn b6_what_is_no_duration_is_named() {
        for text in [
            "",
            "10",
            "s",
            "-1s",
            "1x",
            "1..5s",
            "ten",
            "1e400s",
            "9999999999999999999999h",
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(&format!("{text:?}")), "{error}");
        }
    }
}
