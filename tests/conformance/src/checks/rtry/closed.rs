//! Calls whose connection was closed.

use crate::check::{Check, Concurrency, Group, Need, Observer};
use crate::checks::ens::registration::bound_once;
use crate::lab::Lab;
use crate::outcome::CheckOutcome;
use std::time::Duration;

pub(super) static RTRY_02: Check = Check {
    id: "RTRY-02",
    rule: "A call whose connection was closed succeeds when it is repeated, and its work is done \
           once",
    why: "A controller closes the connection at the webhook's timeout and calls again. A driver \
          that cancels its work with the connection leaves half of a load balancer, and one that \
          continues unnoticed creates a second.",
    source: "LBCF controller: timeouts and retries (b10, b18)",
    typical: "The framework cancels the handler when the connection closes, between two calls of \
              the cloud; or the second call does not find the first. Run the work in its own task, \
              and let repeated calls join it.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    concurrency: Concurrency::Counting,
    ..Check::must(Group::Rtry, |lab| Box::pin(rtry_02(lab)))
};

/// The milliseconds before the check closes the connection.
const LINGER: [u64; 3] = [0, 5, 50];

async fn rtry_02(lab: &Lab) -> CheckOutcome {
    lab.require("CLB-01")?;
    let before = lab.observe().await?;
    let mut created = Vec::new();
    for linger in LINGER.map(Duration::from_millis) {
        let load_balancer = lab.load_balancer();
        let _ = lab.call_and_hang_up(&load_balancer.create(), linger).await;
        created.push(lab.created(load_balancer).await?);
    }
    let count = created.len();
    let expected = format!("{count} new load balancers in the cloud, one for each recordID");
    lab.created_since(before.as_ref(), count, expected).await?;
    let Some(load_balancer) = created.first().filter(|_| lab.has_backends()) else {
        return Ok(());
    };
    for linger in LINGER.map(Duration::from_millis) {
        let backend = lab.given_backend(load_balancer).await?;
        let _ = lab.call_and_hang_up(&backend.ensure(), linger).await;
        let backend = lab.registered(backend).await?;
        if let Some(seen) = lab.observed_backends(&load_balancer.lb_info).await? {
            bound_once(&seen, &backend)?;
        }
        let _ = lab.call_and_hang_up(&backend.deregister(), linger).await;
        lab.deregistered(&backend).await?;
    }
    Ok(())
}
