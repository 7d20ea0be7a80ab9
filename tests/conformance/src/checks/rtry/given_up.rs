//! Calls that somebody gave up.

use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::lab::Lab;
use crate::verdict::{Failure, Verdict};
use std::time::Duration;

/// Hung up, and asked again.
pub(super) static RTRY_02: Check = Check {
    id: "RTRY-02",
    level: Level::Must,
    group: Group::Rtry,
    rule: "A call that was hung up on succeeds when it is made again, and its work is done once",
    why: "A controller hangs up after the webhook's timeout and calls again. A driver whose work is \
          broken off with the connection leaves half of a load balancer, and one that goes on \
          unnoticed makes a second.",
    source: "LBCF controller: timeouts and retries (b10, b18)",
    typical: "The framework cancels the handler when the connection closes, between two calls of the \
              cloud; or the second call does not know of the first. Work in a task of its own, and \
              join repeats.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    company: Company::Counts,
    code: |lab| Box::pin(rtry_02(lab)),
};

/// How long the driver has before the check hangs up.
const LINGER: [u64; 3] = [0, 5, 50];

async fn rtry_02(lab: &Lab) -> Verdict {
    lab.is_given("CLB-01")?;
    let before = lab.look().await?;
    let mut made = Vec::new();
    for linger in LINGER {
        let load_balancer = lab.load_balancer();
        let linger = Duration::from_millis(linger);
        let _ = lab.call_and_hang_up(&load_balancer.create(), linger).await;
        made.push(lab.created(load_balancer).await?);
    }
    if let (Some(before), Some(seen)) = (before, lab.look().await?) {
        let new = seen.since(&before).len();
        if new != made.len() {
            let expected = format!(
                "{} new load balancers in the cloud, one for each recordID",
                made.len()
            );
            return Err(Failure::new(expected, format!("{new}")).into());
        }
    }
    let Some(load_balancer) = made.first().filter(|_| lab.has_backends()) else {
        return Ok(());
    };
    for linger in LINGER {
        let linger = Duration::from_millis(linger);
        let backend = lab.given_backend(load_balancer).await?;
        let _ = lab.call_and_hang_up(&backend.ensure(), linger).await;
        let backend = lab.registered(backend).await?;
        let since = "since backends were registered to it";
        if let Some(seen) = lab.look_at(&load_balancer.lb_info, since).await?
            && seen.bindings(&backend.addr) != 1
        {
            let expected = format!("one binding of {}", backend.addr);
            return Err(Failure::new(expected, format!("{}", seen.bindings(&backend.addr))).into());
        }
        let _ = lab.call_and_hang_up(&backend.deregister(), linger).await;
        lab.deregistered(&backend).await?;
    }
    Ok(())
}
