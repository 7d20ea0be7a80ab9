//! Bad input: no controller sends it, but scanners, wrong configurations and broken proxies do. A
//! driver rejects it, changes nothing, and keeps working.

mod requests;

use super::life::{LifeCycle, Strategy};
use super::prelude::*;
use http::Method;
use requests::{BadRequest, Expected, ValidCalls, broken, is_alive, problem, verify, wrong_types};

pub(super) const CHECKS: &[&Check] = &[&BAD_01, &BAD_02, &BAD_03, &BAD_04, &BAD_05];

check! { BAD_01 = bad_01, Bad, runs Exclusive,
    why "Anyone who can reach the driver can send such a body. If the driver crashes, no load \
         balancer of the cluster can be changed.",
    source "derived: RFC 9110, status 400",
    typical "An exception in the body parser becomes 500 or ends the process; or the error is \
             only logged, and the handler continues with an empty value.",
}

async fn bad_01(lab: &Lab) -> CheckOutcome {
    let valid = ValidCalls::new(lab).await;
    let mut bad = broken(lab, &valid.calls());
    // healthz may ignore its body.
    for body in [&b""[..], b"{", b"null"] {
        bad.push(BadRequest {
            call: healthz(),
            what: "a body that is not a JSON object".to_owned(),
            request: Request::post("healthz", body.to_vec()),
            expected: Expected::AnyResponse,
        });
    }
    verify(lab, bad).await
}

check! { BAD_02 = bad_02, Bad, runs Exclusive,
    why "After Succ the controller assumes that the work was done, although the driver could not \
         read what to do. An exception tells the user nothing.",
    source "derived: LBCF webhook specification, types of the fields",
    typical "Dynamically typed languages accept a list as a map without fields and continue with \
             defaults. Validate the body against a schema first.",
}

async fn bad_02(lab: &Lab) -> CheckOutcome {
    let valid = ValidCalls::new(lab).await;
    verify(lab, wrong_types(lab, &valid)).await
}

check! { BAD_03 = bad_03, Bad, observer Improves, runs Exclusive,
    why "Browsers, crawlers and caches send GET, and may send it twice. Such a request must not \
         create load balancers.",
    source "derived: RFC 9110, safe methods",
    typical "A route without a method, a catch-all handler, or a handler that selects the webhook \
             by the end of the path.",
}

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
    let lb_info = &valid.lb.lb_info;
    let (before, seen) = (before.load_balancer(lb_info), seen.load_balancer(lb_info));
    let expected = format!("the load balancer unchanged, {}", json(&before));
    Failure::unless(before == seen, expected, json(&seen))
}

async fn rejected(lab: &Lab, call: &WebhookCall, request: &Request, what: &str) -> CheckOutcome {
    let reply = lab.send_instead(call, request).await;
    let got = match reply.http_status() {
        // A redirect changes nothing, either, and 501 is for unknown methods.
        Some(300..=499 | 501) => return Ok(()),
        Some(status) => format!("HTTP {status}, {}", reply.summary()),
        None => reply.summary(),
    };
    Err(reply.failed(format!("HTTP 405 or 404 for {what}"), got))
}

check! { BAD_04 = bad_04, Bad, runs Exclusive,
    why "No object in Kubernetes is larger than about 1.5 MiB. A driver that buffers bodies of \
         any size can run out of memory.",
    source "derived: RFC 9110, status 413",
    typical "The body is read without a limit. Set one of a few MiB: a whole pod has to fit.",
}

const LENGTH: usize = 10 << 20;

async fn bad_04(lab: &Lab) -> CheckOutcome {
    let valid = ValidCalls::new(lab).await;
    let new = lab.load_balancer();
    for call in [new.validate(), new.create(), valid.backend.ensure()] {
        let small = lab.request_of(&call).body;
        let mut body = Vec::with_capacity(LENGTH + small.len() + 100);
        body.extend_from_slice(br#"{"fieldOfALaterEdition":""#);
        body.resize(LENGTH, b'x');
        body.extend_from_slice(b"\",");
        body.extend_from_slice(small.strip_prefix(b"{").unwrap_or_default());
        let request = Request::post(call.webhook(), body);
        let reply = lab.send_instead(&call, &request).await;
        let what = format!("{} with a body of 10 MiB", call.webhook());
        // A driver may close the connection, and its response may then be lost.
        let is_closed = matches!(reply.no_response(), Some(NoResponse::Closed(_)));
        if !is_closed && let Some(problem) = problem(&reply.exchange, Expected::Rejection) {
            let expected = format!("{what} rejected, with HTTP 413 or Fail");
            return Err(reply.failed(expected, problem));
        }
        is_alive(lab, &what).await?;
    }
    Ok(())
}

check! { BAD_05 = bad_05, Bad, observer Improves, needs [LoadBalancer],
    runs Exclusive,
    why "Anyone who can reach the driver can send bad input. It must not stop the driver from \
         serving the cluster's load balancers.",
    source "derived: CSI and Kubernetes API servers survive bad input; HLTH-01, LIFE-01",
    typical "The process ends, a lock stays locked after an exception, or partially read input is \
             kept.",
}

async fn bad_05(lab: &Lab) -> CheckOutcome {
    let was_sent = lab.run.record.all().iter().any(|exchange| {
        let of_bad = |check: &str| check.starts_with("BAD-");
        exchange.kind == RequestKind::Invalid && exchange.check.is_some_and(of_bad)
    });
    if !was_sent {
        let valid = ValidCalls::new(lab).await;
        let mut bad = broken(lab, &valid.calls());
        bad.extend(wrong_types(lab, &valid));
        for bad in bad {
            // BAD-01 and BAD-02 verify the responses.
            let reply = lab.send_instead(&bad.call, &bad.request).await;
            if reply.no_response().is_some() {
                // The driver may never respond again.
                break;
            }
        }
    }
    let reply = lab.call(&healthz().unusual()).await;
    let expected = "healthy true, also after bad input";
    reply
        .check(reply.healthy() == Some(true), expected, reply.summary())
        .blocked_by("HLTH-01")?;
    let strategy = Strategy::Once;
    let cycle = LifeCycle { lab, strategy };
    cycle.run().await.map_err(|error| {
        error.covered_by("LIFE-01").hint(
            "LIFE-01 makes the same calls without bad input before them. If it passed, bad input may have left something locked or half read (see BAD-01 to BAD-04), or the driver fails now and then.",
        )
    })
}
