//! Long jobs: submitted once, polled by key, collected, whatever happens meanwhile.

mod behind_the_router;
mod in_process;

use crate::logging::log;
use lbcf_driver_sdk::HookError;
use lbcf_driver_sdk::jobs::{Job, JobState, Jobs};
use lbcf_driver_sdk::webhook::Status;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::yield_now;
use tokio::time::{advance, timeout};

/// A cloud that the test controls.
#[derive(Clone)]
struct Cloud(Arc<State>);

struct State {
    /// The requests, in order.
    log: Mutex<Vec<String>>,
    /// The failures of the next requests.
    mishaps: Mutex<Vec<Mishap>>,
    /// Each submit needs one permit.
    submit: Semaphore,
    /// How many polls a task takes to be done.
    polls: Mutex<u32>,
    tasks: Mutex<HashMap<String, Task>>,
}

#[derive(Debug, Clone)]
struct Task {
    made_of: String,
    polls: u32,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Mishap {
    SubmitFails,
    SubmitPanics,
    PollFails,
    PollPanics,
    PollHangs,
    TaskFails,
}

impl Cloud {
    fn new(polls: u32) -> Self {
        Self(Arc::new(State {
            log: Mutex::default(),
            mishaps: Mutex::default(),
            submit: Semaphore::new(1000),
            polls: Mutex::new(polls),
            tasks: Mutex::default(),
        }))
    }

    fn note(&self, line: String) {
        self.0.log.lock().unwrap().push(line);
    }

    fn log(&self) -> Vec<String> {
        std::mem::take(&mut self.0.log.lock().unwrap())
    }

    fn next(&self, mishap: Mishap) {
        self.0.mishaps.lock().unwrap().push(mishap);
    }

    fn happens(&self, mishap: Mishap) -> bool {
        let mut mishaps = self.0.mishaps.lock().unwrap();
        let found = mishaps.iter().position(|next| *next == mishap);
        found.map(|at| mishaps.remove(at)).is_some()
    }
}

impl Job for Cloud {
    type Request = String;
    type Task = String;
    type Output = String;

    async fn submit(&self, key: &str, request: &String) -> Result<String, HookError> {
        self.note(format!("submit {request}"));
        self.0.submit.acquire().await.unwrap().forget();
        if self.happens(Mishap::SubmitFails) {
            return Err(HookError::fail("no quota").because("account 42"));
        }
        assert!(!self.happens(Mishap::SubmitPanics), "on purpose");
        let polls = *self.0.polls.lock().unwrap();
        let made_of = request.clone();
        let task = Task { made_of, polls };
        self.0.tasks.lock().unwrap().insert(key.to_owned(), task);
        Ok(key.to_owned())
    }

    async fn poll(&self, task: &String) -> Result<JobState<String>, HookError> {
        self.note(format!("poll {task}"));
        if self.happens(Mishap::PollFails) {
            return Err(HookError::fail("the cloud does not answer"));
        }
        if self.happens(Mishap::PollHangs) {
            std::future::pending::<()>().await;
        }
        assert!(!self.happens(Mishap::PollPanics), "on purpose");
        if self.happens(Mishap::TaskFails) {
            return Ok(JobState::failed("no address left").retry_after(Duration::from_secs(9)));
        }
        let mut tasks = self.0.tasks.lock().unwrap();
        let task = tasks.get_mut(task).unwrap();
        if task.polls == 0 {
            return Ok(JobState::Done(format!("made of {}", task.made_of)));
        }
        task.polls -= 1;
        let left = task.polls + 1;
        Ok(JobState::running(format!("{left} to go")).retry_after(Duration::from_secs(3)))
    }

    async fn find(&self, key: &str, request: Option<&String>) -> Result<Option<String>, HookError> {
        let tasks = self.0.tasks.lock().unwrap();
        let found = tasks
            .get(key)
            .filter(|task| request.is_none_or(|request| task.made_of == *request));
        Ok(found.map(|_| key.to_owned()))
    }

