//! Network addresses and host names.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An IP address; IPv4 addresses may have leading zeros, for compatibility.
pub(super) fn address(text: &str) -> Option<IpAddr> {
    if text.contains(':') {
        return text.parse::<Ipv6Addr>().ok().map(IpAddr::V6);
    }
    let mut octets = [0_u8; 4];
    let mut parts = text.split('.');
    for octet in &mut octets {
        *octet = small_number(parts.next()?)?;
    }
    parts
        .next()
        .is_none()
        .then(|| IpAddr::V4(Ipv4Addr::from(octets)))
}

fn small_number(text: &str) -> Option<u8> {
    let digits = !text.is_empty() && text.len() <= 9 && text.bytes().all(|b| b.is_ascii_digit());
    digits
        .then(|| text.parse::<u32>().ok())?
        .and_then(|n| u8::try_from(n).ok())
}

pub(super) fn is_cidr(text: &str) -> bool {
    let Some((ip, length)) = text.split_once('/') else {
        return false;
    };
    match (address(ip), small_number(length)) {
        (Some(IpAddr::V4(_)), Some(length)) => length <= 32,
        (Some(IpAddr::V6(_)), Some(length)) => length <= 128,
        _ => false,
    }
}

/// 6, 8 or 20 octets, separated by colons or dashes, or in pairs by dots.
pub(super) fn is_mac(text: &str) -> bool {
    let groups = |separator: char, length: usize, counts: [usize; 3]| {
        let parts: Vec<&str> = text.split(separator).collect();
        counts.contains(&parts.len()) && parts.iter().all(|p| p.len() == length && super::is_hex(p))
    };
    groups(':', 2, [6, 8, 20]) || groups('-', 2, [6, 8, 20]) || groups('.', 4, [3, 4, 10])
}

/// Labels of letters, digits, symbols and inner dashes; the last of several is letters only.
pub(super) fn is_hostname(text: &str) -> bool {
    let plain = |c: char| {
        c.is_ascii_alphanumeric() || (!c.is_ascii() && !c.is_whitespace() && !c.is_control())
    };
    let labels: Vec<&str> = text.split('.').collect();
    let fine = |label: &&str| {
        label.len() <= 63
            && label.starts_with(plain)
            && label.ends_with(plain)
            && label.chars().all(|c| plain(c) || c == '-')
    };
    let top = labels.last().copied().unwrap_or_default();
    text.len() <= 255
        && labels.iter().all(fine)
        && (labels.len() == 1 || (top.chars().count() >= 2 && top.chars().all(char::is_alphabetic)))
}

/// An absolute URI or a path, as Go's `url.ParseRequestURI`.
pub(super) fn is_request_uri(text: &str) -> bool {
    if text == "*" {
        return true;
    }
    if text.is_empty() || text.bytes().any(|b| b < b' ' || b == 0x7f) {
        return false;
    }
    let (scheme, rest) = match text.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c))
    {
        Some(0) if text.starts_with(':') => return false,
        Some(end)
            if text[end..].starts_with(':')
                && text.starts_with(|c: char| c.is_ascii_alphabetic()) =>
        {
            (&text[..end], &text[end + 1..])
        }
        _ => ("", text),
    };
    if !rest.starts_with('/') {
        return !scheme.is_empty();
    }
    let path = rest.split('?').next().unwrap_or_default();
    match rest.strip_prefix("//").filter(|_| !scheme.is_empty()) {
        None => escapes_are_whole(path),
        Some(rest) => {
            let end = rest.find(['/', '?']).unwrap_or(rest.len());
            let (authority, tail) = rest.split_at(end);
            let host = authority.rsplit('@').next().unwrap_or_default();
            is_authority(host) && escapes_are_whole(tail.split('?').next().unwrap_or_default())
        }
    }
}

fn is_authority(host: &str) -> bool {
    let is_port = |port: &str| port.bytes().all(|b| b.is_ascii_digit());
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split_once(']').is_some_and(|(_, port)| {
            port.is_empty() || port.strip_prefix(':').is_some_and(is_port)
        });
    }
    let name = match host.split_once(':') {
        Some((_, port)) if !is_port(port) => return false,
        Some((name, _)) => name,
        None => host,
    };
    escapes_are_whole(name) && !name.contains([' ', '"', '<', '>', '^', '`', '{', '}', '|', '\\'])
}

fn escapes_are_whole(text: &str) -> bool {
    text.split('%')
        .skip(1)
        .all(|after| after.get(..2).is_some_and(super::is_hex))
}

/// A mailbox, or a name with a mailbox in angle brackets.
pub(super) fn is_email(text: &str) -> bool {
    let text = text.trim();
    let mailbox = match text.strip_suffix('>') {
        Some(inner) => match inner.rsplit_once('<') {
            Some((_, mailbox)) => mailbox,
            None => return false,
        },
        None => text,
    };
    let Some((local, domain)) = mailbox.rsplit_once('@') else {
        return false;
    };
    let quoted = local.len() > 2
        && local.starts_with('"')
        && local.ends_with('"')
        && !local[1..local.len() - 1].contains(['"', '\\', '\r', '\n']);
    let literal = domain.starts_with('[') && domain.ends_with(']');
    (quoted || is_dot_atom(local)) && (literal || is_dot_atom(domain))
}

fn is_dot_atom(text: &str) -> bool {
    let atom =
        |c: char| c.is_ascii_alphanumeric() || !c.is_ascii() || "!#$%&'*+-/=?^_`{|}~".contains(c);
    text.split('.')
        .all(|part| !part.is_empty() && part.chars().all(atom))
}
