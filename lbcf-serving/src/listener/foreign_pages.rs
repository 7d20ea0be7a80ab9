//! Refuses requests that another site's page makes through a user's browser.
//!
//! Most servers here need no password on loopback, and a browser on the same machine reaches them. A form or a
//! script of another site is marked with `Sec-Fetch-Site` or, by older browsers and over plain HTTP, with that site's
//! `Origin`. A name of that site that suddenly resolves to this machine makes the page one of the server's own, but
//! stays visible in `Host`. Other clients send neither of the first two, so these count on every address. The media
//! type decides nothing, as clients send any.

use http::header::{HOST, HeaderName, ORIGIN};
use http::{Method, Request};
use std::net::{IpAddr, SocketAddr};

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// The names by which clients may call a server on this address, beside `localhost` and loopback addresses. None is
/// for any name: other machines call by names that this one does not know, and over TLS a browser compares the
/// name with the certificate.
pub(super) fn hosts(addr: SocketAddr, is_tls: bool, more: Vec<String>) -> Option<Vec<String>> {
    (is_loopback(addr.ip()) && !is_tls).then_some(more)
}

/// Says why the request is refused, with the header and its value.
pub(super) fn check<B>(request: &Request<B>, hosts: Option<&[String]>) -> Result<(), String> {
    let text = |name: HeaderName| {
        let value = request.headers().get(name)?;
        Some(String::from_utf8_lossy(value.as_bytes()))
    };
    let host = text(HOST);
    if let Some((host, more)) = host.as_deref().zip(hosts)
        && !is_one_of(host, more)
    {
        return Err(format!(
            "Host: {host:?}: on a loopback address it is localhost, a loopback address or a name of --allow-host"
        ));
    }
    // The user follows a link, which changes nothing and shows the other site nothing.
    let is_link = || {
        request.method() == Method::GET
            && text(FETCH_MODE).as_deref() == Some("navigate")
            && text(FETCH_DEST).as_deref() == Some("document")
    };
    match (text(FETCH_SITE).as_deref(), text(ORIGIN).as_deref()) {
        (Some("same-origin" | "none"), _) => Ok(()),
        (Some(_), _) if is_link() => Ok(()),
        (Some(site), _) => Err(format!(
            "Sec-Fetch-Site: {site:?}: pages of other sites may only link here, so it is same-origin or none"
        )),
        (None, Some(origin)) if !is_of(origin, host.as_deref()) => Err(format!(
            "Origin: {origin:?}: pages of other sites may only link here, so it is that of Host: {:?}",
            host.unwrap_or_default()
        )),
        (None, _) => Ok(()),
    }
}

fn is_one_of(host: &str, more: &[String]) -> bool {
    let name = name_of(host);
    let is_name = |other: &str| name_of(other).eq_ignore_ascii_case(name);
    name.parse().is_ok_and(is_loopback)
        || is_name("localhost")
        || more.iter().any(|other| is_name(other))
}

/// The name without port, brackets and the dot at the end that means the same name.
fn name_of(host: &str) -> &str {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or("", |(name, _)| name),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.strip_suffix('.').unwrap_or(name)
}

/// Also in the form `::ffff:127.0.0.1`.
fn is_loopback(addr: IpAddr) -> bool {
    addr.to_canonical().is_loopback()
}

fn is_of(origin: &str, host: Option<&str>) -> bool {
    let authority = origin.split_once("://").map(|(_, authority)| authority);
    authority.is_some_and(|it| host.is_some_and(|host| it.eq_ignore_ascii_case(host)))
}

#[cfg(test)]
mod tests;
