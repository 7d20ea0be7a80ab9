//! The same life, walked through in several ways.

use super::walk::{Strategy, Walk};
use crate::check::{Check, Company, Group, Level, Need, Observer};

/// Once.
pub(super) static LIFE_01: Check = Check {
    id: "LIFE-01",
    level: Level::Must,
    group: Group::Life,
    rule: "A load balancer and a backend are validated, made, changed and taken away, each call by the rules, and nothing is left",
    why: "It is what a controller does for each object that a user applies and deletes.",
    source: "LBCF webhook specification, all of it",
    typical: "Each call works when it is tried alone, but not with what the calls before it answered \
              or left behind.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    // Nothing may be left, so nobody else may make anything.
    company: Company::Counts,
    code: |lab| Box::pin(async move { Walk::new(lab, Strategy::Once).whole().await }),
};

/// Twice.
pub(super) static LIFE_02: Check = Check {
    id: "LIFE-02",
    level: Level::Must,
    group: Group::Life,
    rule: "The same life with every call made twice goes like the one with every call made once",
    why: "Any answer may get lost, and any controller may die before it has noted one. It then makes \
          the call again.",
    source: "LBCF webhook specification: every call may be repeated; b18, b22, b124",
    typical: "\"Exists already\" or \"not found\" is passed on as Fail, or a second one is made.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    company: Company::Counts,
    code: |lab| {
        let walk = Walk::new(lab, Strategy::Twice).based_on("LIFE-01");
        Box::pin(async move { walk.whole().await })
    },
};

/// After calls that were given up.
pub(super) static LIFE_03: Check = Check {
    id: "LIFE-03",
    level: Level::Must,
    group: Group::Life,
    rule: "The same life goes well when every call was tried before and hung up on, in the middle of it or while the driver was at work",
    why: "Controllers hang up after the webhook's timeout, when they are stopped, and when the network \
          breaks. They call again.",
    source: "LBCF controller: timeouts and retries (b10, b18)",
    typical: "Work that is broken off with the connection leaves half of something, a lock or a job \
              that nobody ends; or the second call does not know of the first, and makes another one.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    company: Company::Counts,
    code: |lab| {
        let walk = Walk::new(lab, Strategy::AfterHangUps).based_on("LIFE-01");
        Box::pin(async move { walk.whole().await })
    },
};

/// With restarts.
pub(super) static LIFE_05: Check = Check {
    id: "LIFE-05",
    level: Level::Should,
    group: Group::Life,
    rule: "The same life goes well when the driver is restarted before each call",
    why: "Drivers are updated, moved to other nodes and killed for want of memory, at any time.",
    source: "LBCF: goals of its consistency design; b158",
    typical: "What was made is kept in memory only: after a restart the driver does not know it. Find \
              it again in the cloud, by lbInfo and backendAddr, which the controller sends back.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Restart],
    company: Company::Alone,
    code: |lab| {
        let walk = Walk::new(lab, Strategy::AfterRestart).based_on("LIFE-01");
        Box::pin(async move { walk.whole().await })
    },
};
