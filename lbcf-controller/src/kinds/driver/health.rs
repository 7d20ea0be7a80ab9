//! Probes a driver regularly (d50), and repeats what failed when it is healthy again (d51).

use crate::api::{LoadBalancerDriver, ObjectKey};
use crate::index::{Request, RequestKey};
use crate::process::backoff::spread;
use crate::runtime::{Action, Context, Error};
use std::time::Duration;

/// The longest time after which a driver that is not healthy is asked again, as its objects wait for it.
const UNHEALTHY_PERIOD: Duration = Duration::from_secs(5);

/// Asks a driver, and returns when it is asked next. The condition follows when the driver itself is
/// reconciled, so that its status has one writer.
pub(crate) async fn reconcile_health(context: &Context, key: &ObjectKey) -> Result<Action, Error> {
    let period = context.options.driver_health_period;
    let Some(period) = period.filter(|_| !context.options.dry_run) else {
        return Ok(Action::AwaitChange);
    };
    let driver = context.index().find::<LoadBalancerDriver>(key);
    let Some(driver) = driver else {
        return Ok(Action::AwaitChange);
    };
    // A process that does not lead any more ends.
    let Ok(health) = context.drivers.probe(&driver).await else {
        return Ok(Action::AwaitChange);
    };
    let is_unhealthy = health.is_unhealthy();
    let wait = if is_unhealthy {
        period.min(UNHEALTHY_PERIOD)
    } else {
        period
    };
    let old = context.driver_health.insert(key, health.clone());
    if old.as_ref() != Some(&health) {
        let was_unhealthy = old.is_some_and(|old| old.is_unhealthy());
        if is_unhealthy {
            let problem = health.message();
            tracing::warn!(driver = %key, problem, "the driver is not healthy");
        } else if was_unhealthy {
            let repeated = end_backoff(context, &driver);
            tracing::info!(driver = %key, repeated, "the driver is back; repeating what failed");
        }
        context
            .queue
            .add([Request::normal(RequestKey::Driver(key.clone()))]);
    }
    Ok(Action::RequeueAfter(spread(wait)))
}

/// Ends the backoff of the requests that call a driver. How many calls are then in flight is limited
/// as ever. Returns the number of requests.
fn end_backoff(context: &Context, driver: &LoadBalancerDriver) -> usize {
    let key = ObjectKey::of(driver);
    let mut waiting = context.queue.backing_off();
    {
        let index = context.index();
        waiting.retain(|request| {
            let target = index.target_of(request);
            target.is_some_and(|(target, _)| target == key)
        });
    }
    let owners = context.verdicts.end_backoff(driver.metadata.uid.as_deref());
    let verdicts = owners.iter().cloned().map(RequestKey::DeregisterVerdict);
    context.queue.add(verdicts.map(Request::normal));
    context.queue.end_backoff(&waiting) + owners.len()
}
