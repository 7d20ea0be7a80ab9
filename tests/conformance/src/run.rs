//! The state that all checks of a run share: the driver, the record of its exchanges, what the kit
//! created, and why the run ends early.

mod patience;
pub(crate) mod reachable;
mod strangers;

use crate::call::{DriverReply, LoadBalancer, Status, WebhookCall};
use crate::classification::Feature;
use crate::driver::Driver;
use crate::exchange::{Exchange, NoResponse, Received, RequestKind, Sent};
use crate::fixture::Fixture;
use crate::fixture::placeholders::DriverAddress;
use crate::ledger::Ledger;
use crate::numbers::Numbers;
use crate::observer::{Observer, ObserverError};
use crate::outcome::{CheckError, CheckOutcome, Failure};
use crate::progress::Progress;
use crate::record::Record;
use crate::settings::Settings;
use crate::sync::lock;
use crate::transport::{Request, Transport};
use patience::Patience;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use strangers::Strangers;
use tokio::sync::SetOnce;
use tokio::time::Instant;

/// The owner of the resources that the run's own calls create.
const RUN: &str = "the run";

/// The default timeout of a call, as controllers have it.
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
    pub(crate) progress: Arc<dyn Progress>,
    pub(crate) deadline: Instant,
    /// The finished prerequisites; true for those that passed.
    prerequisites: Mutex<BTreeMap<&'static str, bool>>,
    shared: Mutex<Option<LoadBalancer>>,
    /// True if the cloud fails on request of a check.
    pub(crate) fault_is_on: AtomicBool,
    /// True once an operation was `Running`.
    pub(crate) was_running: AtomicBool,
    retry_ids: Mutex<fastrand::Rng>,
    /// Set when the run is to end early.
    stopped: Mutex<Option<StopReason>>,
    patience: Mutex<Patience>,
    strangers: Mutex<Strangers>,
    /// The failed observations with their reasons: once for each check.
    observer_failures: Mutex<BTreeMap<&'static str, String>>,
    /// Set when running checks are to be cancelled.
    pub(crate) cancelled: SetOnce<()>,
    began: Instant,
    /// When the run ends, once nothing could be created.
    pub(crate) hopeless_at: SetOnce<Instant>,
}

/// The purpose of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Purpose {
    /// `None` for the run's own calls.
    pub(crate) check: Option<&'static str>,
    pub(crate) webhook: &'static str,
    pub(crate) kind: RequestKind,
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
    /// Nothing could be created, and the driver is too slow to be tried in each check.
    Hopeless,
}

impl StopReason {
    /// The reason for checks that did not run.
    pub(crate) fn reason(&self) -> String {
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
            Self::Hopeless => {
                "no load balancer could be created (CLB-01), and the calls take long".to_owned()
            }
        }
    }

    /// The reason, if the driver can no longer be reached.
    pub(crate) fn unreachable(&self) -> Option<String> {
        match self {
            Self::DriverGone { problem, .. } => Some(problem.clone()),
            Self::Silent(_) => Some(self.reason()),
            Self::TimeIsUp(_) | Self::FailFast(_) | Self::Interrupted | Self::Hopeless => None,
        }
    }
}

/// The equipment of a run.
#[derive(Debug)]
pub(crate) struct RunConfig {
    pub(crate) transport: Transport,
    pub(crate) driver: Driver,
    pub(crate) fixture: Fixture,
    pub(crate) settings: Settings,
    pub(crate) observer: Option<Observer>,
    pub(crate) progress: Arc<dyn Progress>,
}

impl Run {
    /// For `checks` checks, of which each has its own numbers.
    pub(crate) fn new(config: RunConfig, features: BTreeSet<Feature>, checks: usize) -> Self {
        let settings = config.settings;
        let mut fixture = config.fixture;
        let budgets = &mut fixture.budgets;
        budgets.asynchronous = settings.async_budget.unwrap_or(budgets.asynchronous);
        budgets.total = settings.total_budget.unwrap_or(budgets.total);
        let is_local = is_on_this_machine(&config.transport);
        let numbers = Numbers::new(fixture.numbers.clone(), settings.seed, checks, is_local);
        let retry_ids = fastrand::Rng::with_seed(mixed(settings.seed, "retryIDs"));
        Self {
            id: format!("{:04x}", mixed(settings.seed, "run") & 0xffff),
            began: Instant::now(),
            deadline: Instant::now() + fixture.budgets.total,
            hopeless_at: SetOnce::new(),
            features,
            transport: config.transport,
            driver: config.driver,
            fixture,
            settings,
            observer: config.observer,
            progress: config.progress,
            record: Record::default(),
            ledger: Ledger::default(),
            numbers,
            prerequisites: Mutex::default(),
            shared: Mutex::default(),
            fault_is_on: AtomicBool::new(false),
            was_running: AtomicBool::new(false),
            retry_ids: Mutex::new(retry_ids),
            stopped: Mutex::default(),
            patience: Mutex::default(),
            strangers: Mutex::default(),
            observer_failures: Mutex::default(),
            cancelled: SetOnce::new(),
        }
    }

    /// The random numbers of a check, which the seed determines.
    pub(crate) fn random(&self, check: &str) -> fastrand::Rng {
        fastrand::Rng::with_seed(mixed(self.settings.seed, check))
    }

    /// The timeout of a webhook's calls.
    pub(crate) fn timeout(&self, webhook: &str) -> Duration {
        let timeouts = &self.fixture.endpoint.timeouts;
        let own = timeouts.get(webhook).copied().or(self.settings.timeout);
        own.or(timeouts.get("default").copied()).unwrap_or(TIMEOUT)
    }

