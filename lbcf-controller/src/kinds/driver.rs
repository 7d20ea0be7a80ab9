//! LoadBalancerDriver: accepting a driver, keeping it as long as it is in use, and knowing
//! whether it is healthy.
//!
//! [`decide`] has the rules.

mod decide;

use crate::api::names::FINALIZER_DRIVER;
use crate::api::{LoadBalancerDriver, ObjectKey, reasons};
use crate::cluster::EventType::{Normal, Warning};
use crate::cluster::Regarding;
use crate::index::{Request, RequestKey, claimant};
use crate::process::backoff::spread;
use crate::runtime::{Action, Context, Error, Reporter};
use decide::{
    DriverAction, DriverState, HealthChange, KnownHealth, class_problem, decide, health_change,
};
use std::time::Duration;

/// The interval at which a driver that waits until nothing uses it is reconciled, besides when its last user is
/// gone: the status names users that may have been deleted meanwhile.
const IN_USE_INTERVAL: Duration = Duration::from_secs(60);
/// The interval at which a driver checks whether the objects that might use it can be parsed.
const UNREADABLE_INTERVAL: Duration = Duration::from_secs(10);

pub(crate) async fn reconcile(context: &Context, key: &ObjectKey) -> Result<Action, Error> {
    // What is about to begin with the driver may be storing the finalizer.
    let lock = context.driver_locks.of(key);
    let _locked = lock.lock().await;
    context.confirm::<LoadBalancerDriver>(key).await?;
    let Some(state) = observe(context, key) else {
        return Ok(Action::AwaitChange);
    };
    let driver = &*state.driver;
    let reporter = Reporter {
        context,
        key: RequestKey::Driver(key.clone()),
        regarding: Regarding::object(driver),
    };
    match decide(&state) {
        DriverAction::AwaitChange => Ok(Action::AwaitChange),
        DriverAction::AddFinalizer => {
            context.add_finalizer(driver, FINALIZER_DRIVER).await?;
            Ok(Action::RequeueNow)
        }
        DriverAction::RemoveFinalizer => {
            context.remove_finalizer(driver, FINALIZER_DRIVER).await?;
            Ok(Action::RequeueNow)
        }
        DriverAction::AwaitReadable => {
            let message = "waiting: an object cannot be understood and might use this driver";
            reporter.event(Warning, reasons::UNREADABLE_OBJECT, message);
            Ok(Action::RequeueAfter(UNREADABLE_INTERVAL))
        }
        DriverAction::SetStatus(status) => {
            let old = driver.status.as_ref();
            let old = old.map_or(&[][..], |status| &status.conditions);
            let change = health_change(old, &status.conditions);
            let class = class_problem(old, &status.conditions);
            context.write_status(driver, &status).await?;
            if let Some(problem) = class {
                let reason = reasons::SERVICE_CLASS_TAKEN;
                reporter.event(Warning, reason, &problem);
            }
            match change {
                Some(HealthChange::Failed(problem)) => {
                    reporter.event(Warning, reasons::DRIVER_UNHEALTHY, &problem);
                }
                Some(HealthChange::Recovered) => {
                    let message = "the driver responds again; what failed is repeated";
                    reporter.event(Normal, reasons::DRIVER_RECOVERED, message);
                }
                None => {}
            }
            Ok(Action::RequeueNow)
        }
        DriverAction::AwaitUsers(message) => {
            reporter.event(Warning, reasons::DRIVER_IN_USE, &message);
            Ok(Action::RequeueAfter(IN_USE_INTERVAL))
        }
    }
}

fn observe(context: &Context, key: &ObjectKey) -> Option<DriverState> {
    let health = match context.driver_health.get(key) {
        Some(health) => KnownHealth::Known(health),
        None if context.options.driver_health_period.is_some() || context.options.dry_run => {
            KnownHealth::Pending
        }
        None => KnownHealth::NeverAsked,
    };
    let index = context.index();
    let driver = index.find::<LoadBalancerDriver>(key)?;
    let class_taken_by = driver.spec.service_class.as_ref().and_then(|class| {
        let drivers = index.drivers_of_class(&class.name, &key.namespace);
        let other = ObjectKey::of(&**claimant(&drivers)?);
        (other != *key).then_some(other)
    });
    Some(DriverState {
        driver,
        class_taken_by,
        driver_use: index.use_of_driver(key),
        health,
        now: context.now(),
    })
}

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
