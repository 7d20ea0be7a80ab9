//! The API of a cloud with the profile `azure`, for drivers and tests.

use super::changes::Scope;
use super::handle::Cloud;
use crate::resources::CloudError;
use crate::resources::azure::{
    AzureError, AzureLimits, AzureRequest, AzureResource, AzureState, ResourceId, Versioned,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// A client of the API of a cloud with the profile `azure`. Clones are clients of the same cloud.
#[derive(Debug, Clone)]
pub struct AzureApi {
    cloud: Cloud,
    /// The time that public IPs and frontends take to provision.
    takes: Duration,
}

type Response<T> = Result<T, CloudError<AzureError>>;

impl AzureApi {
    /// A client for which public IPs and frontends take so long to provision.
    #[must_use]
    pub const fn new(cloud: Cloud, takes: Duration) -> Self {
        Self { cloud, takes }
    }

    /// The resource, if it exists.
    ///
    /// # Errors
    /// [`CloudError`], during an outage.
    pub fn get<R: AzureResource>(&self, id: &ResourceId) -> Response<Option<Versioned<R>>> {
        self.cloud
            .call_azure(Scope::Nothing, |state, now| Ok(state.get(id, now)))
    }

    /// All resources of a kind in a group.
    ///
    /// # Errors
    /// [`CloudError`], during an outage.
    pub fn list<R: AzureResource>(&self, group: &str) -> Response<BTreeMap<ResourceId, R>> {
        self.cloud.call_azure(Scope::Nothing, |state, now| {
            let ids = R::table(state).keys().filter(|id| id.group == group);
            let all = ids.filter_map(|id| Some((id.clone(), state.get(id, now)?.resource)));
            Ok(all.collect())
        })
    }

    /// Looks for a resource group.
    ///
    /// # Errors
    /// [`CloudError`], during an outage.
    pub fn has_group(&self, group: &str) -> Response<bool> {
        self.cloud.call_azure(Scope::Nothing, |state, _| {
            Ok(state.resource_groups.contains(group))
        })
    }

    /// Creates a resource, or replaces the version with this etag.
    ///
    /// # Errors
    /// [`AzureError`], if it has changed since (412), or an invariant or quota would be violated.
    pub fn put<R: AzureResource>(
        &self,
        id: &ResourceId,
        etag: Option<u32>,
        resource: R,
    ) -> Response<Versioned<R>> {
        self.write::<R, _>("PUT", id, |state, now| {
            state.put(id, etag, resource, now, self.takes)
        })
    }

    /// Deletes the version of a resource with this etag.
    ///
    /// # Errors
    /// [`AzureError`], if it does not exist, has changed since (412), or another one refers to it.
    pub fn delete<R: AzureResource>(&self, id: &ResourceId, etag: u32) -> Response<()> {
        self.write::<R, _>("DELETE", id, |state, now| state.delete::<R>(id, etag, now))
    }

    /// The number of requests that have changed something.
    #[must_use]
    pub fn writes(&self) -> u64 {
        self.cloud.with_azure(|state| state.writes.0)
    }

    /// The last requests that changed something, or were refused; oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<AzureRequest> {
        self.cloud
            .with_azure(|state| state.requests.0.iter().cloned().collect())
    }

    /// Everything that the cloud holds.
    #[must_use]
    pub fn state(&self) -> AzureState {
        self.cloud.with_azure(|state| state.clone())
    }

    /// Sets the quotas. What exists already stays.
    pub fn set_limits(&self, limits: AzureLimits) {
        self.cloud.with_azure(|state| state.limits = limits);
    }

    fn write<R: AzureResource, T>(
        &self,
        method: &'static str,
        id: &ResourceId,
        operation: impl FnOnce(&mut AzureState, Duration) -> Result<T, AzureError>,
    ) -> Response<T> {
        self.cloud.call_azure(Scope::Everything, |state, now| {
            let done = operation(state, now);
            state.remember(AzureRequest {
                method,
                kind: R::KIND,
                id: id.clone(),
                refused: done.as_ref().err().map(|error| error.code),
            });
            done
        })
    }
}

impl Cloud {
    /// A call of the API, which fails during an outage.
    fn call_azure<R>(
        &self,
        scope: Scope<'_>,
        operation: impl FnOnce(&mut AzureState, Duration) -> Result<R, AzureError>,
    ) -> Result<R, CloudError<AzureError>> {
        self.call_within(scope, |model, now| {
            operation(model.azure.get_or_insert_default(), now)
        })
    }

    /// Reads or changes the resources, also during an outage.
    pub(crate) fn with_azure<R>(&self, operation: impl FnOnce(&mut AzureState) -> R) -> R {
        self.with(|model, _| operation(model.azure.get_or_insert_default()))
    }
}
