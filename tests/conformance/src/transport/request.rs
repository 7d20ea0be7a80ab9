//! Requests and their headers.

use bytes::Bytes;
use http::Method;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};

/// Replaces a secret in reports.
const SECRET: HeaderValue = HeaderValue::from_static("***");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const USER_AGENT: HeaderValue =
    HeaderValue::from_static(concat!("lbcf-conformance/", env!("CARGO_PKG_VERSION")));

/// A request below the driver's URL.
///
/// ```
/// use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
/// use lbcf_conformance::transport::{LEFT_OUT, Request};
///
/// let request = Request::post("healthz", "{}")
///     .with(CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"))
///     .with(ACCEPT, LEFT_OUT);
/// assert_eq!(request.method, http::Method::POST);
/// ```
#[derive(Debug, Clone)]
pub struct Request {
    /// The HTTP method, which is `POST` for webhooks.
    pub method: Method,
    /// The path below the driver's URL, such as `ensureBackend` or `healthz/`. A query is appended to
    /// that of the URL.
    pub path: String,
    /// Headers that replace those of the endpoint and the defaults: `content-type: application/json`
    /// for a request with a body, `accept: application/json` and a `user-agent`. The value
    /// [`LEFT_OUT`] omits a default. With `transfer-encoding` the request has no `content-length`,
    /// which is always computed.
    pub headers: HeaderMap,
    /// Empty for a request without a body.
    pub body: Bytes,
}

/// The value of a default header that must not be sent.
pub const LEFT_OUT: HeaderValue = HeaderValue::from_static("(left out)");

impl Request {
    /// A request without a body.
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
        }
    }

    /// A `POST`, as for webhooks.
    pub fn post(path: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self {
            body: body.into(),
            ..Self::new(Method::POST, path)
        }
    }

    /// Replaces the headers of this name.
    #[must_use]
    pub fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// All headers of the request: its own, those of the endpoint, and the defaults.
    pub(super) fn all_headers(&self, host: &str, endpoint: &HeaderMap) -> HeaderMap {
        let mut all = HeaderMap::new();
        // The host of a parsed URL is a valid header value.
        if let Ok(host) = HeaderValue::from_str(host) {
            all.insert(header::HOST, host);
        }
        all.insert(header::USER_AGENT, USER_AGENT);
        all.insert(header::ACCEPT, JSON);
        if !self.body.is_empty() {
            all.insert(header::CONTENT_TYPE, JSON);
        }
        replace(&mut all, endpoint);
        replace(&mut all, &self.headers);
        all.remove(header::CONTENT_LENGTH);
        let has_length = !self.body.is_empty()
            || [Method::POST, Method::PUT, Method::PATCH].contains(&self.method);
        if has_length && !all.contains_key(header::TRANSFER_ENCODING) {
            all.insert(header::CONTENT_LENGTH, self.body.len().into());
        }
        all
    }

    /// The bytes of the request line and the headers.
    pub(super) fn head(&self, target: &str, headers: &HeaderMap) -> Vec<u8> {
        let mut head = format!("{} {target} HTTP/1.1\r\n", self.method).into_bytes();
        for (name, value) in headers {
            head.extend_from_slice(name.as_str().as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value.as_bytes());
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(b"\r\n");
        head
    }
}

/// Headers that the transport sets itself.
const OWN_HEADERS: [HeaderName; 5] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::CONNECTION,
    header::UPGRADE,
];

/// Parses a header of a fixture or a flag; the value is marked as sensitive.
///
/// # Errors
/// The problem, without the name and the value, which may be secret.
pub(crate) fn parse_header(
    name: &str,
    value: &str,
) -> Result<(HeaderName, HeaderValue), &'static str> {
    let name = name.parse::<HeaderName>();
    let name = name.map_err(|_| "not the name of a header such as x-tenant")?;
    if OWN_HEADERS.contains(&name) {
        return Err("the kit sets this header itself");
    }
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| "the value contains characters that headers do not allow")?;
    value.set_sensitive(true);
    Ok((name, value))
}

const SECRET_HEADERS: [HeaderName; 3] = [
    header::AUTHORIZATION,
    header::PROXY_AUTHORIZATION,
    header::COOKIE,
];

/// Headers for reports: without the values of secrets and of the endpoint's headers.
pub(super) fn shown(mut headers: HeaderMap, endpoint: &HeaderMap) -> HeaderMap {
    for (name, value) in &mut headers {
        if SECRET_HEADERS.contains(name) || value.is_sensitive() || endpoint.contains_key(name) {
            *value = SECRET;
        }
    }
    headers
}

/// Replaces the headers of the same names.
fn replace(all: &mut HeaderMap, with: &HeaderMap) {
    for name in with.keys() {
        all.remove(name);
        for value in with.get_all(name) {
            if *value != LEFT_OUT {
                all.append(name, value.clone());
            }
        }
    }
}
