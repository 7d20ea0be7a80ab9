//! What is left of a driver after bad input.

use super::broken::broken;
use super::stage::Stage;
use super::types::wrong_types;
use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::checks::life::walk::{Strategy, Walk};
use crate::exchange::Kind;
use crate::lab::{Lab, healthz};
use crate::verdict::Verdict;

/// It works as before.
pub(super) static BAD_05: Check = Check {
    id: "BAD-05",
    level: Level::Must,
    group: Group::Bad,
    rule: "After all that bad input the driver is healthy, and a whole life goes as before",
    why: "Anybody who reaches the driver can send bad input. It must not take all load balancers of \
          the cluster out of service.",
    source: "derived: CSI and Kubernetes API servers survive bad input; HLTH-01, LIFE-01",
    typical: "The process ends, a lock stays locked after an exception, or what was read half is kept.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    company: Company::Alone,
    code: |lab| Box::pin(bad_05(lab)),
};

async fn bad_05(lab: &Lab) -> Verdict {
    let was_sent = lab.record().iter().any(|exchange| {
        exchange.kind == Kind::Improper
            && exchange
                .check
                .is_some_and(|check| check.starts_with("BAD-"))
    });
    if !was_sent {
        let stage = Stage::new(lab).await;
        let mut bad = broken(lab, &stage.calls());
        bad.extend(wrong_types(lab, &stage));
        for bad in bad {
            // How it is answered is for BAD-01 and BAD-02 to say.
            let answer = lab.call_by(&bad.call, &bad.request, Kind::Improper).await;
            if answer.no_answer().is_some() {
                // There may be no end of them.
                break;
            }
        }
    }
    let answer = lab.call(&healthz().unusual()).await;
    if answer.healthy() != Some(true) {
        let not_passed = answer.failed("healthy true, also after bad input", answer.said());
        return Err(not_passed.blocked_by("HLTH-01"));
    }
    let walk = Walk::new(lab, Strategy::Once).based_on("LIFE-01");
    walk.whole().await.map_err(|not_passed| {
        not_passed
            .blocked_by("LIFE-01")
            .hint("It was so only after bad input: see BAD-01 to BAD-04.")
    })
}
