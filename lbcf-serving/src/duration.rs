//! Durations in Go's notation, which Kubernetes uses: `1h2m3.5s`, `300ms`.

use std::fmt;
use std::time::Duration;

/// A day: longer than any wait, and short enough to be added to any clock.
pub const DAY: Duration = Duration::from_secs(24 * 3600);

/// A text that is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?}: not a duration such as 10s, 1m30s or 500ms (units h, m, s, ms, us, ns)")]
pub struct NotADuration(String);

/// Reads a duration that is not negative. Only `0` needs no unit.
///
/// # Errors
/// [`NotADuration`], which quotes the text.
pub fn parse(text: &str) -> Result<Duration, NotADuration> {
    read(text).ok_or_else(|| NotADuration(text.to_owned()))
}

/// Reads a duration of up to [`DAY`], for flags.
///
/// # Errors
/// A text with what is expected.
pub fn parse_up_to_a_day(text: &str) -> Result<Duration, &'static str> {
    read(text)
        .filter(|duration| *duration <= DAY)
        .ok_or("not a duration up to 24h such as 500ms, 8s or 1m30s")
}

fn read(text: &str) -> Option<Duration> {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    if rest.is_empty() {
        return None;
    }
    let mut seconds = 0.0_f64;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
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
            _ => return None,
        };
        rest = &rest[letters..];
        seconds += number * unit;
    }
    Duration::try_from_secs_f64(seconds).ok()
}

/// Writes a duration in seconds or, where that is not exact, in milliseconds.
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
    fn b6_other_texts_are_quoted_in_the_error() {
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

    #[test]
    fn flags_take_up_to_a_day() {
        assert_eq!(parse_up_to_a_day("1m30s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_up_to_a_day("24h"), Ok(DAY));
        assert_eq!(parse_up_to_a_day("0"), Ok(Duration::ZERO));
        for text in ["", "5", "-1s", "soon", "24h1ms", "9999999999999h"] {
            let error = parse_up_to_a_day(text).unwrap_err();
            assert!(error.contains("1m30s"), "{text}");
        }
    }
}
