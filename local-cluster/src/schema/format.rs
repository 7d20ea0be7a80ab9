//! The formats that Kubernetes validates; it ignores all others.

mod network;
mod numbers;
mod time;

use crate::names;

pub(crate) use time::duration_nanos;

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
            "bsonobjectid" => |text| text.len() == 24 && is_hex(text),
            "cidr" => network::is_cidr,
            "creditcard" => numbers::is_credit_card,
            "email" => network::is_email,
            "hexcolor" => |text| {
                let digits = text.strip_prefix('#').unwrap_or(text);
                matches!(digits.len(), 3 | 6) && is_hex(digits)
            },
            "hostname" => network::is_hostname,
            "ipv4" => |text| text.contains('.') && network::address(text).is_some(),
            "ipv6" => |text| text.contains(':') && network::address(text).is_some(),
            "isbn" => |text| numbers::is_isbn10(text) || numbers::is_isbn13(text),
            "isbn10" => numbers::is_isbn10,
            "isbn13" => numbers::is_isbn13,
            "k8slongname" => names::is_subdomain,
            "k8sshortname" => names::is_label,
            "mac" => network::is_mac,
            "password" => |_| true,
            "rgbcolor" => numbers::is_rgb,
            "ssn" => numbers::is_ssn,
            "uri" => network::is_request_uri,
            "uuid" => |text| is_uuid(text, None),
            "uuid3" => |text| is_uuid(text, Some('3')),
            "uuid4" => |text| is_uuid(text, Some('4')),
            "uuid5" => |text| is_uuid(text, Some('5')),
            _ => return None,
        }))
    }

    pub(crate) fn fits(self, text: &str) -> bool {
        match self {
            Self::Byte => is_base64(text),
            Self::Date => time::is_date(text),
            Self::DateTime => time::is_date_time(text),
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

/// Whether Kubernetes validates a format of a type; an empty type may be any.
pub(crate) fn is_known(format: &str, type_name: &str) -> bool {
    match type_name {
        "" | "string" => TextFormat::named(format).is_some(),
        other => NumberFormat::named(format, other).is_some(),
    }
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// In the standard alphabet, padded, not empty.
fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let padding = text.len() - body.len();
    !text.is_empty()
        && text.len().is_multiple_of(4)
        && padding <= 2
        && body
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
}

/// 32 hexadecimal digits in five groups, with optional dashes between them.
fn is_uuid(text: &str, version: Option<char>) -> bool {
    let mut rest = text;
    let mut groups = Vec::with_capacity(5);
    for (index, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if index > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        match rest.split_at_checked(length) {
            Some((group, left)) if is_hex(group) => {
                groups.push(group);
                rest = left;
            }
            _ => return false,
        }
    }
    let starts = |group: usize, with: &[char]| {
        groups
            .get(group)
            .is_some_and(|g| g.to_ascii_lowercase().starts_with(with))
    };
    rest.is_empty()
        && version.is_none_or(|v| starts(2, &[v]))
        // Version 3 has no fixed variant.
        && (matches!(version, None | Some('3')) || starts(3, &['8', '9', 'a', 'b']))
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
                "datetime",
                &["2026-01-02T03:04:05Z"],
                &["2026-01-02T03:04:60Z"],
            ),
            (
                "date",
                &["2024-02-29"],
                &["2023-02-29", "2024-2-1", "24-01-01", ""],
            ),
            (
                "duration",
                &[
                    "1h30m", "22 ns", "-1.5s", "0", "3 days", "1us", "1µs", ".5s",
                ],
                &["", "1", "abc", "5 parsecs"],
            ),
            (
                "byte",
                &["YQ==", "YWJj"],
                &["", "YQ=", "Y Q=", "====", "YQ"],
            ),
            (
                "ipv4",
                &["10.0.0.1", "010.0.0.1"],
                &["10.0.0", "::1", "256.0.0.1", ""],
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
                &["", "a.b/c", "http://a b/", "http://a:b/", "://x", "/%zz"],
            ),
            (
                "email",
                &["a@b.c", "First Last <a.b+c@d.e>", "\"a b\"@c"],
                &["a", "@b", "a@", "a b@c", "a..b@c"],
            ),
            (
                "hostname",
                &["localhost", "a-b.example.com", "1.example.com"],
                &["", "-a", "a_b.c", "a.b-", "a.1"],
            ),
            (
                "mac",
                &["00:11:22:aa:bb:cc", "00-11-22-AA-BB-CC", "0011.2233.4455"],
                &["00:11", "00:11:22:aa:bb:gg"],
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
            ("isbn", &["0321751043", "978-0321751041"], &["0321751044"]),
            (
                "creditcard",
                &["4111 1111 1111 1111"],
                &["4111111111111112"],
            ),
            ("ssn", &["111-22-3333", "111223333"], &["11-22-3333"]),
            ("hexcolor", &["#FFFFFF", "abc"], &["#ffff", "xyz"]),
            ("rgbcolor", &["rgb(255, 0,1)"], &["rgb(256,0,0)", "255,0,0"]),
            ("bsonobjectid", &["507f1f77bcf86cd799439011"], &["507f"]),
            ("password", &["", "x"], &[]),
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
