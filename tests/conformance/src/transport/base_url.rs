//! A driver's URL and paths below it.

use super::settings::TransportError;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderValue, Uri};
use lbcf_driver_client::DriverClient;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// The characters that must be escaped in a request line.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// A driver's URL without user and password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BaseUrl {
    pub(super) is_https: bool,
    /// Host and port as in the URL, for the header `host`.
    pub(super) authority: String,
    /// The name to resolve: without the brackets of an IPv6 address.
    pub(super) host: String,
    pub(super) port: u16,
    /// Empty, or with a leading and without a trailing slash.
    path: String,
    query: Option<String>,
}

impl BaseUrl {
    /// Parses a URL; the header is the Basic authorization of its user and password.
    pub(super) fn parse(url: &str) -> Result<(Self, Option<HeaderValue>), TransportError> {
        let shown = DriverClient::check_url(url)?;
        // Both can be parsed, because `check_url` accepted the URL.
        let given: Uri = url.parse().unwrap_or_default();
        let base = Self::of(&shown.parse().unwrap_or_default(), given.query());
        let authority = given.authority();
        let user_info = authority.and_then(|authority| authority.as_str().rsplit_once('@'));
        Ok((base, user_info.and_then(|(user_info, _)| basic(user_info))))
    }

    /// The URL of a router in this process.
    pub(super) fn in_process() -> Self {
        Self::of(&Uri::from_static("http://in-process"), None)
    }

    /// A URL without user and password, and its query.
    fn of(url: &Uri, query: Option<&str>) -> Self {
        let is_https = url.scheme() == Some(&http::uri::Scheme::HTTPS);
        let host = url.host().unwrap_or_default();
        Self {
            is_https,
            authority: url.authority().map(ToString::to_string).unwrap_or_default(),
            host: host.trim_matches(['[', ']']).to_owned(),
            port: url.port_u16().unwrap_or(if is_https { 443 } else { 80 }),
            path: url.path().trim_end_matches('/').to_owned(),
            query: query.map(str::to_owned),
        }
    }

    pub(super) const fn has_query(&self) -> bool {
        self.query.is_some()
    }

    /// The request target for a path below the driver's URL.
    pub(super) fn target(&self, path: &str) -> String {
        let (path, query) = match path.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (path, None),
        };
        let path = utf8_percent_encode(path.strip_prefix('/').unwrap_or(path), ESCAPED);
        let query = query.map(|query| utf8_percent_encode(query, ESCAPED));
        // An empty path is the URL itself, without an additional slash.
        let slash = if path.to_string().is_empty() && !self.path.is_empty() {
            ""
        } else {
            "/"
        };
        let base = format!("{}{slash}", self.path);
        match (&self.query, query) {
            (None, None) => format!("{base}{path}"),
            (Some(own), None) => format!("{base}{path}?{own}"),
            (None, Some(query)) => format!("{base}{path}?{query}"),
            (Some(own), Some(query)) => format!("{base}{path}?{own}&{query}"),
        }
    }

    /// The whole URL of a path below the driver's, without user and password.
    pub(super) fn url_of(&self, path: &str) -> String {
        let scheme = if self.is_https { "https" } else { "http" };
        format!("{scheme}://{}{}", self.authority, self.target(path))
    }
}

/// A URL without user and password.
pub(crate) fn without_user(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
        None => url.to_owned(),
    }
}

/// User and password as a header.
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

#[cfg(test)]
mod tests;
