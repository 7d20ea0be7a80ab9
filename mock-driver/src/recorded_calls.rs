//! The journal for the webhooks of another server, such as a proxy in front of a driver under
//! development.

use crate::calls;
use crate::cloud::Cloud;
use crate::journal::{CallFollower, CallQuery, JournalEntry};
use crate::options::MockOptions;
use axum::Router;

/// The calls of webhooks that [`record_calls`] records.
#[derive(Debug)]
pub struct RecordedCalls(CallFollower);

/// Records the calls of webhooks, each at `/` and its name, from now on.
///
/// ```
/// # async fn example() {
/// use axum::Router;
/// use axum::routing::post;
///
/// let webhooks = Router::new().route("/ensureBackend", post(|| async { r#"{"status":"Succ"}"# }));
/// let (webhooks, mut calls) = mock_driver::record_calls(webhooks);
/// // … serve the webhooks …
/// # drop(webhooks);
/// println!("{}", calls.next().await.status);
/// # }
/// ```
pub fn record_calls(webhooks: Router) -> (Router, RecordedCalls) {
    let cloud = Cloud::empty();
    let calls = CallFollower::new(cloud.clone(), CallQuery::default());
    let size = MockOptions::default().journal_size;
    (calls::layer(webhooks, cloud, size), RecordedCalls(calls))
}

impl RecordedCalls {
    /// The next call that has ended. A reader that falls behind by more than 1,000 misses some.
    pub async fn next(&mut self) -> JournalEntry {
        self.0.next().await
    }
}
