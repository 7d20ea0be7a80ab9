//! Drivers outlive what is created with them.

use crate::api::names::FINALIZER_DRIVER;
use crate::api::{LoadBalancerDriver, ObjectExt, ObjectKey};
use crate::runtime::context::Context;
use crate::runtime::outcome::Error;

/// The calls that may begin with a driver. Whatever has begun, meaning that the first step of it is stored, is
/// changed, finished and undone in every case, for only this driver can do that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DriverProtection {
    /// Nothing yet: without its finalizer the driver could be deleted first.
    Missing,
    /// Anything: the driver stays until nothing uses it.
    Stored,
    /// Nothing any more: the driver is being deleted.
    Ending,
}

impl DriverProtection {
    pub(crate) fn of(driver: &LoadBalancerDriver) -> Self {
        if driver.is_deleting() {
            Self::Ending
        } else if driver.has_finalizer(FINALIZER_DRIVER) {
            Self::Stored
        } else {
            Self::Missing
        }
    }
}

/// Stores the finalizer of a driver. Of the many objects that may need it at the same time, the
/// first one writes and the others wait.
pub(crate) async fn protect(context: &Context, key: &ObjectKey) -> Result<(), Error> {
    let lock = context.driver_locks.of(key);
    let _locked = lock.lock().await;
    if let Some(driver) = context.confirm::<LoadBalancerDriver>(key).await?
        && DriverProtection::of(&driver) == DriverProtection::Missing
    {
        context.add_finalizer(&*driver, FINALIZER_DRIVER).await?;
    }
    Ok(())
}