    async fn cancel(&self, task: &String) -> Result<JobState<String>, HookError> {
        self.note(format!("cancel {task}"));
        match self.0.tasks.lock().unwrap().remove(task) {
            Some(task) if task.polls == 0 => {
                Ok(JobState::Done(format!("made of {}", task.made_of)))
            }
            _ => Ok(JobState::failed("cancelled")),
        }
    }
}

/// Jobs whose cloud cannot find tasks by key.
fn forgetful(cloud: &Cloud) -> Jobs<Forgetful> {
    Jobs::new(Forgetful(cloud.clone()))
}

struct Forgetful(Cloud);

impl Job for Forgetful {
    type Request = String;
    type Task = String;
    type Output = String;

    async fn submit(&self, key: &str, request: &String) -> Result<String, HookError> {
        self.0.submit(key, request).await
    }

    async fn poll(&self, task: &String) -> Result<JobState<String>, HookError> {
        self.0.poll(task).await
    }
}

async fn settle() {
    for _ in 0..100 {
        yield_now().await;
    }
}

/// Status, message and delay in seconds.
fn outcome(result: Result<String, HookError>) -> (Status, String, Option<u64>) {
    let hook_error = result.unwrap_err();
    let delay = hook_error.delay().map(|delay| delay.as_secs());
    (hook_error.status(), hook_error.message().to_owned(), delay)
}

#[tokio::test(start_paused = true)]
async fn a_job_is_submitted_once_polled_by_each_call_and_collected() {
    let cloud = Cloud::new(2);
    let jobs = forgetful(&cloud);
    let run = || jobs.run("k", "a".into());
    assert_eq!(
        outcome(run().await),
        (Status::Running, "2 to go".into(), Some(3))
    );
    assert_eq!(
        outcome(run().await),
        (Status::Running, "1 to go".into(), Some(3))
    );
    assert_eq!(jobs.running(), 1);
    assert_eq!(run().await.unwrap(), "made of a");
    assert_eq!(cloud.log(), ["submit a", "poll k", "poll k", "poll k"]);
    assert_eq!(jobs.running(), 0);
}

#[tokio::test(start_paused = true)]
async fn twenty_concurrent_calls_share_one_submit_and_all_get_the_result() {
    let cloud = Cloud::new(0);
    let jobs = forgetful(&cloud);
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let jobs = jobs.clone();
            tokio::spawn(async move { jobs.run("k", "a".into()).await })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap(), "made of a");
    }
    assert_eq!(cloud.log(), ["submit a", "poll k"]);
}

