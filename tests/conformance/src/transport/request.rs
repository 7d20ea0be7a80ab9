//! Requests, and the headers that go with them.

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request as HttpRequest};

/// What reports show instead of a secret.
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
    /// The method.
    pub method: Method,
    /// What comes behind the driver's URL, such as `ensureBackend` or `healthz/`. A query is put
    /// behind that of the URL.
    pub path: String,
    /// Headers beside `host`, `content-length` and those of the endpoint, which they replace.
    /// `content-type: application/json` is sent where none is given and there is a body,
    /// `accept: application/json` and a `user-agent` where none are given; [`LEFT_OUT`] as value
    /// leaves one out. `transfer-encoding: chunked` takes the place of `content-length`, which
    /// is never taken from here.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// As the value of a header: not sent, although it would be by default.
pub const LEFT_OUT: HeaderValue = HeaderValue::from_static("(left out)");

impl Request {
    /// A request without a body.
    #[must_use]
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
        }
    }

    /// A `POST`, as webhooks are called.
    #[must_use]
    pub fn post(path: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self {
            body: body.into(),
            ..Self::new(Method::POST, path)
        }
    }

    /// With a header, instead of those of its name.
    #[must_use]
    pub fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// All headers, as they are sent: those of this request before those of the endpoint, and
    /// those that are sent by default.
    pub(super) fn all_headers(&self, host: &str, endpoint: &HeaderMap) -> HeaderMap {
        let mut all = HeaderMap::new();
        // The host's name comes out of a URL that was parsed, so it can be sent.
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

    /// For hyper.
    pub(super) fn to_http<B>(
        &self,
        target: &str,
        headers: HeaderMap,
        body: B,
    ) -> Result<HttpRequest<B>, http::Error> {
        let mut request = HttpRequest::builder()
            .method(self.method.clone())
            .uri(target)
            .body(body)?;
        *request.headers_mut() = headers;
        Ok(request)
    }

    /// The head as it goes over the wire.
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

/// Headers as they may be shown: secrets, and all that the endpoint brings, without their values.
pub(super) fn shown(mut headers: HeaderMap, endpoint: &HeaderMap) -> HeaderMap {
    for (name, value) in &mut headers {
        let is_secret = [
            header::AUTHORIZATION,
            header::PROXY_AUTHORIZATION,
            header::COOKIE,
        ]
        .contains(name);
        if is_secret || value.is_sensitive() || endpoint.contains_key(name) {
            *value = SECRET;
        }
    }
    headers
}

/// Puts headers in the place of those of the same names.
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
