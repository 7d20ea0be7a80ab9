//! Random histories of user actions and faults end as declared.

use crate::concurrently::run_concurrently;
use lbcf_e2e::chaos::{History, run};
use lbcf_e2e::{is_remote, sample};

/// On another cluster than the embedded one nothing is made to fail.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_histories_of_user_actions_end_as_declared() {
    if !is_remote() {
        // They are part of the histories below.
        return;
    }
    for seed in 0..20 {
        let history = History::of(seed).without_faults();
        if let Err(finding) = run(&history).await {
            panic!("{history}\n{finding}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_histories_end_as_declared() {
    if lbcf_e2e::needs_embedded("failing requests") {
        return;
    }
    run_concurrently(sample("histories", 0..40, 3), |seed| async move {
        let history = History::of(seed);
        if let Err(finding) = run(&history).await {
            panic!("{history}\n{finding}");
        }
    })
    .await;
}
