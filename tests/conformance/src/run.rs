//! A run: executes the checks in phases, cleans up after each, and builds the report.
//!
//! # Time limits
//!
//! Every wait has a deadline, whatever the driver does: a call the webhook's timeout (10 s by
//! default), an operation its budget (45 s), the driver's start `--wait` (30 s), the whole run its
//! budget (10 min). Once an operation used up its budget and none of that webhook ever ended, the
//! checks that wait for one are skipped at their next call, and operations of other webhooks get a
//! ninth of the time; the same for webhooks that never responded ([`patience`]). The final cleanup adds 60 s at most, and the final observation 30 s at most. So
//! with default settings:
//!
//! | the driver | the run ends after |
//! |---|---|
//! | never responds, or never with HTTP | 30 s |
//! | stops in the middle of the run | 3 s, or 10 s if it accepts connections but does not respond |
//! | responds to `healthz` only | less than a minute: five checks in a row without a response |
//! | has an operation that never ends, or that never responds | less than a minute |

mod calls;
mod cleanup;
mod patience;
pub(crate) mod reachable;
mod results;
mod silence;

use crate::check::{Check, Concurrency, Feature, Group, Level};
use crate::checks;
use crate::driver::Driver;
use crate::exchange::Exchange;
use crate::fixture::Fixture;
use crate::fixture::placeholders::DriverAddress;
use crate::lab::{Lab, LoadBalancer};
use crate::ledger::Ledger;
use crate::numbers::Numbers;
use crate::observer::{Observer, ObserverError};
use crate::outcome::{CheckError, CheckOutcome, Failure};
use crate::progress::Progress;
use crate::record::Record;
use crate::report::{Report, SkipKind};
use crate::selection::{self, Capabilities, Plan};
use crate::settings::Settings;
use crate::sync::lock;
use crate::transport::Transport;
use futures::{FutureExt as _, StreamExt as _};
use patience::Patience;
use results::FinishedCheck;
use silence::Silence;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// The checks of what nearly all others need for their setup. They run first and in this order, so
/// that a failed setup is reported once.
pub(crate) const PREREQUISITES: [&str; 6] =
    ["CLB-01", "GEN-01", "GEN-02", "ENS-01", "DRG-01", "DLB-01"];

/// The default timeout of a call, as controllers have it (b10).
const TIMEOUT: Duration = Duration::from_secs(10);

/// The state that all checks of a run share.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) transport: Transport,
    pub(crate) driver: Driver,
    pub(crate) fixture: Fixture,
    pub(crate) features: BTreeSet<Feature>,
    pub(crate) settings: Settings,
    pub(crate) observer: Option<Observer>,
    pub(crate) record: Record,
    pub(crate) ledger: Ledger,
    pub(crate) numbers: Numbers,
    /// Part of the names of all resources of the run.
    pub(crate) id: String,
    pub(crate) progress: Box<dyn Progress>,
    deadline: Instant,
    /// Whether the finished prerequisites passed.
    prerequisites: Mutex<BTreeMap<&'static str, bool>>,
    shared: Mutex<Option<LoadBalancer>>,
    /// Whether the cloud fails on request of a check.
    pub(crate) fault_is_on: AtomicBool,
    retry_ids: Mutex<fastrand::Rng>,
    finished: Mutex<Vec<FinishedCheck>>,
    /// Set when the run is to end early.
    stopped: Mutex<Option<StopReason>>,
    silence: Mutex<Silence>,
    patience: Mutex<Patience>,
    /// What could not be observed, and why: once for each check.
    observer_failures: Mutex<BTreeMap<&'static str, String>>,
    /// Set when running checks are to be cancelled.
    cancelled: tokio::sync::watch::Sender<bool>,
}

/// Why a run ends early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// The driver no longer responds.
    DriverGone {
        problem: String,
        /// The check that detected it.
        after: &'static str,
    },
    /// This number of checks in a row got no response, although the driver responds to `healthz`.
    Silent(usize),
    /// The budget of the run is exhausted.
    TimeIsUp(Duration),
    /// This check failed with `--fail-fast`.
    FailFast(&'static str),
    Interrupted,
}

impl StopReason {
    /// The reason for checks that did not run.
    fn reason(&self) -> String {
        match self {
            Self::DriverGone { problem, .. } => {
                format!("the driver no longer responds: {problem}")
            }
            Self::Silent(checks) => format!(
                "the driver responds in time to healthz only: {checks} checks in a row got no response"
            ),
            Self::TimeIsUp(budget) => format!("the time for the whole run is up ({budget:?})"),
            Self::FailFast(id) => format!("{id} failed (--fail-fast)"),
            Self::Interrupted => "the run was interrupted".to_owned(),
        }
    }

