//! Refuses requests that another site's page makes through a user's browser.
//!
//! The mock's own endpoints have no password and serve on loopback by default. A browser on the same machine
//! could be used against them: by a form or a script of another site, which the browser marks with that
//! site's `Origin`, or by a name of that site that suddenly resolves to this machine, which stays visible
//! in `Host`.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;

/// On which names the endpoints respond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hosts {
    /// Any, for addresses that other machines reach by names that this one does not know.
    Any,
    /// `localhost` and loopback addresses.
    Loopback,
}

impl Hosts {
    /// Those of a server on this address.
    pub(crate) const fn of(addr: IpAddr) -> Self {
        if addr.is_loopback() {
            Self::Loopback
        } else {
            Self::Any
        }
    }
}

/// A middleware for the mock's own endpoints; webhooks are called by controllers, under any name.
pub(crate) async fn refuse(hosts: Hosts, request: Request, next: Next) -> Response {
    match check(hosts, request.headers()) {
        Ok(()) => next.run(request).await,
        Err(why) => {
            let error = serde_json::json!({ "error": why }).to_string();
            let json = [(header::CONTENT_TYPE, "application/json")];
            (StatusCode::FORBIDDEN, json, error + "\n").into_response()
        }
    }
}

fn check(hosts: Hosts, headers: &HeaderMap) -> Result<(), String> {
    let host = text(headers, header::HOST)?;
    if let Some(host) = host.filter(|host| hosts == Hosts::Loopback && !is_loopback(host)) {
        return Err(format!(
            "Host: {host:?}: on a loopback address it is localhost or a loopback address"
        ));
    }
    match text(headers, header::ORIGIN)? {
        Some(origin) if host.is_none_or(|host| !is_of(origin, host)) => Err(format!(
            "Origin: {origin:?}: pages of other sites cannot use these endpoints"
        )),
        _ => Ok(()),
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Result<Option<&str>, String> {
    let value = headers.get(&name).map(|value| value.to_str());
    value
        .transpose()
        .map_err(|_| format!("{name}: has characters other than visible ASCII"))
}

/// True if a `Host` names this machine and nothing else can be meant.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or("", |(name, _)| name),
        None => host.split(':').next().unwrap_or_default(),
    };
    let is_loopback = |addr: IpAddr| addr.is_loopback();
    name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(is_loopback)
}

fn is_of(origin: &str, host: &str) -> bool {
    let authority = origin.split_once("://").map(|(_, authority)| authority);
    authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests;