    /// Requires that a prerequisite did not fail.
    ///
    /// # Errors
    /// [`CheckError::Blocked`], when it failed.
    pub(crate) fn require(&self, id: &'static str) -> CheckOutcome {
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

    /// The history of webhooks, some of which are hopeless.
    pub(crate) fn patience(&self) -> MutexGuard<'_, Patience> {
        lock(&self.patience)
    }

    /// Others who use the same cloud.
    pub(crate) fn strangers(&self) -> MutexGuard<'_, Strangers> {
        lock(&self.strangers)
    }

    /// The time that an operation may take.
    pub(crate) fn operation_budget(&self) -> Duration {
        self.patience().budget(self.fixture.budgets.asynchronous)
    }

    /// Notes that a check could not observe the cloud.
    pub(crate) fn observer_failed(&self, check: &'static str, error: &ObserverError) {
        let mut failures = lock(&self.observer_failures);
        failures.entry(check).or_insert_with(|| error.to_string());
    }

    pub(crate) fn observer_failures(&self) -> Vec<String> {
        let failures = lock(&self.observer_failures);
        let line = |(check, problem): (&&str, &String)| format!("{check}: {problem}");
        failures.iter().map(line).collect()
    }

    /// Why the run ended early, whatever the time.
    pub(crate) fn stopped(&self) -> Option<StopReason> {
        lock(&self.stopped).clone()
    }

    /// Why the run is to end early; sets it when the time is up.
    pub(crate) fn stop_reason(&self) -> Option<StopReason> {
        let mut stopped = lock(&self.stopped);
        if stopped.is_none() && Instant::now() >= self.deadline {
            *stopped = Some(StopReason::TimeIsUp(self.fixture.budgets.total));
        }
        stopped.clone()
    }

    pub(crate) fn stop(&self, reason: StopReason) {
        let is_silent = matches!(reason, StopReason::Silent(_));
        lock(&self.stopped).get_or_insert(reason);
        if is_silent {
            // The running checks would only wait for one timeout after the other.
            let _ = self.cancelled.set(());
        }
    }

    /// Notes whether a check passed that others require.
    pub(crate) fn prerequisite_ended(&self, id: &'static str, passed: bool) {
        lock(&self.prerequisites).insert(id, passed);
    }

    /// The ids of the finished prerequisites that did not pass.
    pub(crate) fn failed_prerequisites(&self) -> Vec<&'static str> {
        let prerequisites = lock(&self.prerequisites);
        let failed = prerequisites.iter().filter(|(_, passed)| !**passed);
        failed.map(|(id, _)| *id).collect()
    }

    /// Limits the rest of a run that can create nothing.
    pub(crate) fn begin_to_hurry(&self) {
        let end = (self.began + patience::HOPELESS).max(Instant::now() + patience::REST);
        let _ = self.hopeless_at.set(end);
    }

    /// Resolves when a run that can create nothing has taken too long.
    pub(crate) async fn hopeless(&self) {
        tokio::time::sleep_until(*self.hopeless_at.wait().await).await;
    }

    /// A retryID for one of the run's own calls, which the seed determines.
    pub(crate) fn retry_id(&self) -> String {
        let id = lock(&self.retry_ids).u128(..);
        let id = uuid::Builder::from_random_bytes(id.to_le_bytes());
        id.into_uuid().to_string()
    }

    /// Makes a call of the run, or of a check.
    pub(crate) async fn call(
        &self,
        check: Option<&'static str>,
        call: &WebhookCall,
        request: &Request,
        timeout: Duration,
    ) -> DriverReply {
        self.ledger.before(check.unwrap_or(RUN), call);
        let (webhook, kind) = (call.webhook(), call.kind());
        let purpose = Purpose {
            check,
            webhook,
            kind,
        };
        let reply = self.send(purpose, request, timeout).await;
        self.ledger.after(call, &reply);
        // A pod that has no IP yet is no long operation.
        if reply.status() == Some(Status::Running) && webhook != "generateBackendAddr" {
            self.was_running.store(true, Ordering::Relaxed);
        }
        if webhook == "deleteLoadBalancer" && call.string_map("lbInfo").is_empty() {
            self.strangers().delete_unnamed();
        }
        if webhook == "createLoadBalancer" && reply.status() == Some(Status::Succ) {
            let lb_info = reply.identity(&call.string_map("lbSpec"));
            self.strangers().name(&lb_info);
        }
        reply
    }

    /// Sends a request and records the exchange.
    pub(crate) async fn send(
        &self,
        purpose: Purpose,
        request: &Request,
        timeout: Duration,
    ) -> DriverReply {
        let timeout = self.patience().timeout(purpose.webhook, timeout);
        let began = Instant::now();
        let outcome = self.transport.send(request, timeout).await;
        self.recorded(purpose, request, began.elapsed(), outcome)
    }

    /// Records the outcome of a request. Stops the run when too many checks in a row got no response.
    pub(crate) fn recorded(
        &self,
        purpose: Purpose,
        request: &Request,
        took: Duration,
        outcome: Result<Received, NoResponse>,
    ) -> DriverReply {
        let sent = Sent {
            method: request.method.clone(),
            url: self.transport.url_of(&request.path),
            headers: self.transport.shown_headers(request),
            body: request.body.clone(),
        };
        let exchange = self.record.add(Exchange {
            sequence: 0,
            check: purpose.check,
            webhook: Some(purpose.webhook),
            kind: purpose.kind,
            sent,
            outcome,
            took,
        });
        let silent_checks = self.patience().note(&exchange);
        if silent_checks >= patience::TOO_MANY {
            self.stop(StopReason::Silent(silent_checks));
        }
        DriverReply::new(exchange)
    }
}

/// True if the driver is in this process, or at a loopback address.
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
