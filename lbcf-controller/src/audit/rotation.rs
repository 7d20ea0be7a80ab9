//! The order of audits: all load balancers when the controller takes the lead, then at an interval.

use super::decide::AllFindings;
use super::load_balancer::{audit_or_end, is_offered_by};
use crate::api::{Bind, LoadBalancer, LoadBalancerDriver, ObjectKey};
use crate::index::{BindLoadBalancerKey, Index, RequestKey};
use crate::kinds::bind::load_balancer::BindLoadBalancer;
use crate::process::backoff::spread;
use crate::runtime::Context;
use std::convert::Infallible;
use std::sync::Arc;

/// Audits until this future is dropped. What is in progress then is continued by the next audit.
pub(crate) async fn run(context: &Context) -> Infallible {
    // In a dry run nothing would follow from it.
    if context.options.dry_run {
        return std::future::pending().await;
    }
    let is_on = !context.options.audit_period.is_zero();
    let mut findings = AllFindings::new(context.metrics.clone());
    loop {
        let is_audited = |driver: &LoadBalancerDriver| is_on && is_offered_by(driver);
        let (audited, others) = {
            let index = context.index();
            let others = index.load_balancers_of(|driver| !is_audited(driver));
            (index.load_balancers_of(is_audited), others)
        };
        findings.retain(&audited);
        for key in &others {
            visit(context, key, None).await;
        }
        for key in &audited {
            visit(context, key, Some(&mut findings)).await;
        }
        if !is_on {
            return std::future::pending().await;
        }
        tokio::time::sleep(spread(context.options.audit_period)).await;
    }
}

/// Audits one load balancer, or without findings ends its audits.
async fn visit(context: &Context, key: &RequestKey, findings: Option<&mut AllFindings>) {
    match key {
        RequestKey::LoadBalancer(lb) => {
            audit_or_end(context, key, |index| find(index, lb), findings).await;
        }
        RequestKey::BindLoadBalancer(lb) => {
            audit_or_end(context, key, |index| find_of_bind(index, lb), findings).await;
        }
        _ => {}
    }
}

fn find(index: &Index, lb: &ObjectKey) -> Option<LoadBalancer> {
    index.find::<LoadBalancer>(lb).map(Arc::unwrap_or_clone)
}

fn find_of_bind(index: &Index, lb: &BindLoadBalancerKey) -> Option<BindLoadBalancer> {
    let bind = index.find::<Bind>(&lb.bind)?;
    Some(BindLoadBalancer::new(bind, lb.clone()))
}
