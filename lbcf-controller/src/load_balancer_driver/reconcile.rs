use super::decide::{DriverAction, DriverState, decide};
use crate::api::{LoadBalancerDriver, LoadBalancerDriverStatus, reasons};
use crate::cluster::EventType::Warning;
use crate::cluster::Regarding;
use crate::context::Context;
use crate::key::ObjectKey;
use crate::names::FINALIZER_DRIVER;
use crate::reconcile::{Action, Error};
use jiff::Timestamp;
use std::time::Duration;

/// How often a driver that waits until nothing uses it is reconciled, besides when its last user is
/// gone: the status names users that may have been deleted meanwhile.
const IN_USE_INTERVAL: Duration = Duration::from_secs(60);
/// How often a driver checks whether the objects that might use it can be parsed.
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
            record(context, driver, "UnreadableObject", message);
            Ok(Action::RequeueAfter(UNREADABLE_INTERVAL))
        }
        DriverAction::SetConditions(conditions) => {
            let status = LoadBalancerDriverStatus { conditions };
            context.write_status(driver, &status).await?;
            Ok(Action::RequeueNow)
        }
        DriverAction::AwaitUsers(message) => {
            record(context, driver, reasons::DRIVER_IN_USE, &message);
            Ok(Action::RequeueAfter(IN_USE_INTERVAL))
        }
    }
}

fn observe(context: &Context, key: &ObjectKey) -> Option<DriverState> {
    let index = context.index();
    Some(DriverState {
        driver: index.find::<LoadBalancerDriver>(key)?,
        driver_use: index.use_of_driver(key),
        now: Timestamp::now(),
    })
}

fn record(context: &Context, driver: &LoadBalancerDriver, reason: &str, message: &str) {
    let regarding = Regarding::object(driver);
    context
        .recorder
        .record_change(&regarding, Warning, reason, message);
}
