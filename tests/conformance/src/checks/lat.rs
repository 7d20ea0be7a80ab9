//! How long answers take. These checks judge every call of the run.

mod percentile;

use super::tour::{tour, webhooks};
use crate::check::{Check, Company, Group, Level, Observer};
use crate::exchange::{Exchange, Kind, NoAnswer};
use crate::lab::{Lab, validate_backend};
use crate::verdict::{Failure, Verdict};
use percentile::percentile;
use std::sync::Arc;
use std::time::Duration;

/// The checks about how long answers take.
pub(super) const CHECKS: &[&Check] = &[&LAT_01, &LAT_02, &LAT_03];

/// What nineteen of twenty answers have to keep.
const USUAL: Duration = Duration::from_secs(2);

static LAT_01: Check = Check {
    id: "LAT-01",
    level: Level::Must,
    group: Group::Lat,
    rule: "Every call is answered before the webhook's timeout",
    why: "The controller hangs up then and calls again. What takes longer each time never ends, and \
          nobody ever reads its result.",
    source: "LBCF controller: 10 s where the LoadBalancerDriver does not say otherwise (b10)",
    typical: "Waiting for the cloud within the call. Answer Running at once and find the operation \
              again by its recordID; give the client of the cloud a timeout that is shorter than \
              the webhook's.",
    observer: Observer::Unused,
    needs: &[],
    company: Company::Last,
    code: |lab| Box::pin(lat_01(lab)),
};

async fn lat_01(lab: &Lab) -> Verdict {
    tour(lab).await;
    let mut late: Vec<_> = calls(lab)
        .into_iter()
        .filter(|(webhook, exchange)| exchange.took >= lab.timeout(webhook))
        .collect();
    let count = late.len();
    late.sort_by_key(|(_, exchange)| std::cmp::Reverse(exchange.took));
    let Some((webhook, longest)) = late.into_iter().next() else {
        return Ok(());
    };
    let timeout = lab.timeout(webhook);
    let took = longest.took;
    let what = match &longest.outcome {
        Ok(_) => format!("an answer of {webhook} after {took:.1?}"),
        Err(_) => format!("none of {webhook} in {took:.1?}"),
    };
    let got = format!("{what} ({count} calls took too long)");
    let mut failure = Failure::new(format!("an answer of {webhook} within {timeout:?}"), got);
    failure.exchange = Some(longest);
    Err(failure.into())
}

static LAT_02: Check = Check {
    id: "LAT-02",
    level: Level::Should,
    group: Group::Lat,
    rule: "Nineteen of twenty calls of validateLoadBalancer and validateBackend are answered within 2 seconds",
    why: "They are made while kubectl apply waits.",
    source: "LBCF: deployments/admit.yaml, called at admission; b7",
    typical: "A look into the cloud for each field. What only the cloud can tell may be told by \
              createLoadBalancer and ensureBackend.",
    observer: Observer::Unused,
    needs: &[],
    company: Company::Last,
    code: |lab| Box::pin(lat_02(lab)),
};

async fn lat_02(lab: &Lab) -> Verdict {
    tour(lab).await;
    // One slow call of three is no rule: there are at least as many as repeats are.
    let load_balancer = lab.load_balancer();
    let parameters = lab.backend(&load_balancer).parameters;
    let backend_type = lab.backend_types().first().copied().unwrap_or("Pod");
    let validations = [
        load_balancer.validate(),
        validate_backend(&load_balancer, backend_type, &parameters),
    ];
    for call in validations {
        let made = usual_times(lab, call.webhook()).len();
        for _ in made..lab.repeats() {
            lab.call(&call).await;
        }
    }
    let slow = webhooks().filter(|webhook| is_validation(webhook.name));
    usual(lab, slow.map(|webhook| webhook.name))
}

static LAT_03: Check = Check {
    id: "LAT-03",
    level: Level::Should,
    group: Group::Lat,
    rule: "Nineteen of twenty calls of each other webhook are answered within 2 seconds",
    why: "Running is there so that nobody waits for long operations: a controller with hundreds of \
          backends has as many calls open.",
    source: "LBCF webhook specification: Running",
    typical: "Waiting for the cloud within the call. Answer Running at once and find the operation \
              again by its recordID.",
    observer: Observer::Unused,
    needs: &[],
    company: Company::Last,
    code: |lab| Box::pin(lat_03(lab)),
};

async fn lat_03(lab: &Lab) -> Verdict {
    tour(lab).await;
    let slow = webhooks().filter(|webhook| !is_validation(webhook.name));
    usual(lab, slow.map(|webhook| webhook.name))
}

fn is_validation(webhook: &str) -> bool {
    webhook.starts_with("validate")
}

/// Fails with the first webhook that is usually slow.
fn usual(lab: &Lab, webhooks: impl Iterator<Item = &'static str>) -> Verdict {
    for webhook in webhooks {
        let times = usual_times(lab, webhook);
        let count = times.len();
        let Some(time) = percentile(times, 95).filter(|time| *time >= USUAL) else {
            continue;
        };
        let expected = format!("95% of the calls of {webhook} answered within {USUAL:?}");
        let got = format!("{time:.1?} for the slowest twentieth of {count} calls");
        return Err(Failure::new(expected, got).into());
    }
    Ok(())
}

/// How long the calls of a webhook took that were made as usual: not in a burst, not in a cloud
/// that fails, and not to a driver that has just been started.
fn usual_times(lab: &Lab, webhook: &str) -> Vec<Duration> {
    const UNUSUAL: [&str; 3] = ["RTRY-05", "ASYN-07", "LIFE-05"];
    let calls = calls(lab).into_iter().filter(|(name, exchange)| {
        let check = exchange.check.unwrap_or_default();
        *name == webhook && !check.starts_with("CONC-") && !UNUSUAL.contains(&check)
    });
    calls.map(|(_, exchange)| exchange.took).collect()
}

/// The calls of the run that the specification allows, and that were answered or not in time.
fn calls(lab: &Lab) -> Vec<(&'static str, Arc<Exchange>)> {
    lab.record()
        .into_iter()
        .filter(|exchange| exchange.kind != Kind::Improper)
        .filter(|exchange| matches!(exchange.outcome, Ok(_) | Err(NoAnswer::TimedOut(_))))
        .filter_map(|exchange| Some((exchange.webhook?, exchange)))
        .collect()
}