    /// The reason, if the driver can no longer be reached.
    fn unreachable(&self) -> Option<String> {
        match self {
            Self::DriverGone { problem, .. } => Some(problem.clone()),
            Self::Silent(_) => Some(self.reason()),
            Self::TimeIsUp(_) | Self::FailFast(_) | Self::Interrupted => None,
        }
    }

    /// Whether a check runs anyway: bad input must not end a driver, and the check of that rule has
    /// to report when it did.
    fn spares(&self, check: &Check) -> bool {
        let by_bad_input =
            matches!(self, Self::DriverGone { after, .. } if after.starts_with(Group::Bad.id()));
        by_bad_input && check.group == Group::Bad && check.level == Level::Must
    }
}

pub(crate) struct RunConfig {
    pub(crate) transport: Transport,
    pub(crate) driver: Driver,
    pub(crate) fixture: Fixture,
    pub(crate) settings: Settings,
    pub(crate) observer: Option<Observer>,
    pub(crate) progress: Box<dyn Progress>,
}

impl Run {
    pub(crate) fn new(config: RunConfig) -> Self {
        let RunConfig {
            transport,
            driver,
            mut fixture,
            settings,
            observer,
            progress,
        } = config;
        if let Some(budget) = settings.async_budget {
            fixture.budgets.asynchronous = budget;
        }
        if let Some(budget) = settings.total_budget {
            fixture.budgets.total = budget;
        }
        let numbers = Numbers::new(
            fixture.numbers.clone(),
            settings.seed,
            checks::all().count(),
            is_on_this_machine(&transport),
        );
        let retry_ids = fastrand::Rng::with_seed(mixed(settings.seed, "retryIDs"));
        Self {
            id: format!("{:04x}", mixed(settings.seed, "run") & 0xffff),
            deadline: Instant::now() + fixture.budgets.total,
            features: selection::features(&fixture),
            transport,
            driver,
            fixture,
            settings,
            observer,
            progress,
            record: Record::default(),
            ledger: Ledger::default(),
            numbers,
            prerequisites: Mutex::default(),
            shared: Mutex::default(),
            fault_is_on: AtomicBool::new(false),
            retry_ids: Mutex::new(retry_ids),
            finished: Mutex::default(),
            stopped: Mutex::default(),
            silence: Mutex::default(),
            patience: Mutex::default(),
            observer_failures: Mutex::default(),
            cancelled: tokio::sync::watch::Sender::new(false),
        }
    }

    /// The random numbers of a check, which the seed determines.
    pub(crate) fn random(&self, check: &str) -> fastrand::Rng {
        fastrand::Rng::with_seed(mixed(self.settings.seed, check))
    }

    /// The timeout of a webhook's calls.
    pub(crate) fn timeout(&self, webhook: &str) -> Duration {
        let endpoint = &self.fixture.endpoint;
        endpoint
            .timeouts
            .get(webhook)
            .copied()
            .or(self.settings.timeout)
            .or(endpoint.timeout)
            .unwrap_or(TIMEOUT)
    }

    /// Requires that a prerequisite did not fail.
    ///
    /// # Errors
    /// [`CheckError::Blocked`], when it failed.
    pub(crate) fn require(&self, id: &'static str) -> Result<(), CheckError> {
        if lock(&self.prerequisites).get(id) != Some(&false) {
            return Ok(());
        }
        let failure = Failure::new(format!("{id} to pass"), "it did not pass");
        Err(CheckError::from(failure).blocked_by(id))
    }

    /// The load balancer that checks share, if it exists already.
    pub(crate) fn shared_load_balancer(&self) -> Option<LoadBalancer> {
        lock(&self.shared).clone()
    }

    /// Shares a load balancer with later checks.
    pub(crate) fn share(&self, load_balancer: &LoadBalancer) {
        *lock(&self.shared) = Some(load_balancer.clone());
    }

