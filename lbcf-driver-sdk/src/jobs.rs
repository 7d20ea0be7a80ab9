//! Work that takes longer than a call: submit once, poll by key, collect the result.
//!
//! Many cloud APIs answer "accepted, task 42" and want to be asked from then on. The controller
//! calls a webhook again and again until it says `Succ`. In between are [`Jobs`]: the first call
//! submits, each call asks how the task stands, and one of them has the result.
//!
//! ```
//! use lbcf_driver_sdk::HookError;
//! use lbcf_driver_sdk::jobs::{Job, JobState, Jobs};
//! use std::time::Duration;
//!
//! /// How load balancers are made at this cloud.
//! struct Creation;
//!
//! impl Job for Creation {
//!     type Request = String; // what is wanted: a zone
//!     type Task = u32; // what the cloud calls the task
//!     type Output = String; // what comes of it: an id
//!
//!     async fn submit(&self, key: &str, zone: &String) -> Result<u32, HookError> {
//!         // POST /instances?zone=…, with the key as client token
//!         # let _ = (key, zone);
//!         Ok(42)
//!     }
//!
//!     async fn poll(&self, task: &u32) -> Result<JobState<String>, HookError> {
//!         // GET /tasks/42
//!         # if false {
//!         return Ok(JobState::running("allocating an address").retry_after(Duration::from_secs(3)));
//!         # }
//!         Ok(JobState::Done(format!("lb-{task}")))
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let jobs = Jobs::new(Creation); // lives as long as the driver
//! // in create_load_balancer:
//! let id = jobs.run("1b671a64", "zone-a".into()).await; // Result<String, HookError>
//! assert_eq!(id.unwrap(), "lb-42");
//! # }
//! ```
//!
//! # What they see to
//!
//! * Calls with one key that come at the same time share one submit, and one poll.
//! * Submitting and polling run as tasks of their own. A call that is dropped half-way (the
//!   controller hung up, a timeout of one's own) loses nothing: what the cloud calls the task is
//!   noted, and the next call asks for it.
//! * A submit that fails is tried anew by the next call. So is a job whose task
//!   [failed](JobState::Failed). A poll that fails is no end: the task is asked for again.
//! * A result that was handed out is handed out again for the same request, for
//!   [some time](Jobs::keep_results) (10 minutes): the answer that carried it may have been lost,
//!   and a second load balancer must not come of that.
//! * Another request under the same key is another job, which begins when the earlier one is over.
//!   It never gets the earlier one's result.
//! * A panic in a submit or a poll is a `Fail`; a task that was accepted is not lost by it.
//!
//! # Keys and requests
//!
//! The key names what the job works on, and should be the same for the hook that begins it and for
//! the one that may have to [end](Jobs::cancel) it: [`object_of`] the `recordID`. The request is
//! what makes a job another one. Take into it what has to be done anew when it changes and nothing
//! else: for creating, `lb_spec` alone, since other attributes are for `ensure_load_balancer` to
//! set and must not create a second load balancer.
//!
//! # Restarts
//!
//! The books are in memory. A driver that was restarted in the middle has lost the task and would
//! submit a second time. So hand the key to the cloud when submitting, as client token or as a tag,
//! and look for it in [`Job::find`], which is asked before every submit; or be sure that the
//! cloud itself answers a repeated token with the first task.
//!
//! # Work in this process
//!
//! Where the cloud has no tasks and a creation is a dozen calls, [`InProcess`] runs them as one job
//! and tells the controller how far it is.
//!
//! # Tests
//!
//! Time is tokio's, so `#[tokio::test(start_paused = true)]` (tokio's feature `test-util`) is the
//! fake clock: it stands still while anything can run, and jumps to the next timer when nothing
//! can. `tokio::time::advance(Duration::from_secs(601)).await` is ten minutes later.

mod in_process;
mod job;
mod step;
mod table;

pub use in_process::{InProcess, Progress, Work};
pub use job::{Job, JobState};

