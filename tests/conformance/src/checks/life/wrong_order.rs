//! The end of a namespace, where the order is not given.

use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::checks::{dlb, drg};
use crate::lab::{Answer, Call, Lab, Status};
use crate::verdict::{NotPassed, Verdict};
use std::time::Duration;

/// How often calls that were answered with Fail are made again.
const ROUNDS: usize = 5;
/// How long to wait before that.
const PAUSE: Duration = Duration::from_millis(200);

/// The load balancer first.
pub(super) static LIFE_06: Check = Check {
    id: "LIFE-06",
    level: Level::Should,
    group: Group::Life,
    rule: "When the load balancer is deleted before its backends are taken away, all of it ends well, if not at once",
    why: "When a namespace is deleted its objects go in any order. What never succeeds keeps the \
          namespace for ever.",
    source: "derived: finalizers of several objects race; b22, b124",
    typical: "A Fail that stays: the backend's load balancer is not found, or what was refused once is \
              remembered.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(life_06(lab)),
};

async fn life_06(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_new_load_balancer().await?;
    let mut backends = Vec::new();
    for _ in 0..2 {
        backends.push(lab.given_registered(&load_balancer).await?);
    }
    // One whose pod went before it was registered.
    backends.push(lab.given_backend(&load_balancer).await?);
    let mut open = vec![load_balancer.delete()];
    open.extend(backends.iter().map(|backend| backend.deregister()));
    let mut refusals = Vec::new();
    for round in 0..ROUNDS {
        if round > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        refusals = refused(lab, &open).await?;
        open = refusals.iter().map(|(call, _)| call.clone()).collect();
        if open.is_empty() {
            break;
        }
    }
    if let Some((call, answer)) = refusals.first() {
        let expected = format!(
            "{} answered with Succ in the end, whatever was deleted first",
            call.webhook()
        );
        let got = format!("{} in try {ROUNDS}, too", answer.said());
        return Err(answer.failed(expected, got));
    }
    for backend in &backends {
        drg::basis::is_gone(lab, backend).await?;
    }
    dlb::is_gone(lab, &load_balancer).await
}

/// Makes calls, and gives those that are answered with Fail and have to be made again.
async fn refused(lab: &Lab, calls: &[Call]) -> Result<Vec<(Call, Answer)>, NotPassed> {
    let mut refused = Vec::new();
    for call in calls {
        let answer = lab.until_done(call).await?;
        if answer.any_status("as each answer of an operation has one")? != Status::Succ {
            refused.push((call.clone(), answer));
        }
    }
    Ok(refused)
}
