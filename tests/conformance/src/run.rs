//! A run: the checks one after the other or side by side, what is cleaned up after each, and what
//! it all comes to.
//!
//! # How long it may take, whatever the driver does
//!
//! Everything that is waited for has a deadline: a call the webhook's timeout (10 s by default), an
//! operation the budget for it (120 s), the driver's start `--wait` (30 s), all of it together the
//! budget for the run (10 min). What may come on top of that is the last cleaning up, 60 s at most,
//! and a last look by the observer, 30 s at most. So with default settings:
//!
//! | a driver that | ends the run after |
//! |---|---|
//! | never answers, or never with HTTP | 30 s |
//! | is gone in the middle | 3 s, and 10 s where it takes connections and says nothing |
//! | answers `healthz` and nothing else | less than a minute: five checks in a row without an answer |
//! | answers `Running` for ever | 11.5 min at most |

mod calls;
mod cleanup;
mod lanes;
pub(crate) mod reachable;
mod results;
mod silence;

use crate::check::{Check, Company, Feature, Group, Level};
use crate::checks;
use crate::driver::Driver;
use crate::exchange::Exchange;
use crate::fixture::Fixture;
use crate::lab::{Lab, LoadBalancer};
use crate::ledger::Ledger;
use crate::observer::Observer;
use crate::progress::Progress;
use crate::record::Record;
use crate::report::{Report, SkipKind};
use crate::selection::{self, Means, Plan};
use crate::settings::Settings;
use crate::transport::Transport;
use crate::verdict::{Failure, NotPassed, Verdict};
use futures::FutureExt as _;
use results::Judged;
use silence::Silence;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The checks whose subject nearly all others start from, in this order: they are made first, so
/// that what cannot be set up is found out once.
const BASIS: [&str; 6] = ["CLB-01", "GEN-01", "GEN-02", "ENS-01", "DRG-01", "DLB-01"];

/// How long a webhook's call may take, as controllers have it (b10).
const TIMEOUT: Duration = Duration::from_secs(10);

/// What all checks of a run share.
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
    /// What the run's names begin with.
    pub(crate) id: String,
    pub(crate) progress: Box<dyn Progress>,
    /// When the run has to be over.
    deadline: Instant,
    /// How the checks of the basis ended.
    basis: Mutex<BTreeMap<&'static str, bool>>,
    shared: Mutex<Option<LoadBalancer>>,
    /// Whether the cloud was made to fail, and not yet to work again.
    pub(crate) fault_is_on: AtomicBool,
    retry_ids: Mutex<fastrand::Rng>,
    judged: Mutex<Vec<Judged>>,
    /// Set when the run is to end: by whom or why.
    over: Mutex<Option<Over>>,
    /// How long nothing was heard of the driver.
    silence: Mutex<Silence>,
    /// Told when checks that are being made are to be given up.
    given_up: tokio::sync::watch::Sender<bool>,
}

/// Why a run ends before all checks are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Over {
    /// The driver does not answer any more.
    DriverGone {
        /// What comes instead.
        problem: String,
        /// The check that found out.
        after: &'static str,
    },
    /// So many checks in a row heard nothing of the driver, though it answers `healthz`.
    Silent(usize),
    /// The time is up.
    TimeIsUp(Duration),
    /// A check failed, and the first failure ends the run.
    FailFast(&'static str),
    /// Somebody pressed Ctrl-C.
    Interrupted,
}

impl Over {
    /// Why checks that were not made were skipped.
    fn reason(&self) -> String {
        match self {
            Self::DriverGone { problem, .. } => {
                format!("the driver does not answer any more: {problem}")
            }
            Self::Silent(checks) => format!(
                "the driver answers nothing but healthz in time: {checks} checks in a row got no answer"
            ),
            Self::TimeIsUp(budget) => format!("the time for the whole run is up ({budget:?})"),
            Self::FailFast(id) => format!("{id} failed (--fail-fast)"),
            Self::Interrupted => "the run was interrupted".to_owned(),
        }
    }

    /// Why the driver cannot be reached any more, if it is that.
    fn unreachable(&self) -> Option<String> {
        match self {
            Self::DriverGone { problem, .. } => Some(problem.clone()),
            Self::Silent(_) => Some(self.reason()),
            Self::TimeIsUp(_) | Self::FailFast(_) | Self::Interrupted => None,
        }
    }

    /// Whether a check is made all the same: the one that says that bad input must not end a
    /// driver, when bad input did.
    fn spares(&self, check: &Check) -> bool {
        let by_bad_input =
            matches!(self, Self::DriverGone { after, .. } if after.starts_with(Group::Bad.id()));
        by_bad_input && check.group == Group::Bad && check.level == Level::Must
    }
}

/// What a run needs to begin.
pub(crate) struct Begin {
    pub(crate) transport: Transport,
    pub(crate) driver: Driver,
    pub(crate) fixture: Fixture,
    pub(crate) settings: Settings,
    pub(crate) observer: Option<Observer>,
    pub(crate) progress: Box<dyn Progress>,
}

