//! The deletion of a namespace, in undefined order.

use crate::check::{Check, Group, Need, Observer};
use crate::checks::{dlb, drg};
use crate::lab::{Backend, DriverReply, Lab, Status, WebhookCall};
use crate::outcome::{CheckError, CheckOutcome};
use std::time::Duration;

/// The attempts of calls that return Fail.
const ROUNDS: usize = 5;
const PAUSE: Duration = Duration::from_millis(200);

pub(super) static LIFE_06: Check = Check {
    id: "LIFE-06",
    rule: "When the load balancer is deleted before its backends are deregistered, all calls \
           succeed in the end",
    why: "When a namespace is deleted its objects are deleted in any order. A call that never \
          succeeds keeps the namespace indefinitely.",
    source: "derived: finalizers of several objects race; b22, b124",
    typical: "A permanent Fail: the backend's load balancer is not found, or an earlier Fail is \
              remembered.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::should(Group::Life, |lab| Box::pin(life_06(lab)))
};

async fn life_06(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_new_load_balancer().await?;
    let mut backends = Vec::new();
    for _ in 0..2 {
        backends.push(lab.given_registered(&load_balancer).await?);
    }
    // One whose pod was deleted before its registration.
    backends.push(lab.given_backend(&load_balancer).await?);
    let mut open = vec![load_balancer.delete()];
    open.extend(backends.iter().map(Backend::deregister));
    let mut failures = Vec::new();
    for round in 0..ROUNDS {
        if round > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        failures = failed(lab, &open).await?;
        open = failures.iter().map(|(call, _)| call.clone()).collect();
        if open.is_empty() {
            break;
        }
    }
    if let Some((call, reply)) = failures.first() {
        let expected = format!(
            "Succ of {} in the end, in any order of deletions",
            call.webhook()
        );
        let got = format!("{} in attempt {ROUNDS}, too", reply.summary());
        return Err(reply.failed(expected, got));
    }
    for backend in &backends {
        drg::registered::is_gone(lab, backend).await?;
    }
    dlb::is_gone(lab, &load_balancer).await
}

/// Makes calls, and returns those that fail and have to be repeated.
async fn failed(
    lab: &Lab,
    calls: &[WebhookCall],
) -> Result<Vec<(WebhookCall, DriverReply)>, CheckError> {
    let mut failed = Vec::new();
    for call in calls {
        let reply = lab.until_done(call).await?;
        if reply.operation_status()? != Status::Succ {
            failed.push((call.clone(), reply));
        }
    }
    Ok(failed)
}
