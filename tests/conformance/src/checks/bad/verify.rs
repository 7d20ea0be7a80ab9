//! The allowed responses to bad input.

use crate::checks::prelude::*;

/// The time limit for a rejection.
pub(super) const LIMIT: Duration = Duration::from_secs(2);

/// The expected response to a bad request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    Rejection,
    /// Any response: parsers of some languages accept the body as one without fields.
    AnyResponse,
}

#[derive(Debug)]
pub(super) struct BadRequest {
    /// The valid call that it was made from.
    pub(super) call: WebhookCall,
    /// A description, such as `a truncated body`.
    pub(super) what: String,
    pub(super) request: Request,
    pub(super) expected: Expected,
}

/// Sends the requests one after the other, and verifies after each kind that the driver still
/// responds. Fails with the first wrong response after all were sent, or when responses stop.
pub(super) async fn verify(lab: &Lab, bad: Vec<BadRequest>) -> CheckOutcome {
    let mut first = None;
    let mut before: Option<String> = None;
    for BadRequest {
        call,
        what,
        request,
        expected,
    } in bad
    {
        if let Some(before) = before.filter(|before| *before != what) {
            is_alive(lab, &before).await?;
        }
        let reply = lab.call_by(&call, &request, RequestKind::Invalid).await;
        if let Some(problem) = problem(&reply.exchange, expected) {
            let expected = format!(
                "{} with {what} rejected within {LIMIT:?}: HTTP 400 to 499, status Fail or succ false",
                call.webhook()
            );
            let failed = reply.failed(expected, problem);
            if reply.no_response().is_some() {
                return Err(failed);
            }
            first.get_or_insert(failed);
        }
        before = Some(what);
    }
    if let Some(before) = before {
        is_alive(lab, &before).await?;
    }
    first.map_or(Ok(()), Err)
}

/// Fails when the driver no longer responds.
pub(super) async fn is_alive(lab: &Lab, after: &str) -> Result<(), CheckError> {
    let reply = lab.call(&healthz().unusual()).await;
    match reply.no_response() {
        None => Ok(()),
        Some(problem) => {
            let expected = format!("a response to healthz, also after {after}");
            Err(reply.failed(expected, problem.to_string()))
        }
    }
}

/// The problem of a response to bad input.
pub(super) fn problem(exchange: &Exchange, expected: Expected) -> Option<String> {
    let received = match &exchange.outcome {
        Ok(received) => received,
        Err(problem) => return Some(problem.to_string()),
    };
    if exchange.took >= LIMIT {
        return Some(format!("a response after {:.1?}", exchange.took));
    }
    match received.status {
        // Not implemented is a rejection.
        501 => None,
        500.. => Some(format!("HTTP {}", received.status)),
        200..300 if expected == Expected::Rejection => accepted(exchange),
        _ => None,
    }
}

/// The summary of a response that does not reject the request.
fn accepted(exchange: &Exchange) -> Option<String> {
    let reply = DriverReply::new(std::sync::Arc::new(exchange.clone()));
    let is_rejection = reply.decision() == Some(false) || reply.status() == Some(Status::Fail);
    (!is_rejection).then(|| reply.summary())
}

#[cfg(test)]
mod tests;
