//! generateBackendAddr: by which address the load balancer knows a pod or a service's node port.

mod alike;
mod basis;
mod changes_nothing;
mod different;
mod impossible;
mod request;
mod variants;

use crate::check::Check;
use crate::lab::{Answer, Backend, Call, Lab, Source};
use crate::verdict::{Failure, NotPassed};

/// The checks about generateBackendAddr.
pub(super) const CHECKS: &[&Check] = &[
    &basis::GEN_01,
    &basis::GEN_02,
    &alike::GEN_03,
    &different::GEN_04,
    &request::GEN_05,
    &changes_nothing::GEN_06,
    &request::GEN_07,
    &impossible::GEN_08,
];

/// Why there should be an address, where nothing is peculiar about the request.
const POSSIBLE: &str = "since the backend has all that an address is made of";

/// Asks for an address, which there has to be; `since` says why.
async fn address(lab: &Lab, call: &Call, since: &str) -> Result<(String, Answer), NotPassed> {
    let answer = lab.until_done(call).await?;
    answer.succ(since)?;
    match address_in(&answer) {
        Some(addr) => Ok((addr, answer)),
        None => {
            let expected = format!("a backendAddr that is not empty, {since}");
            Err(answer.failed(expected, no_address(&answer)))
        }
    }
}

/// [`address`] of a backend that a check starts from.
async fn given_address(lab: &Lab, backend: &Backend) -> Result<String, NotPassed> {
    let given = address(lab, &backend.generate(), POSSIBLE).await;
    let (addr, _) = given.map_err(|e| e.blocked_by(basis_of(backend)))?;
    Ok(addr)
}

/// [`given_address`] that others can be compared with, as it does not change by itself.
async fn steady_address(lab: &Lab, backend: &Backend) -> Result<String, NotPassed> {
    let first = given_address(lab, backend).await?;
    let again = given_address(lab, backend).await?;
    if again != first {
        let expected = format!("backendAddr {first:?} each time");
        let failure = Failure::new(expected, format!("backendAddr {again:?}"));
        return Err(NotPassed::from(failure).blocked_by("GEN-03"));
    }
    Ok(first)
}

/// The check that is about there being an address at all.
const fn basis_of(backend: &Backend) -> &'static str {
    match backend.source {
        Source::Service(_) => "GEN-02",
        Source::Pod(_) | Source::Static => "GEN-01",
    }
}

/// The address in an answer, unless it is empty or no text.
fn address_in(answer: &Answer) -> Option<String> {
    let addr = answer.field("backendAddr")?.as_str()?;
    (!addr.trim().is_empty()).then(|| addr.to_owned())
}

fn no_address(answer: &Answer) -> String {
    match answer.field("backendAddr") {
        None => "status Succ without a backendAddr".to_owned(),
        Some(value) => format!("status Succ with backendAddr {value}"),
    }
}

/// What kind of backend it is, for people.
const fn kind(backend: &Backend) -> &'static str {
    match backend.source {
        Source::Pod(_) => "pod",
        Source::Service(_) => "service",
        Source::Static => "static address",
    }
}
