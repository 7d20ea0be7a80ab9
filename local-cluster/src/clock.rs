//! Times in the two forms that the Kubernetes API writes.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp, ToSpan};

/// Now, in whole seconds: `metav1.Time`.
pub(crate) fn now() -> String {
    seconds(Timestamp::now())
}

pub(crate) fn in_seconds(seconds_ahead: i64) -> String {
    let now = Timestamp::now();
    // A client's number must not overflow the calendar: times end about a century from now.
    let ahead = seconds_ahead.clamp(0, 3_000_000_000);
    seconds(now.checked_add(ahead.seconds()).unwrap_or(now))
}

/// A time in whole seconds.
pub(crate) fn seconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The time until `seconds` after `start`; zero if that has passed.
pub(crate) fn left_until(start: Timestamp, seconds: i64, now: Timestamp) -> Duration {
    let seconds = SignedDuration::from_secs(seconds.clamp(0, u32::MAX.into()));
    let end = start.checked_add(seconds).unwrap_or(Timestamp::MAX);
    Duration::try_from(end.duration_since(now)).unwrap_or_default()
}

/// A year from now, as HTTP writes dates.
pub(crate) fn http_date_in_a_year() -> String {
    let then = Timestamp::now().as_second() + 365 * 86_400;
    Timestamp::from_second(then)
        .map(|time| time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string())
        .unwrap_or_default()
}

/// The age of a timestamp as kubectl prints it (`5s`, `3m10s`, `2d4h`).
pub(crate) fn age(timestamp: &str) -> String {
    match timestamp.parse::<Timestamp>() {
        Ok(then) => human(
            Timestamp::now()
                .as_second()
                .saturating_sub(then.as_second()),
        ),
        Err(_) => "<unknown>".to_owned(),
    }
}

/// A duration in its two largest units, as kubectl prints it.
pub(crate) fn human(seconds: i64) -> String {
    let pair = |big: i64, big_unit: &str, small: i64, small_unit: &str| {
        if small == 0 {
            format!("{big}{big_unit}")
        } else {
            format!("{big}{big_unit}{small}{small_unit}")
        }
    };
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        i64::MIN..=-2 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..=119 => format!("{seconds}s"),
        120..=599 => pair(minutes, "m", seconds % 60, "s"),
        600..=10_799 => format!("{minutes}m"),
        10_800..=28_799 => pair(hours, "h", minutes % 60, "m"),
        28_800..=172_799 => format!("{hours}h"),
        172_800..=691_199 => pair(days, "d", hours % 24, "h"),
        691_200..=63_071_999 => format!("{days}d"),
        63_072_000..=252_287_999 => pair(days / 365, "y", days % 365, "d"),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_read_like_kubectl() {
        for (seconds, text) in [
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (190, "3m10s"),
            (3600, "60m"),
            (11_100, "3h5m"),
            (30_000, "8h"),
            (180_000, "2d2h"),
            (800_000, "9d"),
        ] {
            assert_eq!(human(seconds), text);
        }
    }

    #[test]
    fn far_times_do_not_overflow() {
        assert!(in_seconds(i64::MAX).starts_with("21"));
        assert_eq!(age("no time"), "<unknown>");
    }
}
