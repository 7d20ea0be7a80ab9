#![doc = include_str!("docs/modules/reconcile.md")]

use crate::HookError;
use std::future::Future;
use std::time::Duration;

/// The number of times that a plan is made again because another writer was faster.
const TRIES: u32 = 5;

/// One resource of a cloud, whose API has versions such as etags.
pub trait Resource: Sync {
    /// The resource as the API has it.
    type State: Clone + PartialEq + Send;
    /// Identifies what was read, so that a write of something outdated is refused.
    type Version: Send;

    /// Reads it; `None` if it does not exist.
    fn get(&self) -> impl Future<Output = Result<Found<Self>, HookError>> + Send;

    /// Creates it, or replaces the version that was read. Returns it as the API has it now.
    fn put(
        &self,
        state: Self::State,
        seen: Option<Self::Version>,
    ) -> impl Future<Output = Result<Self::State, WriteError>> + Send;

    /// Deletes the version that was read.
    fn delete(&self, seen: Self::Version) -> impl Future<Output = Result<(), WriteError>> + Send;
}

/// A resource as it was read, if it exists.
pub type Found<R> = Option<(<R as Resource>::State, <R as Resource>::Version)>;

/// Why a write failed.
#[derive(Debug)]
pub enum WriteError {
    /// Another writer was faster (412, or 409 for a resource that exists already): the plan is made
    /// again from what is there now.
    Conflict,
    /// Anything else.
    Failed(HookError),
}

impl<E: Into<HookError>> From<E> for WriteError {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// The state that a [reconciliation](reconcile) has left, and its number of writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reconciled<S> {
    /// The resource; `None` if there is none.
    pub state: Option<S>,
    /// The writes that were accepted: 0 if nothing differed, else 1.
    pub writes: u32,
    /// Those that were refused because another writer was faster.
    pub conflicts: u32,
}

/// Reads a resource, plans what it should be, and writes it if that differs. `plan` receives what is
/// there and returns what should be there, `None` for nothing. It must depend on nothing else that
/// changes, because it is called again after a conflict.
///
/// # Errors
/// Those of the resource and of the plan. `Running` if other writers were faster five times in a row.
pub async fn reconcile<R: Resource>(
    resource: &R,
    plan: impl Fn(Option<R::State>) -> Result<Option<R::State>, HookError>,
) -> Result<Reconciled<R::State>, HookError> {
    for conflicts in 0..TRIES {
        let (found, version) = match resource.get().await? {
            Some((state, version)) => (Some(state), Some(version)),
            None => (None, None),
        };
        let planned = plan(found.clone())?;
        if planned == found {
            return Ok(Reconciled {
                state: found,
                writes: 0,
                conflicts,
            });
        }
        let written = match (planned, version) {
            (Some(state), version) => resource.put(state, version).await.map(Some),
            (None, Some(version)) => resource.delete(version).await.map(|()| None),
            (None, None) => Ok(None),
        };
        match written {
            Ok(state) => {
                return Ok(Reconciled {
                    state,
                    writes: 1,
                    conflicts,
                });
            }
            Err(WriteError::Conflict) => {}
            Err(WriteError::Failed(hook_error)) => return Err(hook_error),
        }
    }
    let message = format!("others changed the same resource {TRIES} times in a row");
    Err(HookError::running(message).retry_after(Duration::from_secs(1)))
}

#[cfg(test)]
mod tests;