use crate::HookError;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use step::{Listen, Outcome};
use table::{Call, Cancel, Keep, Settings, Table};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

/// What an operation works on, by its `recordID`: `42` for `createLoadBalancer(42)` as well as for
/// `deleteLoadBalancer(42)`. All of it where it has another form.
///
/// ```
/// use lbcf_driver_sdk::jobs::object_of;
///
/// assert_eq!(object_of("createLoadBalancer(42)"), "42");
/// assert_eq!(object_of("42"), "42");
/// ```
#[must_use]
pub fn object_of(record_id: &str) -> &str {
    let object = record_id.split_once('(');
    object
        .and_then(|(_, object)| object.strip_suffix(')'))
        .filter(|object| !object.is_empty())
        .unwrap_or(record_id)
}

/// The jobs of one kind, by key. Clones are the same jobs.
pub struct Jobs<J: Job> {
    shared: Arc<Shared<J>>,
    settings: Settings,
}

struct Shared<J: Job> {
    job: J,
    table: Mutex<JobTable<J>>,
    steps: TaskTracker,
}

type JobTable<J> =
    Table<<J as Job>::Request, <J as Job>::Task, <J as Job>::Output, Listen<<J as Job>::Output>>;

impl<J: Job> Jobs<J> {
    /// No jobs yet.
    pub fn new(job: J) -> Self {
        let steps = TaskTracker::new();
        // An open tracker is never done; a closed one still tracks new tasks.
        steps.close();
        Self {
            shared: Arc::new(Shared {
                job,
                table: Mutex::new(Table::default()),
                steps,
            }),
            settings: Settings::default(),
        }
    }

    /// How long a result is there to be collected, once or again (default 10 minutes). It should
    /// be longer than the controller's longest pause between two tries (2 minutes by default).
    #[must_use]
    pub const fn keep_results(mut self, time: Duration) -> Self {
        self.settings.keep = time;
        self
    }

    /// A result is forgotten once a call got it, and an equal request is work again.
    ///
    /// For what the controller asks for time and again although nothing changed, so as to put
    /// right what somebody else has changed: an answer from memory would be wrong there. The work
    /// must be such that doing it twice does no harm.
    #[must_use]
    pub const fn collect_once(mut self) -> Self {
        self.settings.kept = Keep::UntilCollected;
        self
    }

    /// How many jobs are known at most, finished ones included (default 1000). The finished go
    /// first, oldest first, and then those that nobody has asked for within a day. While all
    /// others are at work, a new one waits.
    #[must_use]
    pub const fn limit(mut self, jobs: usize) -> Self {
        self.settings.limit = jobs;
        self
    }

    /// How long a submit or a poll may take (default 5 minutes). It is dropped then, and the call
    /// fails; a submit whose answer was lost like that is what [`Job::find`] is for.
    #[must_use]
    pub const fn step_within(mut self, limit: Duration) -> Self {
        self.settings.step_within = limit;
        self
    }

    /// What was given to [`new`](Self::new).
    #[must_use]
    pub fn job(&self) -> &J {
        &self.shared.job
    }

    /// Gets the job with this key done: submits it, or asks how it stands, or gives its result.
    ///
    /// # Errors
    /// `Running` while it is at work, with what the poll said. `Fail` when it failed, or could not
    /// be submitted or asked for; the next call tries again.
    pub async fn run(&self, key: &str, request: J::Request) -> Result<J::Output, HookError> {
        let request = Arc::new(request);
        loop {
            let listen = Listen::default();
            let outcomes = listen.subscribe();
            let call = self
                .lock()
                .call(key, &request, Instant::now(), &self.settings, &listen);
            let (id, outcomes, mine) = match call {
                Call::Collect(output) => return Ok(output),
                Call::Full => return Err(self.full()),
                Call::Join { id, listen, mine } => (id, listen.subscribe(), mine),
                Call::Start { id, step, mine } => {
                    self.spawn(key, id, step, listen);
                    (id, outcomes, mine)
                }
            };
            match (step::outcome(outcomes).await?, mine) {
                (Outcome::Done(output), true) => {
                    self.lock().collected(key, id, &self.settings);
                    return Ok(output);
                }
                (Outcome::Running(hook_error) | Outcome::NotAsked(hook_error), true)
                | (Outcome::Failed(hook_error) | Outcome::NotSubmitted(hook_error), true)
                | (Outcome::NotAsked(hook_error), false) => return Err(hook_error),
                (Outcome::Running(earlier), false) => return Err(behind(&earlier)),
                // The earlier job is over, so it is our turn.
                (Outcome::Done(_) | Outcome::Failed(_) | Outcome::NotSubmitted(_), false)
                // Somebody wanted to end what had not begun.
                | (Outcome::NothingThere, _) => {}
            }
        }
    }

