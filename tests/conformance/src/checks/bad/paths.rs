//! Other methods than POST, and paths that are no webhook's.

use super::judging::is_alive;
use super::stage::Stage;
use crate::check::{Check, Company, Group, Level, Observer};
use crate::exchange::Kind;
use crate::lab::{Answer, Call, Lab};
use crate::transport::Request;
use crate::verdict::{Failure, NotPassed, Verdict};
use http::Method;

/// Nothing is done by them.
pub(super) static BAD_03: Check = Check {
    id: "BAD-03",
    level: Level::Should,
    group: Group::Bad,
    rule: "Other methods than POST and other paths than the webhooks' are refused with 405 or 404, and do nothing",
    why: "Browsers, crawlers and caches send GET, and send it twice. What they ask for must not make \
          load balancers.",
    source: "derived: RFC 9110, safe methods",
    typical: "A route without a method, a catch-all handler, or a handler that finds out the webhook \
              by the end of the path.",
    observer: Observer::Improves,
    needs: &[],
    company: Company::Alone,
    code: |lab| Box::pin(bad_03(lab)),
};

async fn bad_03(lab: &Lab) -> Verdict {
    let stage = Stage::new(lab).await;
    let before = lab.look().await?;
    // One that is not there yet, so that it shows if it is made.
    let mut calls = stage.calls();
    calls[1] = lab.load_balancer().create();
    for method in [Method::GET, Method::PUT, Method::DELETE] {
        for call in &calls {
            let request = Request {
                method: method.clone(),
                ..lab.request_of(call)
            };
            let what = format!("{method} of {}", call.webhook());
            refused(lab, call, &request, &what).await?;
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
        refused(lab, &calls[1], &request, &format!("POST of {path}")).await?;
    }
    is_alive(lab, "other methods and paths").await?;
    let (Some(before), Some(seen)) = (before, lab.look().await?) else {
        return Ok(());
    };
    if let Some(new) = seen.since(&before).first() {
        let expected = "no load balancer made by another method or at another path";
        return Err(Failure::new(expected, format!("{new:?}")).into());
    }
    let lb_info = &stage.load_balancer.lb_info;
    let (before, seen) = (before.load_balancer(lb_info), seen.load_balancer(lb_info));
    if before != seen {
        let expected = format!("the load balancer as it was, {before:?}");
        return Err(Failure::new(expected, format!("{seen:?}")).into());
    }
    Ok(())
}

/// Fails unless it is refused.
async fn refused(lab: &Lab, call: &Call, request: &Request, what: &str) -> Result<(), NotPassed> {
    let answer: Answer = lab.call_by(call, request, Kind::Improper).await;
    let expected = || format!("HTTP 405 or 404 for {what}");
    let Some(status) = answer.http_status() else {
        return Err(answer.failed(expected(), answer.said()));
    };
    // A redirect does nothing, either, and 501 says that there is no such method.
    match status {
        300..=499 | 501 => Ok(()),
        _ => {
            let got = format!("HTTP {status}, {}", answer.said());
            Err(answer.failed(expected(), got))
        }
    }
}
