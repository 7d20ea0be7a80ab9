//! Dates, times and durations.

/// A date such as `2006-01-02`.
pub(super) fn is_date(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(index, b)| match index {
            4 | 7 => b == b'-',
            _ => b.is_ascii_digit(),
        })
        && text.parse::<jiff::civil::Date>().is_ok()
}

/// A time with offset, such as `2006-01-02T15:04:05.000Z`.
pub(super) fn is_date_time(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let Some((date, time)) = lower.split_once('t') else {
        return false;
    };
    let two = |part: Option<&str>, most: u32| {
        part.is_some_and(|p| {
            p.bytes().all(|b| b.is_ascii_digit()) && p.parse::<u32>().is_ok_and(|n| n <= most)
        })
    };
    let clock = two(time.get(..2), 23)
        && time.get(2..3) == Some(":")
        && two(time.get(3..5), 59)
        && time.get(5..6) == Some(":")
        && two(time.get(6..8), 59);
    let mut zone = time.get(8..).unwrap_or_default();
    // Any character may separate the fraction of seconds.
    let mut chars = zone.chars();
    let fraction = chars.next().map_or(0, char::len_utf8);
    let digits = chars.take_while(char::is_ascii_digit).count();
    if digits > 0 && !zone.starts_with(['+', '-']) {
        zone = zone.get(fraction + digits..).unwrap_or_default();
    }
    is_date(date) && clock && (zone == "z" || is_offset(zone))
}

fn is_offset(zone: &str) -> bool {
    zone.len() == 6
        && zone.starts_with(['+', '-'])
        && zone
            .bytes()
            .skip(1)
            .enumerate()
            .all(|(index, b)| match index {
                2 => b == b':',
                _ => b.is_ascii_digit(),
            })
}

const UNITS: &[(&[&str], i64)] = &[
    (&["ns", "nano"], 1),
    (&["us", "µs", "micro"], 1_000),
    (&["ms", "milli"], 1_000_000),
    (&["s", "sec"], 1_000_000_000),
    (&["m", "min"], 60_000_000_000),
    (&["h", "hr", "hour"], 3_600_000_000_000),
    (&["d", "day"], 86_400_000_000_000),
    (&["w", "wk", "week"], 604_800_000_000_000),
];

/// A duration in nanoseconds: Go's notation (`1h30m`), or `3 days`.
pub(crate) fn duration_nanos(text: &str) -> Option<i64> {
    go_duration(text).or_else(|| loose_duration(text))
}

fn go_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total = 0.0_f64;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(end);
        let number: f64 = match number {
            "" | "." => return None,
            number => number.parse().ok()?,
        };
        let end = after
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(after.len());
        let (unit, left) = after.split_at(end);
        let factor = match unit {
            "ns" => 1.0,
            "us" | "µs" | "μs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "m" => 60e9,
            "h" => 3600e9,
            _ => return None,
        };
        total += number * factor;
        rest = left;
    }
    nanos(if negative { -total } else { total })
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the range is checked just before"
)]
fn nanos(total: f64) -> Option<i64> {
    (total.abs() < i64::MAX as f64).then_some(total as i64)
}

/// The sum of all numbers with units; everything else is ignored.
fn loose_duration(text: &str) -> Option<i64> {
    let mut total = None;
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let from = rest.get(start..)?;
        let end = from
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(from.len());
        let (number, after) = from.split_at(end);
        let after = after.trim_start();
        let end = after
            .find(|c: char| !c.is_ascii_alphabetic() && c != 'µ')
            .unwrap_or(after.len());
        let (unit, left) = after.split_at(end);
        rest = left;
        if unit.is_empty() {
            continue;
        }
        let number: i64 = number.parse().ok()?;
        let unit = unit.to_lowercase();
        let known = UNITS.iter().find(|(names, _)| {
            names.contains(&unit.as_str()) || names.last().is_some_and(|n| unit.starts_with(n))
        });
        if let Some((_, factor)) = known {
            total = Some(
                number
                    .saturating_mul(*factor)
                    .saturating_add(total.unwrap_or(0)),
            );
        }
    }
    total
}
