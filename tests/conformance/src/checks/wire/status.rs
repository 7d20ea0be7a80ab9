//! The HTTP status.

use super::judging::verdict;
use crate::check::{Check, Company, Group, Level, Observer};
use crate::checks::tour::{proper, tour, webhooks, webhooks_of};
use crate::exchange::{Kind, NoAnswer};
use crate::lab::Lab;
use crate::transport::Request;
use crate::verdict::{Failure, Verdict};

/// Every answer has status 200.
pub(super) static WIRE_01: Check = Check {
    id: "WIRE-01",
    level: Level::Must,
    group: Group::Wire,
    rule: "Each of the nine webhooks answers a valid POST with HTTP status 200, whatever the answer says",
    why: "Controllers take every other status for a call that went wrong: they call again for ever, \
          and what the body says is lost. 201, 202 and 204 are no exceptions, and a driver's own \
          failure is 200 with status Fail.",
    source: "LBCF controller: only http.StatusOK is read (b142)",
    typical: "The framework's default for POST (201), 202 for work that goes on, 400 or 500 for what \
              should be status Fail or succ false, or a webhook that is missing or spelled otherwise.",
    observer: Observer::Unused,
    needs: &[],
    company: Company::Last,
    code: |lab| Box::pin(wire_01(lab)),
};

async fn wire_01(lab: &Lab) -> Verdict {
    tour(lab).await;
    let exchanges = proper(lab);
    for webhook in webhooks_of(lab) {
        if !exchanges.iter().any(|(name, _)| *name == webhook.name) {
            let got = format!("{} could not be called", webhook.name);
            return Err(Failure::new("HTTP 200 from each webhook", got).into());
        }
    }
    let judged = exchanges.len();
    let bad = exchanges.into_iter().filter_map(|(webhook, exchange)| {
        let problem = match &exchange.outcome {
            Ok(received) if received.status == 200 => return None,
            // A redirect is WIRE-09's, and an answer that comes too late is LAT-01's.
            Ok(received) if (300..400).contains(&received.status) => return None,
            Err(NoAnswer::TimedOut(_) | NoAnswer::HungUp) => return None,
            Ok(received) => format!("HTTP {}", received.status),
            Err(problem) => problem.to_string(),
        };
        Some((webhook, problem, exchange))
    });
    verdict("HTTP 200", judged, bad.collect())
}

/// No redirects.
pub(super) static WIRE_09: Check = Check {
    id: "WIRE-09",
    level: Level::Must,
    group: Group::Wire,
    rule: "No webhook answers with a redirect, not even for a slash at the end of its path",
    why: "HTTP clients follow 301 and 302 with a GET, without the body: the call is lost, and what \
          the controller reads is somebody else's page.",
    source: "derived: Go's HTTP client changes POST to GET on 301 and 302",
    typical: "A framework that redirects to the path with or without a slash, or to https. Switch \
              that off (FastAPI: redirect_slashes=False), and serve or refuse the path itself.",
    observer: Observer::Unused,
    needs: &[],
    company: Company::Last,
    code: |lab| Box::pin(wire_09(lab)),
};

async fn wire_09(lab: &Lab) -> Verdict {
    tour(lab).await;
    for webhook in webhooks() {
        let request = Request::post(format!("{}/", webhook.name), "{}");
        lab.exchange(&request, Some(webhook.name), Kind::Improper)
            .await;
    }
    let exchanges: Vec<_> = lab
        .record()
        .into_iter()
        .filter_map(|exchange| Some((exchange.webhook?, exchange)))
        .collect();
    let judged = exchanges.len();
    let bad = exchanges.into_iter().filter_map(|(webhook, exchange)| {
        let received = exchange.outcome.as_ref().ok()?;
        let is_redirect = (300..400).contains(&received.status);
        let to = received.headers.get(http::header::LOCATION);
        let to = to.map(|to| String::from_utf8_lossy(to.as_bytes()).into_owned());
        let problem = format!("HTTP {} to {:?}", received.status, to.unwrap_or_default());
        is_redirect.then_some((webhook, problem, exchange))
    });
    verdict("no redirect", judged, bad.collect())
}
