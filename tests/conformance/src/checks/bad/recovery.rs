//! The driver after bad input.

use super::broken::broken;
use super::types::wrong_types;
use super::valid_calls::ValidCalls;
use crate::check::{Check, Concurrency, Group, Need, Observer};
use crate::checks::life::cycle::{LifeCycle, Strategy};
use crate::exchange::RequestKind;
use crate::lab::{Lab, healthz};
use crate::outcome::CheckOutcome;

pub(super) static BAD_05: Check = Check {
    id: "BAD-05",
    rule: "After bad input the driver is healthy, and a whole life cycle succeeds as before",
    why: "Anyone who can reach the driver can send bad input. It must not stop the driver from \
          serving the cluster's load balancers.",
    source: "derived: CSI and Kubernetes API servers survive bad input; HLTH-01, LIFE-01",
    typical: "The process ends, a lock stays locked after an exception, or partially read input is \
              kept.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    concurrency: Concurrency::Exclusive,
    ..Check::must(Group::Bad, |lab| Box::pin(bad_05(lab)))
};

async fn bad_05(lab: &Lab) -> CheckOutcome {
    let was_sent = lab.record().iter().any(|exchange| {
        let of_bad = |check: &str| check.starts_with("BAD-");
        exchange.kind == RequestKind::Invalid && exchange.check.is_some_and(of_bad)
    });
    if !was_sent {
        let valid = ValidCalls::new(lab).await;
        let mut bad = broken(lab, &valid.calls());
        bad.extend(wrong_types(lab, &valid));
        for bad in bad {
            // BAD-01 and BAD-02 verify the responses.
            let reply = lab
                .call_by(&bad.call, &bad.request, RequestKind::Invalid)
                .await;
            if reply.no_response().is_some() {
                // The driver may never respond again.
                break;
            }
        }
    }
    let reply = lab.call(&healthz().unusual()).await;
    if reply.healthy() != Some(true) {
        let error = reply.failed("healthy true, also after bad input", reply.summary());
        return Err(error.blocked_by("HLTH-01"));
    }
    let cycle = LifeCycle::new(lab, Strategy::Once);
    cycle.run().await.map_err(|error| {
        error.covered_by("LIFE-01").hint(
            "LIFE-01 makes the same calls without bad input before them. If it passed, bad input may have left something locked or half read (see BAD-01 to BAD-04), or the driver fails now and then.",
        )
    })
}
