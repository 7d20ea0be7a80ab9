//! Random histories of user actions and faults end as declared.

use crate::concurrently::run_concurrently;
use lbcf_e2e::chaos::{History, run};
use lbcf_e2e::sample;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_histories_end_as_declared() {
    run_concurrently(sample("histories", 0..200, 8), |seed| async move {
        let history = History::of(seed);
        if let Err(finding) = run(&history).await {
            panic!("{history}\n{finding}");
        }
    })
    .await;
}