impl Run {
    pub(crate) fn new(begin: Begin) -> Self {
        let Begin {
            transport,
            driver,
            mut fixture,
            settings,
            observer,
            progress,
        } = begin;
        if let Some(budget) = settings.async_budget {
            fixture.budgets.asynchronous = budget;
        }
        if let Some(budget) = settings.total_budget {
            fixture.budgets.total = budget;
        }
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
            basis: Mutex::default(),
            shared: Mutex::default(),
            fault_is_on: AtomicBool::new(false),
            retry_ids: Mutex::new(retry_ids),
            judged: Mutex::default(),
            over: Mutex::default(),
            silence: Mutex::default(),
            given_up: tokio::sync::watch::Sender::new(false),
        }
    }

    /// Random numbers for a check: the same in each run with the same seed.
    pub(crate) fn random(&self, check: &str) -> fastrand::Rng {
        fastrand::Rng::with_seed(mixed(self.settings.seed, check))
    }

    /// How long a webhook's call may take.
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

    /// Whether what a check of the basis is about can be had.
    ///
    /// # Errors
    /// [`NotPassed::Blocked`], when that check was made and did not pass.
    pub(crate) fn is_given(&self, basis: &'static str) -> Result<(), NotPassed> {
        if lock(&self.basis).get(basis) != Some(&false) {
            return Ok(());
        }
        let failure = Failure::new(format!("what {basis} is about"), "it did not pass");
        Err(NotPassed::from(failure).blocked_by(basis))
    }

    /// The load balancer that checks share, if one was made.
    pub(crate) fn shared_load_balancer(&self) -> Option<LoadBalancer> {
        lock(&self.shared).clone()
    }

    /// Has later checks share a load balancer.
    pub(crate) fn share(&self, load_balancer: &LoadBalancer) {
        *lock(&self.shared) = Some(load_balancer.clone());
    }

    fn means(&self) -> Means {
        Means {
            observer: self.observer.is_some(),
            meddling: self.observer.as_ref().is_some_and(Observer::can_meddle),
            exec: self.driver.is_ours(),
        }
    }

    fn is_over(&self) -> Option<Over> {
        let mut over = lock(&self.over);
        if over.is_none() && Instant::now() >= self.deadline {
            *over = Some(Over::TimeIsUp(self.fixture.budgets.total));
        }
        over.clone()
    }

    fn end(&self, why: Over) {
        let is_silent = matches!(why, Over::Silent(_));
        lock(&self.over).get_or_insert(why);
        if is_silent {
            // The checks that are being made would only wait: one timeout after the other.
            self.given_up.send_replace(true);
        }
    }

    /// Notes whether anything was heard of the driver, and ends the run when nothing is for too
    /// long.
    fn heard(&self, exchange: &Exchange) {
        let mut silence = lock(&self.silence);
        silence.note(exchange);
        let checks = silence.checks();
        drop(silence);
        if checks >= silence::TOO_MANY {
            self.end(Over::Silent(checks));
        }
    }

    /// Ends when checks that are being made are to be given up.
    async fn is_given_up(&self) {
        let mut given_up = self.given_up.subscribe();
        if given_up.wait_for(|given_up| *given_up).await.is_err() {
            // The sender lives as long as the run: this does not happen.
            std::future::pending::<()>().await;
        }
    }
}

/// Makes all checks, until told to stop by `interrupted`.
///
/// # Errors
/// What is wrong with the observer, before anything is made.
pub(crate) async fn run(
    run: Arc<Run>,
    interrupted: impl Future<Output = ()>,
) -> Result<Report, crate::observer::ObserverError> {
    let began = Instant::now();
    let started = k8s_openapi::jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string();
    let before = match &run.observer {
        Some(observer) => Some(observer.look().await?),
        None => None,
    };
    let (planned, skipped) = planned(&run);
    lock(&run.judged).extend(skipped);
    let making = async {
        for stage in stages(planned.clone()) {
            let side_by_side = if stage.side_by_side {
                run.settings.jobs
            } else {
                1
            };
            lanes::make_all(&run, stage.checks, side_by_side).await;
        }
    };
    tokio::select! {
        () = making => {}
        () = interrupted => run.end(Over::Interrupted),
    }
    // What was being made when the run was interrupted.
    for planned in planned {
        let is_judged = |judged: &Judged| judged.check.id == planned.check.id;
        let mut judged = lock(&run.judged);
        if !judged.iter().any(is_judged) {
            let reason = Over::Interrupted.reason();
            judged.push(Judged::skipped(planned.check, SkipKind::BrokenOff, reason));
        }
    }
    if run.fault_is_on.load(Ordering::Relaxed)
        && let Some(check) = checks::by_id("RTRY-05")
    {
        // The check was broken off in the middle: nothing can be taken away until the cloud works.
        let _ = Lab::new(run.clone(), check, 0).fault(false).await;
    }
    if run.settings.cleanup {
        cleanup::everything(&run).await;
    }
    let left_behind = cleanup::what_is_left(&run, before.as_ref()).await;
    let times = results::Times {
        started,
        took: began.elapsed(),
    };
    let judged = std::mem::take(&mut *lock(&run.judged));
    Ok(results::report(&run, judged, left_behind, times))
}

