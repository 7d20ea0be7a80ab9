//! The changes of a proxy in the heads of requests and responses (RFC 9110, section 7.6).

use axum::http::header::{
    CONNECTION, EXPECT, HOST, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRANSFER_ENCODING,
    UPGRADE,
};
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, Uri, Version};
use std::net::IpAddr;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
/// Those that are about one connection; `Upgrade` is among them, so nothing is upgraded.
const HOP_BY_HOP: [HeaderName; 8] = [
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRANSFER_ENCODING,
    UPGRADE,
    EXPECT,
];

/// The headers that a listener adds to the requests of a connection.
#[derive(Debug, Clone)]
pub(super) struct Forwarded {
    client: Option<HeaderValue>,
    protocol: HeaderValue,
}

impl Forwarded {
    pub(super) fn new(client: Option<IpAddr>, is_tls: bool) -> Self {
        Self {
            client: client.and_then(|ip| HeaderValue::try_from(ip.to_string()).ok()),
            protocol: HeaderValue::from_static(if is_tls { "https" } else { "http" }),
        }
    }

    /// Makes the client's request the one that the backend gets.
    pub(super) fn apply<B>(&self, request: &mut Request<B>) {
        *request.version_mut() = Version::HTTP_11;
        if let Some(host) = request.uri().authority() {
            // The backend is no proxy, so it gets the path alone.
            let host = HeaderValue::try_from(host.as_str());
            let path = request.uri().path_and_query().cloned();
            let path = path.unwrap_or_else(|| PathAndQuery::from_static("/"));
            *request.uri_mut() = Uri::from(path);
            if let Ok(host) = host {
                request.headers_mut().insert(HOST, host);
            }
        }
        let headers = request.headers_mut();
        remove_hop_by_hop(headers);
        headers.insert(FORWARDED_PROTO, self.protocol.clone());
        if let Some(client) = &self.client {
            let client = match headers.get(&FORWARDED_FOR) {
                None => client.clone(),
                Some(before) => {
                    let both = [before.as_bytes(), b", ", client.as_bytes()].concat();
                    HeaderValue::from_bytes(&both).unwrap_or_else(|_| client.clone())
                }
            };
            headers.insert(FORWARDED_FOR, client);
        }
    }
}

/// Removes the headers that are about the connection, and those that `Connection` names.
pub(super) fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<_> = headers.get_all(CONNECTION).iter().cloned().collect();
    headers.remove(CONNECTION);
    for named in &named {
        let named = named.to_str().unwrap_or_default();
        for name in named.split(',').map(str::trim) {
            // Not even if a client asks for it.
            if !name.eq_ignore_ascii_case(HOST.as_str()) {
                headers.remove(name);
            }
        }
    }
    for name in &HOP_BY_HOP {
        headers.remove(name);
    }
}

/// The host that a request is for, without its port.
pub(super) fn host<B>(request: &Request<B>) -> &str {
    if let Some(host) = request.uri().host() {
        return host;
    }
    let host = request.headers().get(HOST);
    let host = host.and_then(|host| host.to_str().ok()).unwrap_or_default();
    match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit()) => {
            name
        }
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(uri: &str, headers: &[(&str, &str)]) -> Request<()> {
        let mut request = Request::get(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap()
    }

    #[test]
    fn headers_of_the_connection_stay_on_it() {
        let mut request = request(
            "/",
            &[
                ("host", "a"),
                ("connection", "x-mine, Host"),
                ("connection", "close"),
                ("x-mine", "1"),
                ("close", "1"),
                ("transfer-encoding", "chunked"),
                ("upgrade", "websocket"),
                ("accept", "text/html"),
            ],
        );
        Forwarded::new(None, true).apply(&mut request);
        let mut left: Vec<_> = request.headers().keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        assert_eq!(left, ["accept", "host", "x-forwarded-proto"]);
        assert_eq!(request.headers()["x-forwarded-proto"], "https");
    }

    #[test]
    fn the_client_is_appended() {
        let forwarded = Forwarded::new(Some([127, 0, 0, 1].into()), false);
        let mut request = request("/", &[("x-forwarded-for", "10.0.0.1")]);
        forwarded.apply(&mut request);
        assert_eq!(request.headers()["x-forwarded-for"], "10.0.0.1, 127.0.0.1");
    }

    #[test]
    fn the_form_of_requests_to_proxies_becomes_a_path() {
        let mut request = request("http://a.example:81/x?y=1", &[("host", "b")]);
        assert_eq!(host(&request), "a.example");
        Forwarded::new(None, false).apply(&mut request);
        assert_eq!(request.uri(), "/x?y=1");
        assert_eq!(request.headers()[HOST], "a.example:81");
    }

    #[test]
    fn a_host_has_no_port() {
        for (header, expected) in [
            ("a.example:80", "a.example"),
            ("a.example", "a.example"),
            ("[::1]:80", "[::1]"),
            ("[::1]", "[::1]"),
            ("", ""),
        ] {
            assert_eq!(host(&request("/", &[("host", header)])), expected);
        }
    }
}
