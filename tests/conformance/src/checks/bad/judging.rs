//! What a driver may answer to bad input.

use crate::exchange::{Exchange, Kind};
use crate::lab::{Answer, Call, Lab, Status, healthz};
use crate::transport::Request;
use crate::verdict::{NotPassed, Verdict};
use std::time::Duration;

/// How long saying no may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Badness {
    /// Nobody can make sense of it: it has to be refused.
    Senseless,
    /// Some languages read it, as a call in which nothing is said: whatever the answer is, it is
    /// one.
    Readable,
}

/// One bad request.
#[derive(Debug)]
pub(super) struct Bad {
    /// The call that it was made from.
    pub(super) call: Call,
    /// What is wrong with it, such as `a body that ends in the middle`.
    pub(super) what: String,
    pub(super) request: Request,
    pub(super) badness: Badness,
}

/// Sends them one after the other, and asks after each kind whether the driver is still there.
/// Fails with the first that went wrong when all are sent, or when there is no answer any more.
pub(super) async fn judge(lab: &Lab, bad: Vec<Bad>) -> Verdict {
    let mut first = None;
    let mut before: Option<String> = None;
    for Bad {
        call,
        what,
        request,
        badness,
    } in bad
    {
        if let Some(before) = before.filter(|before| *before != what) {
            is_alive(lab, &before).await?;
        }
        let answer = lab.call_by(&call, &request, Kind::Improper).await;
        if let Some(problem) = problem(&answer.exchange, badness) {
            let expected = format!(
                "{} with {what} refused within {PATIENCE:?}: HTTP 400 to 499, status Fail or succ false",
                call.webhook()
            );
            let failed = answer.failed(expected, problem);
            if answer.no_answer().is_some() {
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

/// Fails when the driver does not answer any more.
pub(super) async fn is_alive(lab: &Lab, after: &str) -> Result<(), NotPassed> {
    let answer = lab.call(&healthz().unusual()).await;
    match answer.no_answer() {
        None => Ok(()),
        Some(problem) => {
            let expected = format!("a driver that answers healthz, also after {after}");
            Err(answer.failed(expected, problem.to_string()))
        }
    }
}

/// What is wrong with an answer to bad input.
pub(super) fn problem(exchange: &Exchange, badness: Badness) -> Option<String> {
    let received = match &exchange.outcome {
        Ok(received) => received,
        Err(problem) => return Some(problem.to_string()),
    };
    if exchange.took >= PATIENCE {
        return Some(format!("an answer after {:.1?}", exchange.took));
    }
    match received.status {
        // It has no such method, which is all there is to say.
        501 => None,
        500.. => Some(format!("HTTP {}", received.status)),
        200..300 if badness == Badness::Senseless => accepted(exchange),
        _ => None,
    }
}

/// What an answer says, unless it says no.
fn accepted(exchange: &Exchange) -> Option<String> {
    let answer = Answer::new(std::sync::Arc::new(exchange.clone()));
    let is_refusal = answer.verdict() == Some(false) || answer.status() == Some(Status::Fail);
    (!is_refusal).then(|| answer.said())
}

#[cfg(test)]
mod tests;
