//! The fixture that a driver serves itself. It comes over the network, so only what describes the driver
//! is taken from it: nothing that would run a program, read a file, call another host, or excuse a
//! failure.

use crate::exchange::Received;
use crate::fixture::placeholders::DriverAddress;
use crate::fixture::{Action, Fixture, FixtureError, Observe};
use crate::transport::{Request, Transport};
use http::Method;
use std::time::Duration;

/// Where a driver serves its fixture, below its URL.
pub(crate) const PATH: &str = ".well-known/lbcf/conformance";

const TIMEOUT: Duration = Duration::from_secs(10);

/// The fixture of a driver.
#[derive(Debug)]
pub struct ServedFixture {
    /// The description of the driver.
    pub fixture: Fixture,
    /// The parts that are not used, each with the reason.
    pub ignored: Vec<String>,
}

/// Requests the fixture; `None` when the driver serves none.
///
/// # Errors
/// [`FixtureError`], when it serves one that is invalid.
pub async fn fetch(
    transport: &Transport,
    check_ids: &[&str],
) -> Result<Option<ServedFixture>, FixtureError> {
    let request = Request::new(Method::GET, PATH);
    let received = transport.send(&request, TIMEOUT).await.ok();
    let Some(Received { body, .. }) = received.filter(|received| received.status == 200) else {
        return Ok(None);
    };
    let url = transport.url_of(PATH);
    let text = String::from_utf8_lossy(&body);
    let Some((fixture, names_a_file)) = Fixture::parse_served(&text, &url, check_ids)? else {
        return Ok(None);
    };
    let mut served = described(fixture, &transport.url_of(""));
    if names_a_file {
        let reason = "backend.podTemplate: no files are read for a served fixture";
        served.ignored.push(reason.to_owned());
    }
    served.fixture.source = Some(url);
    Ok(Some(served))
}

/// Only what describes the driver at this URL.
fn described(mut fixture: Fixture, url: &str) -> ServedFixture {
    const NO_COMMANDS: &str = "command: programs are run only for a fixture in a file (--fixture)";
    const ELSEWHERE: &str = "url: it is not below the driver's own host and port";
    let mut ignored = Vec::new();
    let own = DriverAddress::of(url);
    let is_own = |url: &str| own.as_ref().is_some_and(|own| own.is_at(&own.fill(url)));
    let problem = match &fixture.observe {
        Some(Observe::Command(_)) => Some(NO_COMMANDS),
        Some(Observe::Url(url)) if !is_own(url) => Some(ELSEWHERE),
        Some(Observe::Url(_)) | None => None,
    };
    if let Some(problem) = problem {
        fixture.observe = None;
        ignored.push(format!("observe.{problem}"));
    }
    for (name, action) in [
        ("restart", &mut fixture.restart),
        ("fault", &mut fixture.fault),
    ] {
        let problem = match action {
            Some(Action::Command(_)) => NO_COMMANDS,
            Some(Action::Url(url)) if !is_own(url) => ELSEWHERE,
            // Exec restarts what the user's own --exec started.
            Some(Action::Url(_) | Action::Exec) | None => continue,
        };
        *action = None;
        ignored.push(format!("{name}.{problem}"));
    }
    if !fixture.known_failures.is_empty() {
        fixture.known_failures.clear();
        let reason = "knownFailures: a driver cannot excuse its own failures (--known-failures)";
        ignored.push(reason.to_owned());
    }
    // The driver was found at its URL, and the user decides which headers to send.
    fixture.endpoint.url = None;
    if !fixture.endpoint.headers.is_empty() {
        fixture.endpoint.headers.clear();
        ignored.push("endpoint.headers: they are given by --header".to_owned());
    }
    ServedFixture { fixture, ignored }
}

#[cfg(test)]
mod tests;
