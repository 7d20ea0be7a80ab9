//! Making checks side by side.

use super::{Planned, Run, make};
use futures::StreamExt as _;
use std::sync::Arc;

/// Makes the checks, so many at a time, begun in their order.
pub(super) async fn make_all(run: &Arc<Run>, checks: Vec<Planned>, at_a_time: usize) {
    futures::stream::iter(checks)
        .for_each_concurrent(at_a_time.max(1), |planned| make(run, planned))
        .await;
}
