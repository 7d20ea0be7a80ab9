//! The formats that Kubernetes validates; it ignores all others.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::DateTime;
use http::Uri;
use jiff::civil::Date;
use uuid::Uuid;

use crate::names;

/// Formats that a cluster validates and this server accepts unchecked.
const UNCHECKED: &str =
    "bsonobjectid creditcard email hexcolor isbn isbn10 isbn13 mac password rgbcolor ssn";

/// A format of strings; CEL has types for some of them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TextFormat {
    Byte,
    Date,
    DateTime,
    Duration,
    Other(fn(&str) -> bool),
}

impl TextFormat {
    /// Dashes in the name are ignored.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(Self::Other(match name.replace('-', "").as_str() {
            "byte" => return Some(Self::Byte),
            "date" => return Some(Self::Date),
            "datetime" => return Some(Self::DateTime),
            "duration" => return Some(Self::Duration),
            "cidr" => is_cidr,
            "hostname" => is_hostname,
            "ipv4" => |text| text.parse::<Ipv4Addr>().is_ok(),
            "ipv6" => |text| text.parse::<Ipv6Addr>().is_ok(),
            "k8slongname" => names::is_subdomain,
            "k8sshortname" => names::is_label,
            "uri" => is_uri,
            "uuid" => |text| uuid(text).is_some(),
            "uuid3" => |text| uuid(text).is_some_and(|id| id.get_version_num() == 3),
            "uuid4" => |text| uuid(text).is_some_and(|id| id.get_version_num() == 4),
            "uuid5" => |text| uuid(text).is_some_and(|id| id.get_version_num() == 5),
            other if UNCHECKED.split(' ').any(|name| name == other) => |_| true,
            _ => return None,
        }))
    }

    pub(crate) fn fits(self, text: &str) -> bool {
        match self {
            Self::Byte => !text.is_empty() && STANDARD.decode(text).is_ok(),
            Self::Date => text.len() == 10 && text.parse::<Date>().is_ok(),
            Self::DateTime => DateTime::parse_from_rfc3339(&text.to_ascii_uppercase()).is_ok(),
            Self::Duration => duration_nanos(text).is_some(),
            Self::Other(fits) => fits(text),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberFormat {
    Int32,
    Int64,
    Float,
    Double,
}

impl NumberFormat {
    pub(crate) fn named(name: &str, type_name: &str) -> Option<Self> {
        Some(match (type_name, name) {
            ("integer", "int32") => Self::Int32,
            ("integer", "int64") => Self::Int64,
            ("number", "float") => Self::Float,
            ("number", "double") => Self::Double,
            _ => return None,
        })
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Float => "float",
            Self::Double => "double",
        }
    }
}

/// True if Kubernetes validates a format of a type; an empty type may be any.
pub(crate) fn is_known(format: &str, type_name: &str) -> bool {
    match type_name {
        "" | "string" => TextFormat::named(format).is_some(),
        other => NumberFormat::named(format, other).is_some(),
    }
}

fn is_cidr(text: &str) -> bool {
    let Some((ip, length)) = text.split_once('/') else {
        return false;
    };
    let longest = match ip.parse() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    let digits = length.bytes().all(|b| b.is_ascii_digit());
    digits && length.parse::<u8>().is_ok_and(|length| length <= longest)
}

/// Labels of letters, digits and inner dashes; the last of several has letters only.
fn is_hostname(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let top = lower.rsplit_once('.').map(|(_, top)| top);
    names::is_subdomain(&lower) && top.is_none_or(|top| top.bytes().all(|b| b.is_ascii_lowercase()))
}

/// An absolute URI, or a path.
fn is_uri(text: &str) -> bool {
    let has_scheme = text.split_once(':').is_some_and(|(scheme, _)| {
        let mut signs = scheme.chars();
        signs.next().is_some_and(|c| c.is_ascii_alphabetic())
            && signs.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    });
    let is_path = text.starts_with('/');
    match text.contains("://") || is_path {
        true => (is_path || has_scheme) && text.parse::<Uri>().is_ok(),
        false => has_scheme && !text.contains(|c: char| c.is_whitespace() || c.is_control()),
    }
}

/// With dashes or without.
fn uuid(text: &str) -> Option<Uuid> {
    let is_plain = matches!(text.len(), 32 | 36);
    Uuid::try_parse(text).ok().filter(|_| is_plain)
}

/// A duration in Go's notation (`1h30m`), in nanoseconds.
pub(crate) fn duration_nanos(text: &str) -> Option<i64> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_have_their_formats() {
        for (format, good, bad) in [
            (
                "date-time",
                &["2026-01-02T03:04:05Z", "2026-01-02t03:04:05.5+01:00"][..],
                &[
                    "2026-01-02",
                    "2026-01-02T03:04:05",
                    "2026-13-02T03:04:05Z",
                    "2026-01-02T24:00:00Z",
                    "",
                ][..],
            ),
            (
                "date",
                &["2024-02-29"],
                &["2023-02-29", "2024-2-1", "24-01-01", ""],
            ),
            (
                "duration",
                &["1h30m", "-1.5s", "0", "1us", "1µs", ".5s"],
                &["", "1", "abc", "5 parsecs", "3 days"],
            ),
            (
                "byte",
                &["YQ==", "YWJj"],
                &["", "YQ=", "Y Q=", "====", "YQ"],
            ),
            (
                "ipv4",
                &["10.0.0.1"],
                &["10.0.0", "::1", "256.0.0.1", "010.0.0.1", ""],
            ),
            (
                "ipv6",
                &["::1", "fe80::1", "::ffff:1.2.3.4"],
                &["10.0.0.1", ":::"],
            ),
            (
                "cidr",
                &["10.0.0.0/8", "fd00::/64"],
                &["10.0.0.0", "10.0.0.0/33", "a/8", "10.0.0.0/+8"],
            ),
            (
                "uri",
                &[
                    "http://a.b/c?d=e",
                    "/path",
                    "mailto:a@b",
                    "https://[::1]:80/",
                ],
                &["", "a.b/c", "http://a b/", "://x"],
            ),
            (
                "hostname",
                &["localhost", "a-b.example.com", "1.example.com"],
                &["", "-a", "a_b.c", "a.b-", "a.1"],
            ),
            (
                "uuid",
                &[
                    "12345678-1234-1234-1234-123456789ABC",
                    "12345678123412341234123456789abc",
                ],
                &["12345678", "12345678-1234-1234-1234-123456789abg"],
            ),
            (
                "uuid4",
                &["12345678-1234-4234-a234-123456789abc"],
                &["12345678-1234-1234-a234-123456789abc"],
            ),
            ("uuid3", &["12345678-1234-3234-1234-123456789abc"], &["x"]),
            ("password", &["", "x"], &[]),
            ("ssn", &["unchecked"], &[]),
            ("k8s-short-name", &["a-b"], &["A", "a.b"]),
            ("k8s-long-name", &["a-b.c"], &["A", "a..b"]),
        ] {
            let known = TextFormat::named(format).unwrap();
            for text in good {
                assert!(known.fits(text), "{format}: {text}");
            }
            for text in bad {
                assert!(!known.fits(text), "{format}: {text}");
            }
        }
        assert!(!is_known("ip", "string") && !is_known("int32", "number"));
        assert!(is_known("int32", "integer") && is_known("date", ""));
    }
}