#[tokio::test(start_paused = true)]
async fn a_hang_up_while_submitting_loses_no_task() {
    let cloud = Cloud::new(1);
    cloud.0.submit.forget_permits(1000);
    let jobs = forgetful(&cloud);
    let call = jobs.run("k", "a".into());
    assert!(timeout(Duration::from_secs(1), call).await.is_err());
    cloud.0.submit.add_permits(1);
    jobs.idle().await;
    assert_eq!(cloud.log(), ["submit a", "poll k"]);
    assert_eq!(jobs.run("k", "a".into()).await.unwrap(), "made of a");
    assert_eq!(cloud.log(), ["poll k"]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_submit_is_retried() {
    let cloud = Cloud::new(0);
    let jobs = forgetful(&cloud);
    cloud.next(Mishap::SubmitFails);
    let failed = jobs.run("k", "a".into()).await.unwrap_err();
    assert_eq!(
        (failed.status(), failed.message()),
        (Status::Fail, "no quota")
    );
    assert_eq!(failed.source().unwrap().to_string(), "account 42");
    assert_eq!(jobs.run("k", "a".into()).await.unwrap(), "made of a");
    assert_eq!(cloud.log(), ["submit a", "submit a", "poll k"]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_task_is_submitted_again_and_a_failed_poll_does_not_end_it() {
    let cloud = Cloud::new(0);
    let jobs = forgetful(&cloud);
    cloud.next(Mishap::PollFails);
    assert_eq!(
        outcome(jobs.run("k", "a".into()).await),
        (Status::Fail, "the cloud does not answer".into(), None)
    );
    cloud.next(Mishap::TaskFails);
    assert_eq!(
        outcome(jobs.run("k", "a".into()).await),
        (Status::Fail, "no address left".into(), Some(9))
    );
    assert_eq!(cloud.log(), ["submit a", "poll k", "poll k"]);
    assert!(jobs.run("k", "a".into()).await.is_ok());
    assert_eq!(cloud.log(), ["submit a", "poll k"]);
}

#[tokio::test(start_paused = true)]
async fn a_lost_result_is_returned_again_until_it_expires() {
    let cloud = Cloud::new(0);
    let jobs = forgetful(&cloud).keep_results(Duration::from_secs(60));
    let run = || jobs.run("k", "a".into());
    assert!(run().await.is_ok());
    advance(Duration::from_secs(59)).await;
    assert_eq!(run().await.unwrap(), "made of a");
    assert_eq!(cloud.log(), ["submit a", "poll k"]);
    advance(Duration::from_secs(1)).await;
    assert!(run().await.is_ok());
    assert_eq!(cloud.log(), ["submit a", "poll k"]);
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_collected_once_is_not_reused() {
    let cloud = Cloud::new(0);
    let jobs = forgetful(&cloud).collect_once();
    for _ in 0..2 {
        assert!(jobs.run("k", "a".into()).await.is_ok());
        assert_eq!(cloud.log(), ["submit a", "poll k"]);
    }
    // No call waits for this result, so the next one gets it.
    cloud.0.submit.forget_permits(1000);
    let call = jobs.run("k", "a".into());
    assert!(timeout(Duration::from_secs(1), call).await.is_err());
    cloud.0.submit.add_permits(1);
    jobs.idle().await;
    assert!(jobs.run("k", "a".into()).await.is_ok());
    assert_eq!(cloud.log(), ["submit a", "poll k"]);
}

#[tokio::test(start_paused = true)]
async fn d28_a_changed_request_waits_for_the_earlier_job_and_then_runs() {
    let cloud = Cloud::new(1);
    let jobs = forgetful(&cloud);
    assert!(jobs.run("k", "a".into()).await.is_err());
    *cloud.0.polls.lock().unwrap() = 0;
    cloud.0.tasks.lock().unwrap().get_mut("k").unwrap().polls = 1;
    assert_eq!(
        outcome(jobs.run("k", "b".into()).await),
        (
            Status::Running,
            "waits for an earlier request to finish: 1 to go".into(),
            Some(3)
        )
    );
    assert_eq!(jobs.run("k", "b".into()).await.unwrap(), "made of b");
    assert_eq!(
        cloud.log(),
        [
            "submit a", "poll k", "poll k", "poll k", "submit b", "poll k"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn d28_a_changed_request_runs_after_an_earlier_one_that_could_not_be_submitted() {
    let cloud = Cloud::new(0);
    cloud.0.submit.forget_permits(1000);
    cloud.next(Mishap::SubmitFails);
    let jobs = forgetful(&cloud);
    let calls: Vec<_> = ["a", "b"]
        .into_iter()
        .map(|request| {
            let jobs = jobs.clone();
            tokio::spawn(async move { jobs.run("k", request.into()).await })
        })
        .collect();
    settle().await;
    cloud.0.submit.add_permits(2);
    let mut results = Vec::new();
    for call in calls {
        results.push(call.await.unwrap().map_err(|e| e.message().to_owned()));
    }
    assert_eq!(results, [Err("no quota".into()), Ok("made of b".into())]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_fails_the_call_and_loses_no_task() {
    let cloud = Cloud::new(0);
    let jobs = forgetful(&cloud);
    let panicked = (
        Status::Fail,
        "the driver panicked, see its log".to_owned(),
        None,
    );
    cloud.next(Mishap::SubmitPanics);
    assert_eq!(outcome(jobs.run("k", "a".into()).await), panicked);
    cloud.next(Mishap::PollPanics);
    assert_eq!(outcome(jobs.run("k", "a".into()).await), panicked);
    assert!(jobs.run("k", "a".into()).await.is_ok());
    assert_eq!(cloud.log(), ["submit a", "submit a", "poll k", "poll k"]);
}

#[tokio::test(start_paused = true)]
async fn a_cloud_that_never_responds_does_not_block_a_key() {
    let cloud = Cloud::new(0);
    let jobs = forgetful(&cloud).step_within(Duration::from_secs(20));
    cloud.0.submit.forget_permits(1000);
    let late = (Status::Fail, "took longer than 20s".to_owned(), None);
    assert_eq!(outcome(jobs.run("k", "a".into()).await), late);
    cloud.0.submit.add_permits(10);
    cloud.next(Mishap::PollHangs);
    assert_eq!(outcome(jobs.run("k", "a".into()).await), late);
    // The task of the second submit is not lost.
    assert!(jobs.run("k", "a".into()).await.is_ok());
    assert_eq!(cloud.log(), ["submit a", "submit a", "poll k", "poll k"]);
}

#[tokio::test(start_paused = true)]
async fn a_restarted_driver_finds_the_task_in_the_cloud() {
    let cloud = Cloud::new(1);
    assert!(Jobs::new(cloud.clone()).run("k", "a".into()).await.is_err());
    let restarted = Jobs::new(cloud.clone());
    assert_eq!(restarted.run("k", "a".into()).await.unwrap(), "made of a");
    assert_eq!(cloud.log(), ["submit a", "poll k", "poll k"]);
    let again = Jobs::new(cloud.clone());
    assert_eq!(again.cancel("k").await.unwrap().unwrap(), "made of a");
}

#[tokio::test(start_paused = true)]
async fn a_running_job_is_cancelled() {
    let cloud = Cloud::new(5);
    let jobs = Jobs::new(cloud.clone());
    assert_eq!(jobs.cancel("k").await.unwrap(), None);
    assert!(jobs.run("k", "a".into()).await.is_err());
    assert_eq!(jobs.cancel("k").await.unwrap(), None);
    assert_eq!(jobs.cancel("k").await.unwrap(), None);
    assert_eq!(cloud.log(), ["submit a", "poll k", "cancel k"]);
    assert_eq!(jobs.running(), 0);
}

#[tokio::test(start_paused = true)]
async fn cancelling_a_job_that_is_being_submitted_waits_for_its_task() {
    let cloud = Cloud::new(1);
    cloud.0.submit.forget_permits(1000);
    let jobs = Jobs::new(cloud.clone());
    let running = jobs.clone();
    let call = tokio::spawn(async move { running.run("k", "a".into()).await });
    settle().await;
    let cancelling = jobs.clone();
    let cancel = tokio::spawn(async move { cancelling.cancel("k").await });
    settle().await;
    cloud.0.submit.add_permits(1);
    assert!(call.await.unwrap().unwrap_err().is_running());
    // It is done by then, so the result is returned for deletion.
    assert_eq!(cancel.await.unwrap().unwrap().unwrap(), "made of a");
    assert_eq!(cloud.log(), ["submit a", "poll k", "cancel k"]);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_jobs_result_is_returned_until_it_is_forgotten() {
    let cloud = Cloud::new(0);
    let jobs = forgetful(&cloud);
    assert!(jobs.run("k", "a".into()).await.is_ok());
    for _ in 0..3 {
        assert_eq!(jobs.cancel("k").await.unwrap().unwrap(), "made of a");
    }
    jobs.forget("k");
    assert_eq!(jobs.cancel("k").await.unwrap(), None);
    assert!(jobs.run("k", "a".into()).await.is_ok());
    jobs.forget_results(|made| made == "made of a");
    assert_eq!(jobs.cancel("k").await.unwrap(), None);
}

/// As a driver does whose `ensure_backend` cancels deregistrations.
#[tokio::test(start_paused = true)]
async fn the_next_deregistration_of_a_backend_that_came_back_is_another_job() {
    let cloud = Cloud::new(1);
    let jobs = forgetful(&cloud);
    assert!(jobs.run("lb addr", "a".into()).await.is_err());
    // It ended before `ensure_backend` came.
    assert_eq!(jobs.cancel("lb addr").await.unwrap().unwrap(), "made of a");
    cloud.log();
    assert!(jobs.run("lb addr", "a".into()).await.is_ok());
    assert_eq!(
        cloud.log(),
        [""; 0],
        "the earlier result, if it is not forgotten"
    );
    jobs.forget("lb addr");
    assert!(jobs.run("lb addr", "a".into()).await.is_err());
    assert_eq!(cloud.log(), ["submit a", "poll lb addr"]);
    jobs.cancel("lb addr").await.unwrap();
    // So is one that was requested at another time.
    assert!(jobs.run("lb addr", "b".into()).await.is_err());
    assert_eq!(cloud.log(), ["poll lb addr", "submit b", "poll lb addr"]);
}

/// By default a cancellation waits until the task is done.
#[tokio::test(start_paused = true)]
async fn a_cancellation_waits_for_a_task_that_cannot_be_cancelled() {
    let cloud = Cloud::new(2);
    let jobs = forgetful(&cloud);
    assert!(jobs.run("k", "a".into()).await.is_err());
    let running = jobs.cancel("k").await.unwrap_err();
    assert!(running.is_running());
    assert_eq!(running.message(), "1 to go");
    assert_eq!(jobs.cancel("k").await.unwrap().unwrap(), "made of a");
}

#[tokio::test(start_paused = true)]
async fn a_job_too_many_waits() {
    let cloud = Cloud::new(1);
    let jobs = forgetful(&cloud).limit(1);
    assert!(jobs.run("1", "a".into()).await.is_err());
    assert_eq!(
        outcome(jobs.run("2", "a".into()).await),
        (
            Status::Running,
            "waits until one of 1 jobs has ended".into(),
            Some(10)
        )
    );
    assert!(jobs.run("1", "a".into()).await.is_ok());
    cloud.0.tasks.lock().unwrap().clear();
    assert!(jobs.run("2", "a".into()).await.is_err());
    assert_eq!(
        cloud.log(),
        ["submit a", "poll 1", "poll 1", "submit a", "poll 2"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_failure_without_waiting_calls_is_logged() {
    let (log, _guard) = log();
    let cloud = Cloud::new(0);
    cloud.0.submit.forget_permits(1000);
    cloud.next(Mishap::SubmitFails);
    let jobs = forgetful(&cloud);
    let call = jobs.run("k", "a".into());
    assert!(timeout(Duration::from_secs(1), call).await.is_err());
    cloud.0.submit.add_permits(1);
    jobs.idle().await;
    for part in ["WARN", "no quota", "account 42", "job=\"k\""] {
        assert!(log.text().contains(part), "{part} is not in {}", log.text());
    }
}

/// Jobs may outlive a runtime, such as in tests that share them.
#[test]
fn a_runtime_that_ends_leaves_no_blocked_key() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap()
    };
    let cloud = Cloud::new(0);
    cloud.0.submit.forget_permits(1000);
    let jobs = forgetful(&cloud);
    runtime().block_on(async {
        let call = jobs.run("k", "a".into());
        assert!(timeout(Duration::from_millis(10), call).await.is_err());
    });
    cloud.0.submit.add_permits(1);
    let made = runtime()
        .block_on(async { timeout(Duration::from_secs(20), jobs.run("k", "a".into())).await });
    assert_eq!(made.expect("in time").unwrap(), "made of a");
}
