//! What cannot be created.

use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::lab::Lab;
use crate::verdict::{Failure, Verdict};

/// A wrong one is refused, and nothing is made.
pub(super) static CLB_05: Check = Check {
    id: "CLB-05",
    level: Level::Must,
    group: Group::Clb,
    rule: "A wrong lbSpec or wrong attributes are answered with Fail and a msg, and nothing is made",
    why: "Validation may have been passed by (an older controller, a change of the driver's rules). \
          What is made all the same belongs to nobody and costs money.",
    source: "LBCF webhook specification, createLoadBalancer",
    typical: "The first resource is made before all fields are read, or an exception that becomes 500.",
    observer: Observer::Improves,
    needs: &[Need::InvalidLoadBalancer],
    company: Company::Counts,
    code: |lab| Box::pin(clb_05(lab)),
};

async fn clb_05(lab: &Lab) -> Verdict {
    for sample in &lab.fixture().load_balancer.invalid {
        let before = lab.look().await?;
        let load_balancer = lab.load_balancer_of(Some(sample));
        let answer = lab.until_done(&load_balancer.create()).await?;
        answer.fail(&format!(
            "since the fixture says that it is wrong: {}",
            sample.reason
        ))?;
        answer.has_msg()?;
        if let (Some(before), Some(seen)) = (before, lab.look().await?)
            && let Some(new) = seen.since(&before).first()
        {
            let expected = "nothing made of a wrong lbSpec";
            let got = format!("a load balancer with lbInfo {:?}", new.lb_info);
            let mut failure = Failure::new(expected, got);
            failure.exchange = Some(answer.exchange.clone());
            return Err(failure.into());
        }
    }
    Ok(())
}
