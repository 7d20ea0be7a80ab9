//! Asking a driver that has nothing else to do.

use super::{health, said};
use crate::check::{Check, Company, Group, Level, Observer};
use crate::exchange::Kind;
use crate::lab::{Answer, Lab};
use crate::transport::Request;
use crate::verdict::Verdict;
use bytes::Bytes;
use http::{HeaderMap, Method};

/// A driver that works says so.
pub(super) static HLTH_01: Check = Check {
    id: "HLTH-01",
    level: Level::Must,
    group: Group::Hlth,
    rule: "POST healthz with {} is answered with {\"healthy\": true} by a driver that can work, each time",
    why: "The original controller has healthz among the webhooks that every driver is configured \
          with. One that answers otherwise counts as broken, though it would do its work.",
    source: "The original's code, CallHealthz (b12, b151, b156)",
    typical: "The webhook is missing, as the older prose does not tell of it, or it answers with \
              status Succ as operations do, or with plain text. Answer {\"healthy\": true}.",
    observer: Observer::Unused,
    needs: &[],
    company: Company::Any,
    code: |lab| Box::pin(hlth_01(lab)),
};

async fn hlth_01(lab: &Lab) -> Verdict {
    for _ in 0..lab.repeats().max(1) {
        let answer = lab.call(&health()).await;
        is_healthy(&answer, "since the driver does its work")?;
    }
    Ok(())
}

/// Whoever asks without a body gets an answer, too.
pub(super) static HLTH_03: Check = Check {
    id: "HLTH-03",
    level: Level::Should,
    group: Group::Hlth,
    rule: "POST healthz without a body is answered as with {}",
    why: "Probes of other tools send no body. To them a driver that insists on JSON is down.",
    source: "Derived: there is nothing in the request that could be missing (b151)",
    typical: "The framework reads JSON before the handler is called, and refuses an empty body or \
              a missing Content-Type. Let this one webhook ignore its body.",
    observer: Observer::Unused,
    needs: &[],
    company: Company::Any,
    code: |lab| Box::pin(hlth_03(lab)),
};

async fn hlth_03(lab: &Lab) -> Verdict {
    let answer = lab.call(&health()).await;
    is_healthy(&answer, "since the driver does its work").map_err(|e| e.blocked_by("HLTH-01"))?;
    let request = Request {
        method: Method::POST,
        path: "healthz".to_owned(),
        headers: HeaderMap::new(),
        body: Bytes::new(),
    };
    let exchange = lab.exchange(&request, Some("healthz"), Kind::Unusual).await;
    is_healthy(
        &Answer::new(exchange),
        "as with {}: the request has no fields",
    )
}

fn is_healthy(answer: &Answer, since: &str) -> Verdict {
    match answer.healthy() {
        Some(true) => Ok(()),
        _ => Err(answer.failed(format!("healthy true, {since}"), said(answer))),
    }
}
