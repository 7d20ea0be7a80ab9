//! generateBackendAddr: the address of a pod, a service's node port or an endpoint of a service.

mod absent;
mod distinct;
mod endpoints;
mod present;
mod request;
mod stable;
mod unchanged;
mod variants;

use crate::check::Check;
use crate::lab::{Backend, DriverReply, Lab, Source, WebhookCall};
use crate::outcome::{CheckError, Failure};

pub(super) const CHECKS: &[&Check] = &[
    &present::GEN_01,
    &present::GEN_02,
    &stable::GEN_03,
    &distinct::GEN_04,
    &request::GEN_05,
    &unchanged::GEN_06,
    &request::GEN_07,
    &absent::GEN_08,
    &endpoints::GEN_09,
    &endpoints::GEN_10,
];

/// Why generateBackendAddr has to return an address for a complete request.
const COMPLETE: &str = "since the backend has everything that an address consists of";

/// Requires an address, for the reason `since`.
async fn address(
    lab: &Lab,
    call: &WebhookCall,
    since: &str,
) -> Result<(String, DriverReply), CheckError> {
    let reply = lab.succeeds(call, since).await?;
    match reply.backend_addr() {
        Some(addr) => Ok((addr.to_owned(), reply)),
        None => {
            let expected = format!("a backendAddr that is not empty, {since}");
            Err(reply.failed(expected, describe(&reply)))
        }
    }
}

/// [`address`] as part of the setup.
async fn given_address(lab: &Lab, backend: &Backend) -> Result<String, CheckError> {
    let given = address(lab, &backend.generate(), COMPLETE).await;
    let (addr, _) = given.map_err(|e| e.blocked_by(prerequisite(backend)))?;
    Ok(addr)
}

/// [`given_address`], verified to be the same each time, for comparisons.
async fn stable_address(lab: &Lab, backend: &Backend) -> Result<String, CheckError> {
    let first = given_address(lab, backend).await?;
    let again = given_address(lab, backend).await?;
    if again != first {
        let expected = format!("backendAddr {first:?} each time");
        let failure = Failure::new(expected, format!("backendAddr {again:?}"));
        return Err(CheckError::from(failure).blocked_by("GEN-03"));
    }
    Ok(first)
}

/// The check for the existence of an address.
const fn prerequisite(backend: &Backend) -> &'static str {
    match backend.source {
        Source::Service(_) => "GEN-02",
        Source::Endpoint(_) => "GEN-10",
        Source::Pod(_) | Source::Static => "GEN-01",
    }
}

/// Describes a Succ with or without an address.
fn describe(reply: &DriverReply) -> String {
    match reply.field("backendAddr") {
        None => "status Succ without a backendAddr".to_owned(),
        Some(value) => format!("status Succ with backendAddr {value}"),
    }
}
