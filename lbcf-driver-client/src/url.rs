//! A driver's URL, to which the webhook's name is appended.

use ::http::HeaderValue;
use ::http::uri::{Authority, Scheme, Uri};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use percent_encoding::percent_decode_str;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// The text is not a valid URL of a driver.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url:?}: {problem}; a driver's URL is http://HOST[:PORT][/PATH] or the same with https")]
pub struct InvalidUrl {
    url: String,
    problem: &'static str,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct DriverUrl {
    scheme: Scheme,
    host: String,
    /// Normalised: empty, or with a leading and no trailing slash.
    path: String,
    query: Option<String>,
    authorization: Option<HeaderValue>,
    /// True if the connection cannot be read by others: https, or this machine.
    is_private: bool,
}

impl DriverUrl {
    /// The URL of a webhook, without user and password.
    pub(crate) fn of(&self, webhook: &str) -> String {
        let Self {
            scheme, host, path, ..
        } = self;
        match &self.query {
            Some(query) => format!("{scheme}://{host}{path}/{webhook}?{query}"),
            None => format!("{scheme}://{host}{path}/{webhook}"),
        }
    }

    /// The URL's user and password as a header, as the original controller sends them.
    pub(crate) fn authorization(&self) -> Option<HeaderValue> {
        self.authorization.clone()
    }

    pub(crate) const fn is_private(&self) -> bool {
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
        // The parser accepts any text as a port, and the client would then call the default one.
        if host.len() > authority.host().len() && authority.port_u16().is_none_or(|port| port == 0)
        {
            return Err(invalid("the port is not a number from 1 to 65535"));
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

/// The parts before and after the last `@`.
fn split_user_info(authority: &Authority) -> (Option<&str>, &str) {
    match authority.as_str().rsplit_once('@') {
        Some((user_info, host)) => (Some(user_info), host),
        None => (None, authority.as_str()),
    }
}

/// True if a host is certainly this machine, unlike names other than `localhost`.
fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Removes empty segments and resolves `.` and `..`, which cannot leave the root.
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
    let mut credentials: Vec<u8> = percent_decode_str(user).collect();
    credentials.push(b':');
    credentials.extend(percent_decode_str(password));
    let text = format!("Basic {}", BASE64_STANDARD.encode(credentials));
    let mut value = HeaderValue::from_str(&text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// The URL for messages. It need not be valid, so everything up to the last `@` counts as a secret.
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
