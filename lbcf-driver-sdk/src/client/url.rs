//! A driver's URL, and a webhook's name at its end (b149).

use ::http::HeaderValue;
use ::http::uri::{Authority, Scheme, Uri};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// Not a URL at which a driver can be called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url:?}: {problem}; a driver's URL is http://HOST[:PORT][/PATH] or the same with https")]
pub struct InvalidUrl {
    url: String,
    problem: &'static str,
}

/// A driver's URL, taken apart.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct DriverUrl {
    scheme: Scheme,
    /// Host and port.
    host: String,
    /// Cleaned; empty or with a slash in front and none at its end.
    path: String,
    query: Option<String>,
    authorization: Option<HeaderValue>,
    /// Whether nobody between here and the driver reads along: https, or this machine.
    is_private: bool,
}

impl DriverUrl {
    /// The URL of a webhook, without user and password.
    pub(super) fn of(&self, webhook: &str) -> String {
        let Self {
            scheme, host, path, ..
        } = self;
        match &self.query {
            Some(query) => format!("{scheme}://{host}{path}/{webhook}?{query}"),
            None => format!("{scheme}://{host}{path}/{webhook}"),
        }
    }

    /// User and password of the URL as a header. The original's HTTP client sends them like
    /// this, so URLs in the field may rely on it.
    pub(super) fn authorization(&self) -> Option<HeaderValue> {
        self.authorization.clone()
    }

    /// Whether nobody between here and the driver reads along: https, or this machine.
    pub(super) const fn is_private(&self) -> bool {
        self.is_private
    }
}

impl fmt::Debug for DriverUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.host, self.path)
    }
}

impl FromStr for DriverUrl {
    type Err = InvalidUrl;

    fn from_str(url: &str) -> Result<Self, InvalidUrl> {
        let invalid = |problem| InvalidUrl {
            url: without_credentials(url),
            problem,
        };
        let uri: Uri = url.parse().map_err(|_| invalid("not a URL"))?;
        let scheme = uri.scheme().ok_or_else(|| invalid("not absolute"))?;
        if *scheme != Scheme::HTTP && *scheme != Scheme::HTTPS {
            return Err(invalid("neither http nor https"));
        }
        let authority = uri.authority().ok_or_else(|| invalid("no host"))?;
        let (user_info, host) = split_user_info(authority);
        if authority.host().is_empty() {
            return Err(invalid("no host"));
        }
        // The parser lets any text pass as a port, and calls would then go to the default one.
        if host.len() > authority.host().len() && authority.port_u16().is_none_or(|port| port == 0)
        {
            return Err(invalid("the port is no number from 1 to 65535"));
        }
        Ok(Self {
            scheme: scheme.clone(),
            host: host.to_owned(),
            path: clean(uri.path()),
            query: uri.query().map(str::to_owned),
            authorization: user_info.and_then(basic),
            is_private: *scheme == Scheme::HTTPS || is_loopback(authority.host()),
        })
    }
}

/// What stands before the last `@` of the authority, and the rest.
fn split_user_info(authority: &Authority) -> (Option<&str>, &str) {
    match authority.as_str().rsplit_once('@') {
        Some((user_info, host)) => (Some(user_info), host),
        None => (None, authority.as_str()),
    }
}

/// Whether a host is this machine for certain. Other names than `localhost` may lead anywhere.
fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// No segment is empty, `.` or `..`; what would climb above the root stays there.
fn clean(path: &str) -> String {
    let mut segments = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            segment => segments.push(segment),
        }
    }
    segments.iter().flat_map(|segment| ["/", segment]).collect()
}

fn basic(user_info: &str) -> Option<HeaderValue> {
    let (user, password) = user_info.split_once(':').unwrap_or((user_info, ""));
    let mut credentials = percent_decoded(user);
    credentials.push(b':');
    credentials.extend(percent_decoded(password));
    let text = format!("Basic {}", BASE64_STANDARD.encode(credentials));
    let mut value = HeaderValue::from_str(&text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let hex = |at: usize| char::from(*after.get(at)?).to_digit(16);
        let escaped = (byte == b'%')
            .then(|| Some(hex(0)? * 16 + hex(1)?))
            .flatten()
            .and_then(|value| u8::try_from(value).ok());
        match escaped {
            Some(value) => {
                decoded.push(value);
                rest = &after[2..];
            }
            None => {
                decoded.push(byte);
                rest = after;
            }
        }
    }
    decoded
}

/// The URL as it may be shown. It need not be a proper one, so everything up to the last `@`
/// before the path counts as a secret.
fn without_credentials(url: &str) -> String {
    let start = url.find("://").map_or(0, |at| at + 3);
    let (scheme, rest) = url.split_at(start);
    match rest.rfind('@') {
        Some(at) => format!("{scheme}***@{}", &rest[at + 1..]),
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests;
