//! The life cycle with each strategy.

use super::cycle::{LifeCycle, Strategy};
use crate::check::{Check, Concurrency, Group, Need, Observer};
use crate::lab::Lab;
use crate::outcome::CheckOutcome;

pub(super) static LIFE_01: Check = Check {
    id: "LIFE-01",
    rule: "A load balancer and a backend are validated, created, changed and deleted, each call by \
           the rules, and nothing is left behind",
    why: "A controller does this for each object that a user applies and deletes.",
    source: "LBCF webhook specification",
    typical: "Each call works alone, but not with the results and leftovers of the calls before \
              it.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    // Nothing may be left behind, so no other check may create load balancers.
    concurrency: Concurrency::Counting,
    ..Check::must(Group::Life, |lab| Box::pin(run(lab, Strategy::Once)))
};

pub(super) static LIFE_02: Check = Check {
    id: "LIFE-02",
    rule: "The life cycle succeeds with the same results when every call is made twice",
    why: "Any response may get lost, and a controller may crash before it stores one. It then \
          repeats the call.",
    source: "LBCF webhook specification: every call may be repeated; b18, b22, b124",
    typical: "\"Already exists\" or \"not found\" is returned as Fail, or a second resource is \
              created.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    concurrency: Concurrency::Counting,
    ..Check::must(Group::Life, |lab| Box::pin(run(lab, Strategy::Twice)))
};

pub(super) static LIFE_03: Check = Check {
    id: "LIFE-03",
    rule: "The life cycle succeeds when every call was made before and its connection closed, \
           during the request or while the driver was working",
    why: "Controllers close the connection at the webhook's timeout, when they stop, and when the \
          network fails. They call again.",
    source: "LBCF controller: timeouts and retries (b10, b18)",
    typical: "Work that is cancelled with the connection leaves a partial result, a lock or an \
              unfinished job; or the second call does not find the first and creates another \
              resource.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    concurrency: Concurrency::Counting,
    ..Check::must(Group::Life, |lab| {
        Box::pin(run(lab, Strategy::AfterHangUps))
    })
};

pub(super) static LIFE_05: Check = Check {
    id: "LIFE-05",
    rule: "The life cycle succeeds when the driver is restarted before each call",
    why: "Drivers are updated, moved to other nodes and killed when memory runs out, at any time.",
    source: "LBCF: consistency goals; b158",
    typical: "State is kept in memory only and lost by a restart. Find it in the cloud, by lbInfo \
              and backendAddr, which the controller sends.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Restart],
    concurrency: Concurrency::Exclusive,
    ..Check::should(Group::Life, |lab| {
        Box::pin(run(lab, Strategy::AfterRestart))
    })
};

async fn run(lab: &Lab, strategy: Strategy) -> CheckOutcome {
    let cycle = LifeCycle::new(lab, strategy);
    match strategy {
        Strategy::Once => cycle.run().await,
        _ => cycle.based_on("LIFE-01").run().await,
    }
}
