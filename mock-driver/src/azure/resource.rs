//! A resource of the cloud as the SDK reconciles it.

use crate::cloud::AzureApi;
use crate::resources::CloudError;
use crate::resources::azure::{AzureError, AzureResource, ResourceId};
use lbcf_driver_sdk::HookError;
use lbcf_driver_sdk::reconcile::{Reconciled, Resource, WriteError, reconcile};
use std::fmt::Display;
use std::time::Duration;

/// When to ask again whether a change is complete.
const POLL: Duration = Duration::from_secs(1);

struct Object<'a, R> {
    api: &'a AzureApi,
    id: &'a ResourceId,
    kind: std::marker::PhantomData<fn() -> R>,
}

impl<R: AzureResource> Resource for Object<'_, R> {
    type State = R;
    type Version = u32;

    async fn get(&self) -> Result<Option<(R, u32)>, HookError> {
        // As a request over a network does, this lets other calls go on.
        tokio::task::yield_now().await;
        match self.api.get::<R>(self.id).map_err(explained)? {
            // What is being created can neither be changed nor referred to.
            Some(found) if found.updating => Err(waits(R::KIND, self.id)),
            Some(found) => Ok(Some((found.resource, found.etag))),
            None => Ok(None),
        }
    }

    async fn put(&self, state: R, seen: Option<u32>) -> Result<R, WriteError> {
        tokio::task::yield_now().await;
        let put = self.api.put(self.id, seen, state).map_err(write_error)?;
        if put.updating {
            return Err(WriteError::Failed(waits(R::KIND, self.id)));
        }
        Ok(put.resource)
    }

    async fn delete(&self, seen: u32) -> Result<(), WriteError> {
        let deleted = self.api.delete::<R>(self.id, seen);
        deleted.map_err(write_error)
    }
}

/// Makes a resource what the plan says: `Running` until that is complete.
pub(super) async fn reconciled<R: AzureResource>(
    api: &AzureApi,
    id: &ResourceId,
    plan: impl Fn(Option<R>) -> Result<Option<R>, HookError>,
) -> Result<Reconciled<R>, HookError> {
    let object = Object {
        api,
        id,
        kind: std::marker::PhantomData,
    };
    reconcile(&object, plan).await
}

/// `Running` until this is provisioned.
pub(super) fn waits(kind: &str, id: &impl Display) -> HookError {
    HookError::running(format!("waits until {kind} {id} is provisioned")).retry_after(POLL)
}

fn write_error(error: CloudError<AzureError>) -> WriteError {
    match error {
        CloudError::Rejected(error) if error.is_conflict() => WriteError::Conflict,
        error => WriteError::Failed(explained(error)),
    }
}

/// The error for the controller. One that passes by itself is `Running`.
pub(super) fn explained(error: CloudError<AzureError>) -> HookError {
    match error {
        CloudError::Rejected(error) if error.is_busy() => {
            HookError::running(error.to_string()).retry_after(POLL)
        }
        error => error.into(),
    }
}