    /// The check that covers the operations of a webhook, which others stand on.
    pub(crate) fn basis(&self, webhook: &str) -> &'static str {
        match webhook {
            "ensureLoadBalancer" => "ELB-01",
            "deleteLoadBalancer" => "DLB-01",
            "generateBackendAddr" if self.features.contains(&Feature::PodBackends) => "GEN-01",
            "generateBackendAddr" => "GEN-02",
            "ensureBackend" => "ENS-01",
            "deregisterBackend" => "DRG-01",
            "listBackends" => "LST-01",
            _ => "CLB-01",
        }
    }

    /// Notes that an operation ended.
    pub(crate) fn operation_ended(&self, webhook: &'static str) {
        lock(&self.patience).ended(webhook);
    }

    /// Notes that an operation used up its budget.
    pub(crate) fn operation_given_up(&self, webhook: &'static str) {
        lock(&self.patience).gave_up(webhook);
    }

    /// Whether an operation of this webhook used up its budget, and none ever ended.
    pub(crate) fn never_ends(&self, webhook: &str) -> bool {
        lock(&self.patience).never_ends(webhook)
    }

    /// Whether calls of this webhook never got a response.
    pub(crate) fn is_silent(&self, webhook: &str) -> bool {
        lock(&self.patience).is_silent(webhook)
    }

    /// The time that an operation may take.
    pub(crate) fn operation_budget(&self) -> Duration {
        lock(&self.patience).budget(self.fixture.budgets.asynchronous)
    }

    /// Notes that a check could not observe the cloud.
    pub(crate) fn observer_failed(&self, check: &'static str, error: &ObserverError) {
        let mut failures = lock(&self.observer_failures);
        failures.entry(check).or_insert_with(|| error.to_string());
    }

    fn observer_failures(&self) -> Vec<String> {
        let failures = lock(&self.observer_failures);
        let line = |(check, problem): (&&str, &String)| format!("{check}: {problem}");
        failures.iter().map(line).collect()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            observer: self.observer.is_some(),
            modifying: self.observer.as_ref().is_some_and(Observer::can_modify),
            exec: self.driver.is_ours(),
        }
    }

    fn stop_reason(&self) -> Option<StopReason> {
        let mut stopped = lock(&self.stopped);
        if stopped.is_none() && Instant::now() >= self.deadline {
            *stopped = Some(StopReason::TimeIsUp(self.fixture.budgets.total));
        }
        stopped.clone()
    }

    fn stop(&self, reason: StopReason) {
        let is_silent = matches!(reason, StopReason::Silent(_));
        lock(&self.stopped).get_or_insert(reason);
        if is_silent {
            // The running checks would only wait for one timeout after the other.
            self.cancelled.send_replace(true);
        }
    }

    /// Stops the run when too many checks in a row got no response.
    fn watch_silence(&self, exchange: &Exchange) {
        let mut silence = lock(&self.silence);
        silence.note(exchange);
        let checks = silence.checks();
        drop(silence);
        if checks >= silence::TOO_MANY {
            self.stop(StopReason::Silent(checks));
        }
    }

    /// Resolves when running checks are to be cancelled.
    async fn cancelled(&self) {
        let mut cancelled = self.cancelled.subscribe();
        if cancelled.wait_for(|cancelled| *cancelled).await.is_err() {
            // Unreachable: the sender lives as long as the run.
            std::future::pending::<()>().await;
        }
    }
}

