//! Calls a driver with the requests of a batch.

use super::{read_deregister_backend, read_ensure_backend};
use crate::webhook::{DeregisterBackend, EnsureBackend, StringMap};
use crate::{Driver, HookError, Reason};

pub(crate) async fn ensure_backends<D: Driver>(
    driver: &D,
    requests: Vec<EnsureBackend>,
) -> Vec<Result<StringMap, HookError>> {
    let read = requests.into_iter().map(read_ensure_backend::<D>);
    let read = read.map(|request| request.map_err(Err)).collect();
    of_each(read, |batch| driver.ensure_backends(batch)).await
}

pub(crate) async fn deregister_backends<D: Driver>(
    driver: &D,
    requests: Vec<DeregisterBackend>,
) -> Vec<Result<(), HookError>> {
    let read = requests.into_iter().map(read_deregister_backend::<D>);
    of_each(read.collect(), |batch| driver.deregister_backends(batch)).await
}

/// The outcomes of requests, of which the driver gets those that could be read; the others have theirs.
async fn of_each<R, T, F>(
    read: Vec<Result<R, Result<T, HookError>>>,
    call: impl FnOnce(Vec<R>) -> F,
) -> Vec<Result<T, HookError>>
where
    F: Future<Output = Vec<Result<T, HookError>>>,
{
    let (mut batch, mut known) = (Vec::new(), Vec::new());
    for (position, read) in read.into_iter().enumerate() {
        match read {
            Ok(request) => batch.push(request),
            Err(outcome) => known.push((position, outcome)),
        }
    }
    let mut outcomes = match batch.len() {
        0 => Vec::new(),
        requests => whole(requests, call(batch).await),
    };
    for (position, outcome) in known {
        outcomes.insert(position, outcome);
    }
    outcomes
}

/// An outcome for each request. Fewer or more tell of none which request they are about.
fn whole<T>(requests: usize, outcomes: Vec<Result<T, HookError>>) -> Vec<Result<T, HookError>> {
    if outcomes.len() == requests {
        return outcomes;
    }
    let count = outcomes.len();
    let problem = format!("the driver returned {count} outcomes for {requests} requests");
    tracing::error!("{problem}");
    let failed = || Err(HookError::new(Reason::Internal, problem.as_str()));
    (0..requests).map(|_| failed()).collect()
}
