//! healthz of an idle driver.

use super::summary;
use crate::check::{Check, Group};
use crate::exchange::RequestKind;
use crate::lab::{DriverReply, Lab, healthz};
use crate::outcome::CheckOutcome;
use crate::transport::Request;
use bytes::Bytes;

pub(super) static HLTH_01: Check = Check {
    id: "HLTH-01",
    rule: "A working driver responds to POST healthz ({}) with {\"healthy\": true}, each time",
    why: "The original controller configures healthz for every driver. A driver without it counts \
          as broken, although it works.",
    source: "Original controller, CallHealthz (b12, b151, b156)",
    typical: "The webhook is missing, because the older specification does not mention it, or it \
              returns status Succ as operations do, or plain text. Return {\"healthy\": true}.",
    ..Check::must(Group::Hlth, |lab| Box::pin(hlth_01(lab)))
};

async fn hlth_01(lab: &Lab) -> CheckOutcome {
    for _ in 0..lab.repeats().max(1) {
        let reply = lab.call(&healthz()).await;
        is_healthy(&reply, "since the driver works")?;
    }
    Ok(())
}

pub(super) static HLTH_03: Check = Check {
    id: "HLTH-03",
    rule: "healthz responds to a POST without a body as to {}",
    why: "Probes of other tools send no body. To them a driver that requires JSON is down.",
    source: "derived: the request has no fields (b151)",
    typical: "The framework parses JSON before it calls the handler, and rejects an empty body or \
              a missing Content-Type. Ignore the body of this webhook.",
    ..Check::should(Group::Hlth, |lab| Box::pin(hlth_03(lab)))
};

async fn hlth_03(lab: &Lab) -> CheckOutcome {
    let reply = lab.call(&healthz()).await;
    is_healthy(&reply, "since the driver works").map_err(|e| e.blocked_by("HLTH-01"))?;
    let request = Request::post("healthz", Bytes::new());
    let exchange = lab
        .exchange(&request, Some("healthz"), RequestKind::Unusual)
        .await;
    let since = "as for {}: the request has no fields";
    is_healthy(&DriverReply::new(exchange), since)
}

fn is_healthy(reply: &DriverReply, since: &str) -> CheckOutcome {
    match reply.healthy() {
        Some(true) => Ok(()),
        _ => Err(reply.failed(format!("healthy true, {since}"), summary(reply))),
    }
}
