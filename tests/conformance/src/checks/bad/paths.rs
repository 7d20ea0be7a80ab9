//! Methods other than POST, and unknown paths.

use super::valid_calls::ValidCalls;
use super::verify::is_alive;
use crate::check::{Check, Concurrency, Group, Observer};
use crate::exchange::RequestKind;
use crate::lab::{Lab, WebhookCall};
use crate::outcome::{CheckOutcome, Failure};
use crate::transport::Request;
use http::Method;

pub(super) static BAD_03: Check = Check {
    id: "BAD-03",
    rule: "Methods other than POST and paths other than the webhooks' are rejected with 405 or \
           404, and change nothing",
    why: "Browsers, crawlers and caches send GET, and may send it twice. Such a request must not \
          create load balancers.",
    source: "derived: RFC 9110, safe methods",
    typical: "A route without a method, a catch-all handler, or a handler that selects the webhook \
              by the end of the path.",
    observer: Observer::Improves,
    concurrency: Concurrency::Exclusive,
    ..Check::should(Group::Bad, |lab| Box::pin(bad_03(lab)))
};

async fn bad_03(lab: &Lab) -> CheckOutcome {
    let valid = ValidCalls::new(lab).await;
    let before = lab.observe().await?;
    // A new load balancer, so that its creation is visible.
    let mut calls = valid.calls();
    calls[1] = lab.load_balancer().create();
    for method in [Method::GET, Method::PUT, Method::DELETE] {
        for call in &calls {
            let request = Request {
                method: method.clone(),
                ..lab.request_of(call)
            };
            let what = format!("{method} of {}", call.webhook());
            rejected(lab, call, &request, &what).await?;
        }
    }
    for path in [
        "noSuchWebhook",
        "createLoadBalancer/more",
        "create-load-balancer",
    ] {
        let request = Request {
            path: path.to_owned(),
            ..lab.request_of(&calls[1])
        };
        rejected(lab, &calls[1], &request, &format!("POST of {path}")).await?;
    }
    is_alive(lab, "other methods and paths").await?;
    let expected = "no load balancer created by another method or at another path";
    lab.created_since(before.as_ref(), 0, expected).await?;
    let (Some(before), Some(seen)) = (before, lab.observe().await?) else {
        return Ok(());
    };
    let lb_info = &valid.load_balancer.lb_info;
    let (before, seen) = (before.load_balancer(lb_info), seen.load_balancer(lb_info));
    if before != seen {
        let expected = format!("the load balancer unchanged, {before:?}");
        return Err(Failure::new(expected, format!("{seen:?}")).into());
    }
    Ok(())
}

async fn rejected(lab: &Lab, call: &WebhookCall, request: &Request, what: &str) -> CheckOutcome {
    let reply = lab.call_by(call, request, RequestKind::Invalid).await;
    let got = match reply.http_status() {
        // A redirect changes nothing, either, and 501 is for unknown methods.
        Some(300..=499 | 501) => return Ok(()),
        Some(status) => format!("HTTP {status}, {}", reply.summary()),
        None => reply.summary(),
    };
    Err(reply.failed(format!("HTTP 405 or 404 for {what}"), got))
}
