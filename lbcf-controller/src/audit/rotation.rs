//! The order of audits: all load balancers when the controller takes the lead, then at an interval.

use super::findings::AllFindings;
use super::listing::is_offered_by;
use super::load_balancer::audit;
use crate::api::{Bind, LoadBalancer};
use crate::bind::load_balancer::BindLoadBalancer;
use crate::context::Context;
use crate::index::Index;
use crate::key::RequestKey;
use crate::queue::spread;
use std::convert::Infallible;
use std::sync::Arc;

/// Audits until this future is dropped. What is in progress then is continued by the next audit.
pub(crate) async fn run(context: &Context) -> Infallible {
    // In a dry run nothing would follow from it (d23).
    if context.options.audit_period.is_zero() || context.options.dry_run {
        return std::future::pending().await;
    }
    let mut findings = AllFindings::new(context.metrics.clone());
    loop {
        let audited = context.index().load_balancers_of(is_offered_by);
        findings.retain(&audited);
        for key in &audited {
            audit_one(context, key, &mut findings).await;
        }
        tokio::time::sleep(spread(context.options.audit_period)).await;
    }
}

async fn audit_one(context: &Context, key: &RequestKey, findings: &mut AllFindings) {
    match key {
        RequestKey::LoadBalancer(lb) => {
            let find = |index: &Index| {
                let lb = index.find::<LoadBalancer>(lb)?;
                Some(Arc::unwrap_or_clone(lb))
            };
            audit(context, key, find, findings).await;
        }
        RequestKey::BindLoadBalancer(lb) => {
            let find = |index: &Index| {
                let bind = index.find::<Bind>(&lb.bind)?;
                Some(BindLoadBalancer::new(bind, lb.clone()))
            };
            audit(context, key, find, findings).await;
        }
        _ => {}
    }
}
