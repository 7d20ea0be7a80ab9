//! The HTTP status.

use super::verify::first_problem;
use crate::check::{Check, Concurrency, Group};
use crate::checks::tour::{call_all_webhooks, called_webhooks, valid_calls, webhooks};
use crate::exchange::{NoResponse, RequestKind};
use crate::lab::Lab;
use crate::outcome::{CheckOutcome, Failure};
use crate::transport::Request;

pub(super) static WIRE_01: Check = Check {
    id: "WIRE-01",
    rule: "Each webhook of the driver, the nine of every driver and those that its features name, \
           responds to a valid POST with HTTP status 200, whatever the result is",
    why: "Controllers treat every other status as a failed call: they retry indefinitely, and \
          ignore the body. This includes 201, 202 and 204. A driver reports its own failure by 200 \
          with status Fail.",
    source: "LBCF controller: only http.StatusOK is read (b142)",
    typical: "The framework's default for POST (201), 202 for continuing work, 400 or 500 in place \
              of status Fail or succ false, or a webhook that is missing or misspelled.",
    concurrency: Concurrency::Last,
    ..Check::must(Group::Wire, |lab| Box::pin(wire_01(lab)))
};

async fn wire_01(lab: &Lab) -> CheckOutcome {
    call_all_webhooks(lab).await;
    let exchanges = valid_calls(lab);
    for webhook in called_webhooks(lab) {
        if !exchanges.iter().any(|(name, _)| *name == webhook.name) {
            let got = format!("{} could not be called", webhook.name);
            return Err(Failure::new("HTTP 200 from each webhook", got).into());
        }
    }
    let total = exchanges.len();
    let problems = exchanges.into_iter().filter_map(|(webhook, exchange)| {
        let problem = match &exchange.outcome {
            Ok(received) if received.status == 200 => return None,
            // WIRE-09 verifies redirects, and LAT-01 late responses.
            Ok(received) if (300..400).contains(&received.status) => return None,
            Err(NoResponse::TimedOut(_) | NoResponse::HungUp) => return None,
            Ok(received) => format!("HTTP {}", received.status),
            Err(problem) => problem.to_string(),
        };
        Some((webhook, problem, exchange))
    });
    first_problem("HTTP 200", total, problems.collect())
}

pub(super) static WIRE_09: Check = Check {
    id: "WIRE-09",
    rule: "No webhook responds with a redirect, not even for a slash at the end of its path",
    why: "HTTP clients follow 301 and 302 with a GET, without the body: the call is lost, and the \
          controller reads another page.",
    source: "derived: Go's HTTP client changes POST to GET on 301 and 302",
    typical: "A framework that redirects to the path with or without a slash, or to https. Switch \
              that off (FastAPI: redirect_slashes=False), and serve or reject the path itself.",
    concurrency: Concurrency::Last,
    ..Check::must(Group::Wire, |lab| Box::pin(wire_09(lab)))
};

async fn wire_09(lab: &Lab) -> CheckOutcome {
    call_all_webhooks(lab).await;
    for webhook in webhooks(lab) {
        let request = Request::post(format!("{}/", webhook.name), "{}");
        lab.exchange(&request, Some(webhook.name), RequestKind::Invalid)
            .await;
    }
    let exchanges: Vec<_> = lab
        .record()
        .into_iter()
        .filter_map(|exchange| Some((exchange.webhook?, exchange)))
        .collect();
    let total = exchanges.len();
    let problems = exchanges.into_iter().filter_map(|(webhook, exchange)| {
        let received = exchange.outcome.as_ref().ok()?;
        let is_redirect = (300..400).contains(&received.status);
        let to = received.headers.get(http::header::LOCATION);
        let to = to.map(|to| String::from_utf8_lossy(to.as_bytes()).into_owned());
        let problem = format!("HTTP {} to {:?}", received.status, to.unwrap_or_default());
        is_redirect.then_some((webhook, problem, exchange))
    });
    first_problem("no redirect", total, problems.collect())
}