/// Runs all checks, until `interrupted` resolves.
///
/// # Errors
/// When the observer does not work, before any check runs.
pub(crate) async fn run(
    run: Arc<Run>,
    interrupted: impl Future<Output = ()>,
) -> Result<Report, crate::observer::ObserverError> {
    let began = Instant::now();
    let started = k8s_openapi::jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string();
    let before = match &run.observer {
        Some(observer) => Some(observer.observe().await?),
        None => None,
    };
    let (planned, skipped) = planned(&run);
    lock(&run.finished).extend(skipped);
    let phases = async {
        for (concurrency, checks) in phases(planned.clone(), run.settings.jobs) {
            futures::stream::iter(checks)
                .for_each_concurrent(concurrency.max(1), |planned| execute(&run, planned))
                .await;
        }
    };
    tokio::select! {
        () = phases => {}
        () = interrupted => run.stop(StopReason::Interrupted),
    }
    // The checks that were running when the run was interrupted.
    for planned in planned {
        let is_same = |finished: &FinishedCheck| finished.check.id == planned.check.id;
        let mut finished = lock(&run.finished);
        if !finished.iter().any(is_same) {
            let reason = StopReason::Interrupted.reason();
            finished.push(FinishedCheck::skipped(
                planned.check,
                SkipKind::BrokenOff,
                reason,
            ));
        }
    }
    if run.fault_is_on.load(Ordering::Relaxed)
        && let Some(check) = checks::by_id("RTRY-05")
    {
        // The check was cancelled: cleaning up fails until the cloud works again.
        let _ = Lab::new(run.clone(), check, 0).fault(false).await;
    }
    if run.settings.cleanup {
        cleanup::everything(&run).await;
    }
    let left_behind = cleanup::left_behind(&run, before.as_ref()).await;
    let finished = std::mem::take(&mut *lock(&run.finished));
    let took = began.elapsed();
    Ok(results::report(&run, finished, left_behind, started, took))
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct PlannedCheck {
    check: &'static Check,
    index: u8,
    response_only: bool,
}

/// The checks that run, and those that are skipped.
fn planned(run: &Run) -> (Vec<PlannedCheck>, Vec<FinishedCheck>) {
    let mut planned = Vec::new();
    let mut skipped = Vec::new();
    let capabilities = run.capabilities();
    for (index, check) in checks::all().enumerate() {
        let (settings, fixture) = (&run.settings, &run.fixture);
        let plan = selection::plan(check, settings, fixture, &run.features, capabilities);
        match plan {
            Plan::Skip(kind, reason) => skipped.push(FinishedCheck::skipped(check, kind, reason)),
            Plan::Run | Plan::RunOnResponses => planned.push(PlannedCheck {
                check,
                index: u8::try_from(index).unwrap_or(u8::MAX),
                response_only: plan == Plan::RunOnResponses,
            }),
        }
    }
    (planned, skipped)
}

/// The checks of each phase, and how many of them run at a time: first the prerequisites, then the
/// other concurrency classes.
fn phases(planned: Vec<PlannedCheck>, jobs: usize) -> Vec<(usize, Vec<PlannedCheck>)> {
    let (mut first, others): (Vec<_>, Vec<_>) = planned
        .into_iter()
        .partition(|planned| PREREQUISITES.contains(&planned.check.id));
    first.sort_by_key(|planned| PREREQUISITES.iter().position(|id| *id == planned.check.id));
    let mut phases = vec![(1, first)];
    for (concurrency, jobs) in [
        (Concurrency::Parallel, jobs),
        (Concurrency::Counting, 1),
        (Concurrency::Exclusive, 1),
        (Concurrency::Last, 1),
    ] {
        let of_class = |planned: &&PlannedCheck| planned.check.concurrency == concurrency;
        phases.push((jobs, others.iter().filter(of_class).copied().collect()));
    }
    phases
}

/// Runs one check and cleans up after it.
async fn execute(run: &Arc<Run>, planned: PlannedCheck) {
    let PlannedCheck {
        check,
        index,
        response_only,
    } = planned;
    if let Some(stopped) = run.stop_reason().filter(|reason| !reason.spares(check)) {
        let skipped = FinishedCheck::skipped(check, SkipKind::BrokenOff, stopped.reason());
        lock(&run.finished).push(skipped);
        return;
    }
    run.progress.started(check.id);
    let began = Instant::now();
    let lab = Lab::new(run.clone(), check, index);
    let left = run.deadline.saturating_duration_since(began);
    // A panic in one check must not end the others.
    let code = AssertUnwindSafe((check.code)(&lab)).catch_unwind();
    let ended: Result<CheckOutcome, String> = tokio::select! {
        biased;
        ended = tokio::time::timeout(left, code) => match ended {
            Ok(ended) => ended.map_err(|_| "a bug in the kit ended this check".to_owned()),
            Err(_) => {
                run.stop(StopReason::TimeIsUp(run.fixture.budgets.total));
                let failure = Failure::new(
                    "the check to end within the time for the whole run",
                    format!("it was still running after {:?}", began.elapsed()),
                );
                Ok(Err(failure.into()))
            }
        },
        () = run.cancelled() => {
            Err(run.stop_reason().map(|reason| reason.reason()).unwrap_or_default())
        }
    };
    let mut outcome = match ended {
        Ok(outcome) => outcome,
        Err(reason) => {
            let skipped = FinishedCheck::skipped(check, SkipKind::BrokenOff, reason);
            run.progress.finished(&results::result(run, &skipped));
            lock(&run.finished).push(skipped);
            return;
        }
    };
    if PREREQUISITES.contains(&check.id) {
        lock(&run.prerequisites).insert(check.id, outcome.is_ok());
    }
    if run.settings.cleanup {
        cleanup::after(run, check.id).await;
    }
    reachable::add_process_exit(run, check.id, &mut outcome).await;
    if matches!(outcome, Err(CheckError::Failed(_))) {
        if run.settings.fail_fast {
            run.stop(StopReason::FailFast(check.id));
        }
        reachable::after_failure(run, check.id).await;
    }
    let finished = FinishedCheck {
        check,
        completion: results::Completion::Ran(outcome),
        notes: lab.notes(),
        response_only,
        took: began.elapsed(),
    };
    run.progress.finished(&results::result(run, &finished));
    lock(&run.finished).push(finished);
}

/// Whether the driver is in this process, or at a loopback address.
fn is_on_this_machine(transport: &Transport) -> bool {
    let Some(address) = DriverAddress::of(&transport.url_of("")) else {
        return false;
    };
    address.is_loopback() || address.fill("{host}") == "in-process"
}

fn mixed(seed: u64, text: &str) -> u64 {
    // FNV-1a: a seed has to give the same calls on every machine and with every version of Rust.
    let bytes = seed.to_le_bytes().into_iter().chain(text.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests;
