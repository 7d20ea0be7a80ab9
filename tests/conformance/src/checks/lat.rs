//! Latency, verified over every call of the run.

use super::prelude::*;
use super::tour::{call_all_webhooks, webhook_calls, webhooks};

pub(super) const CHECKS: &[&Check] = &[&LAT_01, &LAT_02, &LAT_03];

/// The time limit for 95% of the responses.
const USUAL: Duration = Duration::from_secs(2);

check! { LAT_01 = lat_01, Lat, runs Last,
    why "The controller then closes the connection and calls again. An operation that takes \
         longer each time never ends, and its result is never read.",
    source "LBCF controller: 10 s unless the LoadBalancerDriver sets another (b10)",
    typical "The call waits for the cloud. Return Running at once and find the operation again by \
             its recordID; give the cloud's client a shorter timeout than the webhook's.",
}

async fn lat_01(lab: &Lab) -> CheckOutcome {
    call_all_webhooks(lab).await;
    let mut late: Vec<_> = calls(lab)
        .into_iter()
        .filter(|(webhook, exchange)| exchange.took >= lab.run.timeout(webhook))
        .collect();
    let count = late.len();
    late.sort_by_key(|(_, exchange)| std::cmp::Reverse(exchange.took));
    let Some((webhook, longest)) = late.into_iter().next() else {
        return Ok(());
    };
    let timeout = lab.run.timeout(webhook);
    let took = longest.took;
    let what = match &longest.outcome {
        Ok(_) => format!("a response of {webhook} after {took:.1?}"),
        Err(_) => format!("none of {webhook} in {took:.1?}"),
    };
    let got = format!("{what} ({count} calls took too long)");
    let expected = format!("a response of {webhook} within {timeout:?}");
    Err(DriverReply::new(longest).failed(expected, got))
}

check! { LAT_02 = lat_02, Lat, runs Last,
    why "They are made while kubectl apply waits.",
    source "LBCF: deployments/admit.yaml, called at admission; b7",
    typical "A request to the cloud for each field. createLoadBalancer and ensureBackend may \
             check what only the cloud knows.",
}

async fn lat_02(lab: &Lab) -> CheckOutcome {
    call_all_webhooks(lab).await;
    // At least as many as repetitions, because one slow call of three proves nothing.
    let lb = lab.load_balancer();
    let parameters = lab.backend(&lb).parameters;
    let backend_type = lab.backend_types().first().copied().unwrap_or("Pod");
    let validations = [
        lb.validate(),
        validate_backend(&lb, backend_type, &parameters),
    ];
    for call in validations {
        let made = usual_times(lab, call.webhook()).len();
        for _ in made..lab.repeats() {
            lab.call(&call).await;
        }
    }
    usual(lab, is_validation)
}

check! { LAT_03 = lat_03, Lat, runs Last,
    why "Running exists so that controllers need not wait for long operations: one with hundreds \
         of backends has as many open calls.",
    source "LBCF webhook specification: Running",
    typical "The call waits for the cloud. Return Running at once and find the operation again by \
             its recordID.",
}

async fn lat_03(lab: &Lab) -> CheckOutcome {
    call_all_webhooks(lab).await;
    usual(lab, |webhook| !is_validation(webhook))
}

fn is_validation(webhook: &str) -> bool {
    webhook.starts_with("validate")
}

/// Fails with the first selected webhook whose calls exceed the limit.
fn usual(lab: &Lab, is_selected: impl Fn(&str) -> bool) -> CheckOutcome {
    for webhook in webhooks(lab).map(|webhook| webhook.name) {
        let times = usual_times(lab, webhook);
        let count = times.len();
        let time = percentile(times, 95).filter(|time| *time >= USUAL);
        let Some(time) = time.filter(|_| is_selected(webhook)) else {
            continue;
        };
        let expected = format!("a response to 95% of the calls of {webhook} within {USUAL:?}");
        let got = format!("{time:.1?} for the slowest 5% of {count} calls");
        return Err(Failure::new(expected, got).into());
    }
    Ok(())
}

/// The durations of a webhook's usual calls: without concurrent calls, a failing cloud, or a driver
/// that has just been started.
fn usual_times(lab: &Lab, webhook: &str) -> Vec<Duration> {
    const UNUSUAL: [&str; 4] = ["RTRY-05", "RTRY-07", "ASYN-07", "LIFE-05"];
    let calls = calls(lab).into_iter().filter(|(name, exchange)| {
        let check = exchange.check.unwrap_or_default();
        *name == webhook && !check.starts_with("CONC-") && !UNUSUAL.contains(&check)
    });
    calls.map(|(_, exchange)| exchange.took).collect()
}

/// The run's calls that the specification allows, with a response or a timeout.
fn calls(lab: &Lab) -> Vec<(&'static str, Arc<Exchange>)> {
    webhook_calls(lab, |exchange| {
        exchange.kind != RequestKind::Invalid
            && matches!(exchange.outcome, Ok(_) | Err(NoResponse::TimedOut(_)))
    })
}

/// The time that this percentage of the times does not exceed, by the nearest rank; of few times the
/// longest.
fn percentile(mut times: Vec<Duration>, percent: usize) -> Option<Duration> {
    times.sort_unstable();
    let rank = (times.len() * percent).div_ceil(100);
    times.get(rank.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(count: u64) -> Vec<Duration> {
        (1..=count).rev().map(Duration::from_secs).collect()
    }

    #[test]
    fn of_few_it_is_the_longest_and_of_many_one_in_twenty_is_longer() {
        assert_eq!(percentile(seconds(0), 95), None);
        assert_eq!(percentile(seconds(1), 95), Some(Duration::from_secs(1)));
        assert_eq!(percentile(seconds(19), 95), Some(Duration::from_secs(19)));
        assert_eq!(percentile(seconds(20), 95), Some(Duration::from_secs(19)));
        assert_eq!(percentile(seconds(100), 95), Some(Duration::from_secs(95)));
    }
}