    /// Ends the job with this key, for deleting something that is still being created. `None` when
    /// nothing came of it, or it is not known and was not [found](Job::find). `Some` is what had
    /// been made: delete it, and [`forget`](Self::forget) it then. Until that, this gives it again
    /// and again, so that a deletion that fails is tried anew.
    ///
    /// # Errors
    /// `Running` while it is not over. `Fail` when that could not be found out.
    pub async fn cancel(&self, key: &str) -> Result<Option<J::Output>, HookError> {
        loop {
            let listen = Listen::default();
            let outcomes = listen.subscribe();
            let cancel = self
                .lock()
                .cancel(key, Instant::now(), &self.settings, &listen);
            match cancel {
                Cancel::Made(output) => return Ok(Some(output)),
                Cancel::Full => return Err(self.full()),
                // Whatever it does, what it finds out is needed before anything can be ended.
                Cancel::Wait(listen) => {
                    step::outcome(listen.subscribe()).await?;
                }
                Cancel::Start { id, step } => {
                    self.spawn(key, id, step, listen);
                    return match step::outcome(outcomes).await? {
                        Outcome::Done(output) => Ok(Some(output)),
                        Outcome::Failed(_) | Outcome::NothingThere => Ok(None),
                        Outcome::Running(hook_error)
                        | Outcome::NotAsked(hook_error)
                        | Outcome::NotSubmitted(hook_error) => Err(hook_error),
                    };
                }
            }
        }
    }

    /// Forgets the result of the job with this key, for when what it made is gone. A job that is
    /// at work is not forgotten.
    pub fn forget(&self, key: &str) {
        self.lock().forget_results(|job, _| job == key);
    }

    /// Forgets the results that `is_gone` knows, where a key is not at hand.
    pub fn forget_results(&self, is_gone: impl Fn(&J::Output) -> bool) {
        self.lock().forget_results(|_, output| is_gone(output));
    }

    /// How many jobs are at work, as far as is known.
    #[must_use]
    pub fn at_work(&self) -> usize {
        self.lock().at_work()
    }

    /// Waits until nothing is being submitted or polled. Calls that wait for it are done then too,
    /// so a server that waits for its running hooks need not.
    pub async fn idle(&self) {
        self.shared.steps.wait().await;
    }

    fn lock(&self) -> MutexGuard<'_, JobTable<J>> {
        self.shared.lock()
    }

    fn full(&self) -> HookError {
        HookError::running(format!(
            "waits until one of {} jobs is over",
            self.settings.limit
        ))
        .retry_after(Duration::from_secs(10))
    }
}

/// For a call whose job waits for an earlier one.
fn behind(earlier: &HookError) -> HookError {
    let message = format!(
        "waits for an earlier request to be done: {}",
        earlier.message()
    );
    let hook_error = HookError::running(message);
    match earlier.delay() {
        Some(delay) => hook_error.retry_after(delay),
        None => hook_error,
    }
}

impl<J: Job> Shared<J> {
    fn lock(&self) -> MutexGuard<'_, JobTable<J>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<J: Job> Clone for Jobs<J> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            settings: self.settings,
        }
    }
}

impl<J: Job> fmt::Debug for Jobs<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jobs")
            .field("at_work", &self.at_work())
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