/// A check to make.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Planned {
    check: &'static Check,
    place: u8,
    by_answers: bool,
}

/// What is to be made, and what is skipped already.
fn planned(run: &Run) -> (Vec<Planned>, Vec<Judged>) {
    let mut planned = Vec::new();
    let mut skipped = Vec::new();
    let means = run.means();
    for (place, check) in checks::all().enumerate() {
        let plan = selection::plan(check, &run.settings, &run.fixture, &run.features, means);
        match plan {
            Plan::Skip(kind, reason) => skipped.push(Judged::skipped(check, kind, reason)),
            Plan::Make | Plan::MakeByAnswers => planned.push(Planned {
                check,
                place: u8::try_from(place).unwrap_or(u8::MAX),
                by_answers: plan == Plan::MakeByAnswers,
            }),
        }
    }
    (planned, skipped)
}

struct Stage {
    checks: Vec<Planned>,
    side_by_side: bool,
}

/// The basis first, one by one; then those that may be made side by side; then the counting ones
/// and those that are made alone.
fn stages(planned: Vec<Planned>) -> Vec<Stage> {
    let (mut basis, others): (Vec<_>, Vec<_>) = planned
        .into_iter()
        .partition(|planned| BASIS.contains(&planned.check.id));
    basis.sort_by_key(|planned| BASIS.iter().position(|id| *id == planned.check.id));
    let of = |company: Company| -> Vec<Planned> {
        others
            .iter()
            .filter(|planned| planned.check.company == company)
            .copied()
            .collect()
    };
    let stage = |checks, side_by_side| Stage {
        checks,
        side_by_side,
    };
    vec![
        stage(basis, false),
        stage(of(Company::Any), true),
        stage(of(Company::Counts), false),
        stage(of(Company::Alone), false),
        stage(of(Company::Last), false),
    ]
}

/// Makes one check and cleans up behind it.
async fn make(run: &Arc<Run>, planned: Planned) {
    let Planned {
        check,
        place,
        by_answers,
    } = planned;
    if let Some(over) = run.is_over().filter(|over| !over.spares(check)) {
        let skipped = Judged::skipped(check, SkipKind::BrokenOff, over.reason());
        lock(&run.judged).push(skipped);
        return;
    }
    run.progress.started(check.id);
    let began = Instant::now();
    let lab = Lab::new(run.clone(), check, place);
    let left = run.deadline.saturating_duration_since(began);
    // A mistake in one check must not end the others.
    let code = AssertUnwindSafe((check.code)(&lab)).catch_unwind();
    let made: Result<Verdict, String> = tokio::select! {
        biased;
        made = tokio::time::timeout(left, code) => match made {
            Ok(made) => made.map_err(|_| "a mistake in the kit ended this check".to_owned()),
            Err(_) => {
                run.end(Over::TimeIsUp(run.fixture.budgets.total));
                let failure = Failure::new(
                    "the check done within the time for the whole run",
                    format!("it was still going on after {:?}", began.elapsed()),
                );
                Ok(Err(failure.into()))
            }
        },
        () = run.is_given_up() => {
            Err(run.is_over().map(|over| over.reason()).unwrap_or_default())
        }
    };
    let mut verdict = match made {
        Ok(verdict) => verdict,
        Err(reason) => {
            let skipped = Judged::skipped(check, SkipKind::BrokenOff, reason);
            run.progress.finished(&results::result(run, &skipped));
            lock(&run.judged).push(skipped);
            return;
        }
    };
    if BASIS.contains(&check.id) {
        lock(&run.basis).insert(check.id, verdict.is_ok());
    }
    if run.settings.cleanup {
        cleanup::after(run, check.id).await;
    }
    reachable::told_if_ended(run, check.id, &mut verdict).await;
    if matches!(verdict, Err(NotPassed::Failed(_))) {
        if run.settings.fail_fast {
            run.end(Over::FailFast(check.id));
        }
        reachable::after_failure(run, check.id).await;
    }
    let judged = Judged {
        check,
        outcome: results::Outcome::Made(verdict),
        notes: lab.notes(),
        by_answers,
        took: began.elapsed(),
    };
    run.progress.finished(&results::result(run, &judged));
    lock(&run.judged).push(judged);
}

fn mixed(seed: u64, text: &str) -> u64 {
    // FNV-1a: the same on every machine and with every version of Rust, which is what a seed is for.
    let bytes = seed.to_le_bytes().into_iter().chain(text.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
