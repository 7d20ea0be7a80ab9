//! Jobs that run in the driver's process.

use super::{outcome, settle};
use lbcf_driver_sdk::HookError;
use lbcf_driver_sdk::jobs::{InProcess, Jobs};
use lbcf_driver_sdk::webhook::Status;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::time::{advance, sleep};

/// A job of ten seconds that reports its progress.
fn ten_seconds() -> (Jobs<InProcess<String, String>>, Arc<AtomicU32>) {
    let begun = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&begun);
    let work = InProcess::new(move |request: String, progress| {
        counter.fetch_add(1, Ordering::SeqCst);
        async move {
            sleep(Duration::from_secs(5)).await;
            assert_ne!(request, "panic", "on purpose");
            progress.say("half of it is done");
            progress.retry_after(Duration::from_secs(5));
            tokio::select! {
                () = sleep(Duration::from_secs(5)) => {}
                () = progress.cancelled() => return Err(HookError::fail("not wanted any more")),
            }
            match request.as_str() {
                "fail" => Err(HookError::fail("no address left")),
                _ => Ok(format!("made of {request}")),
            }
        }
    });
    (Jobs::new(work), begun)
}

fn running(message: &str, delay: u64) -> (Status, String, Option<u64>) {
    (Status::Running, message.to_owned(), Some(delay))
}

#[tokio::test(start_paused = true)]
async fn a_job_runs_on_its_own_reports_progress_and_is_collected() {
    let (jobs, begun) = ten_seconds();
    let run = || jobs.run("k", "a".into());
    let started = tokio::time::Instant::now();
    assert_eq!(outcome(run().await), running("running", 1));
    assert_eq!(started.elapsed(), Duration::from_secs(1));
    advance(Duration::from_secs(4)).await;
    assert_eq!(outcome(run().await), running("half of it is done", 5));
    // It continues without calls.
    jobs.job().idle().await;
    for _ in 0..2 {
        assert_eq!(run().await.unwrap(), "made of a");
    }
    assert_eq!(begun.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_job_that_fails_or_panics_is_a_fail_and_restarted_by_the_next_call() {
    let (jobs, begun) = ten_seconds();
    for (count, (request, message)) in [
        ("fail", "no address left"),
        ("panic", "the driver panicked, see its log"),
    ]
    .into_iter()
    .enumerate()
    {
        for expected in [
            running("running", 1),
            (Status::Fail, message.to_owned(), None),
            running("running", 1),
        ] {
            assert_eq!(outcome(jobs.run(request, request.into()).await), expected);
            jobs.job().idle().await;
        }
        let begun = begun.load(Ordering::SeqCst) as usize;
        assert_eq!(begun, 2 * (count + 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_can_wait_for_its_cancellation() {
    let (jobs, _) = ten_seconds();
    assert!(jobs.run("k", "a".into()).await.is_err());
    // It does not check for a cancellation in its first five seconds.
    assert!(jobs.cancel("k").await.unwrap_err().is_running());
    advance(Duration::from_secs(4)).await;
    settle().await;
    assert_eq!(jobs.cancel("k").await.unwrap(), None);
    assert_eq!(jobs.running(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_result_of_a_quick_job_is_returned_at_once() {
    let (jobs, _) = ten_seconds();
    assert!(jobs.run("k", "a".into()).await.is_err());
    drop(jobs);
    let quick = InProcess::new(|request: String, _| async move {
        sleep(Duration::from_secs(2)).await;
        Ok(request)
    });
    let jobs = Jobs::new(quick.answer_within(Duration::from_secs(3)));
    assert_eq!(jobs.run("k", "a".into()).await.unwrap(), "a");
}
