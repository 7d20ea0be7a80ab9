//! Headers and members that version 1 has beyond the first edition, and that other drivers need not know.

use super::prelude::*;
use super::tour::{class_of, excerpt, is_valid, object, verify_all};
use http::{HeaderName, HeaderValue};
use lbcf_driver_sdk::webhook::{Class, SPECIFICATION_HEADER};

pub(super) const CHECKS: &[&Check] = &[&WIRE_14, &WIRE_15, &WIRE_16];

check! { WIRE_14 = wire_14, Wire,
    why "Controllers say which version of the specification they follow, and proxies and meshes \
         add or change traces. A driver that rejects either works with some installations only.",
    source "LBCF webhook specification, versions; W3C Trace Context",
    typical "A middleware that parses traceparent and fails, or a version that is compared with a \
             fixed text.",
}

async fn wire_14(lab: &Lab) -> CheckOutcome {
    const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let lb = lab.load_balancer();
    for (version, trace) in [("1", TRACE), ("99", "not a trace"), ("", "")] {
        for call in [healthz(), lb.validate()] {
            let header = |name| HeaderName::from_static(name);
            let request = lab
                .request_of(&call)
                .with(
                    header(SPECIFICATION_HEADER),
                    HeaderValue::from_static(version),
                )
                .with(header("traceparent"), HeaderValue::from_static(trace));
            let reply = lab
                .send(&request, call.webhook(), RequestKind::Unusual)
                .await;
            let since = format!("with LBCF-Specification {version:?} and traceparent {trace:?}");
            is_valid(&reply, &since)?;
        }
    }
    Ok(())
}

check! { WIRE_15 = wire_15, Wire, runs Last,
    why "The controller acts by the reason: it creates a load balancer again, or waits for long. \
         With another type it cannot read the response at all.",
    source "LBCF webhook specification, reasons; d115",
    typical "A status code as the reason, or the reason of an earlier failure beside Succ.",
}

async fn wire_15(lab: &Lab) -> CheckOutcome {
    let expected = "a reason that is a text, beside the status Fail, or none";
    verify_all(lab, expected, |webhook, received| {
        if class_of(webhook)? != Class::Operation {
            return None;
        }
        let body = object(received)?;
        let reason = in_any_case(&body, "reason").filter(|value| !value.is_null())?;
        let status = in_any_case(&body, "status")?.as_str()?;
        match reason.as_str() {
            // WIRE-03 verifies the status.
            Some(reason) if !reason.is_empty() && ["Succ", "Running"].contains(&status) => {
                Some(format!("reason {reason:?} with status {status}"))
            }
            Some(_) => None,
            None => Some(format!("reason is {}", excerpt(reason))),
        }
    })
    .await
}

check! { WIRE_16 = wire_16, Wire, runs Last,
    why "Controllers read null as empty, but others who read the list, such as scripts, fail for it.",
    source "LBCF webhook specification, OpenAPI document",
    typical "A slice that is nil in Go is written as null. Begin with an empty one.",
}

async fn wire_16(lab: &Lab) -> CheckOutcome {
    verify_all(lab, "an array", |_, received| {
        let body = object(received)?;
        let lists = ["backends", "doNotDeregister"].into_iter();
        let mut nulls = lists.filter(|it| in_any_case(&body, it) == Some(&Value::Null));
        nulls.next().map(|name| format!("{name} is null"))
    })
    .await
}
