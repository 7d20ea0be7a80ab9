//! Many worlds at a time: a scenario mostly waits.

use std::fmt::Debug;
use std::future::Future;
use tokio::task::{JoinSet, LocalSet};

const MAX_CONCURRENT: usize = 8;

/// Runs a test for each of these cases, several at a time, and returns the results. Cases that
/// panic are named at the end.
pub(crate) async fn run_concurrently<C, F, T>(
    cases: impl IntoIterator<Item = C>,
    test: impl Fn(C) -> F,
) -> Vec<T>
where
    C: Debug + Clone + 'static,
    F: Future<Output = T> + 'static,
    T: 'static,
{
    let (mut results, mut failed) = (Vec::new(), Vec::new());
    // The cases share this thread; controllers and drivers run on the runtime's threads.
    LocalSet::new()
        .run_until(async {
            let mut cases = cases.into_iter();
            let mut running = JoinSet::new();
            loop {
                while running.len() < MAX_CONCURRENT
                    && let Some(case) = cases.next()
                {
                    let task = tokio::task::spawn_local(test(case.clone()));
                    running.spawn_local(async move { (case, task.await) });
                }
                match running.join_next().await {
                    Some(Ok((_, Ok(result)))) => results.push(result),
                    Some(Ok((case, Err(_)))) => failed.push(format!("{case:?}")),
                    Some(Err(error)) => panic!("{error}"),
                    None => break,
                }
            }
        })
        .await;
    assert!(failed.is_empty(), "{} failed: {failed:#?}", failed.len());
    results
}
